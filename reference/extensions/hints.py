"""Compilation and execution hints: the few that this device understands; every other one is ignored.

A hint never decides whether a call succeeds, nor what it computes (NNHAL-PREPARE-019 to -021, NNHAL-EXECUTE-013).
"""

from __future__ import annotations

import functools
import struct
from collections import Counter
from collections.abc import Callable, Sequence

from npu_conformance.reference.extensions import kernels
from npu_conformance.specs.diagnostics import vlog
from npu_conformance.specs.neuralnetworks.enums import BASE_TYPE_MAX, EXTENSION_TYPE_LOW_BITS
from npu_conformance.specs.neuralnetworks.registered_extensions import find
from npu_conformance.specs.neuralnetworks.types import ExtensionNameAndPrefix, TokenValuePair


def take(tag: str, hints: Sequence[TokenValuePair], mapping: Sequence[ExtensionNameAndPrefix]) -> None:
    """Follow the hints that are understood. mapping: of this call. tag: of the log, which says what became of each."""
    counts = Counter(hint.token for hint in hints)
    for hint in hints:
        follow = _understood(hint.token, mapping) if counts[hint.token] == 1 else None
        became = "followed" if follow is not None and follow(hint.value) else "ignored"
        vlog.log(tag, functools.partial("hint {:#x}: {}".format, hint.token, became))


def _understood(token: int, mapping: Sequence[ExtensionNameAndPrefix]) -> Callable[[bytes], bool] | None:
    """The function that follows the hint of a token; None where the device does not have the extension or the hint."""
    prefix, identifier = token >> EXTENSION_TYPE_LOW_BITS, token & BASE_TYPE_MAX
    names = {one.name for one in mapping if prefix and one.prefix == prefix}
    if len(names) != 1 or find(name := names.pop()) is None:
        return None
    return _HINTS.get((name, identifier))


def _expect_count(value: bytes) -> bool:
    """Compute as many numbers beforehand as most executions ask for, an int64; return False for any other value."""
    if len(value) != 8:
        return False
    (count,) = struct.unpack("<q", value)
    if count in kernels.COUNTS:
        kernels.sequence(count)
    return count in kernels.COUNTS


_HINTS: dict[tuple[str, int], Callable[[bytes], bool]] = {("com.npu_conformance.fibonacci", 0): _expect_count}
"""The function that follows each hint, by extension and number; it returns True where the value is valid."""
