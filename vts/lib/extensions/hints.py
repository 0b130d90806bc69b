"""Hints of feature level 8: what is sent as a compilation or an execution hint, and what may come of it.

A hint is (token, value); the token has the prefix of its extension in its high bits, by the mapping of the same call.
Those that a driver cannot know or that are invalid are ignored. Where the call itself breaks a rule (a token twice, a
mapping that is not one to one, a negative token) a driver may ignore the hints or reject the call.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.types import ExtensionNameAndPrefix, TokenValuePair
from npu_conformance.vts.lib.extensions import models

VALID_COUNT = struct.pack("<q", 21)
"""A valid value of hint 0 of the fibonacci extension: how many numbers most executions ask for."""

_HUGE = 1 << 16


@dataclass(frozen=True, slots=True)
class Hints:
    """Hints with the mapping of their call. rejectable: whether a driver may reject the call with INVALID_ARGUMENT."""

    name: str
    hints: tuple[TokenValuePair, ...]
    mapping: models.Mapping
    rejectable: bool = False


def of_every_call(context: CaseContext) -> Iterator[Hints]:
    """Hints that are ignored, each for a reason of its own; those of extensions that the device lists too."""
    unknown = models.mapping(unknown=1)
    yield Hints("mapping_without_hints", (), unknown)
    for size in (0, 1, 8, _HUGE):
        yield Hints(f"unknown_extension.bytes_{size}", (hint(1, 0, b"\x15" * size),), unknown)
    for prefix in (0x4000, 0x7FFF):
        yield Hints(f"unknown_extension.prefix_{prefix}", (hint(prefix, 0xFFFF),), models.mapping(unknown=prefix))
    yield Hints("unknown_extension.like_a_count", (hint(1, 0, VALID_COUNT),), unknown)
    yield Hints("unknown_extension.many", tuple(hint(1, number) for number in range(100)), unknown)
    yield Hints("unmapped", (hint(2, 0, VALID_COUNT),), unknown)
    yield Hints("unmapped.no_mapping", (hint(1, 0),), ())
    yield Hints("prefix_0", (hint(0, 0), hint(0, 5, bytes(4))), ())
    yield from _breaking_rules()
    for place, name in enumerate(sorted(models.listed(context))):
        yield from _of_listed(f"listed_{place}", name)


def _breaking_rules() -> Iterator[Hints]:
    """Calls that a client must not make; what a driver does about them is its own affair."""
    unknown, twice = models.mapping(unknown=1), (hint(1, 0, b"a"), hint(1, 0, b"b"))
    yield Hints("token_twice", twice, unknown, rejectable=True)
    yield Hints("negative_token", (TokenValuePair(-1, b""), TokenValuePair(-(1 << 31), b"")), unknown, rejectable=True)
    doubled = (*unknown, ExtensionNameAndPrefix("com.npu_conformance.in_no_driver_either", 1))
    yield Hints("prefix_twice", (hint(1, 0),), doubled, rejectable=True)
    yield Hints("name_twice", (hint(1, 0),), (*unknown, *models.mapping(unknown=2)), rejectable=True)
    yield Hints("prefix_of_16_bit", (), models.mapping(unknown=0x8001), rejectable=True)


def _of_listed(label: str, name: str) -> Iterator[Hints]:
    """Hints of an extension that the device has: it cannot have all of these, nor may it fail for any."""
    mapping = (ExtensionNameAndPrefix(name, 3),)
    for number in (0, 1, 0xFFFF):
        for size in (0, 3):
            yield Hints(f"{label}.hint_{number}.bytes_{size}", (hint(3, number, b"\xff" * size),), mapping)


def of_fibonacci() -> Iterator[Hints]:
    """Valid and invalid values of the one hint of the fibonacci extension."""
    mapping = models.mapping(fibonacci=3)
    values = {"valid": 21, "lowest": 1, "highest": 79, "zero": 0, "negative": -1, "too_high": 80, "huge": (1 << 63) - 1}
    for name, count in values.items():
        yield Hints(f"count_{name}", (hint(3, 0, struct.pack("<q", count)),), mapping)
    yield Hints("count_of_7_bytes", (hint(3, 0, VALID_COUNT[:7]),), mapping)
    yield Hints("count_of_9_bytes", (hint(3, 0, VALID_COUNT + b"\0"),), mapping)
    yield Hints("count_among_others", (hint(9, 0, b"?"), hint(3, 0, VALID_COUNT), hint(3, 7)), mapping)
    yield Hints("count_twice", (hint(3, 0, VALID_COUNT), hint(3, 0, bytes(8))), mapping, rejectable=True)


def hint(prefix: int, number: int, value: bytes = b"") -> TokenValuePair:
    """A hint of the extension with this prefix."""
    return TokenValuePair(models.code(prefix, number), value)
