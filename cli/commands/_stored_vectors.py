"""Stored vectors as a command line names them: by operation, by OPERATION.NAME, or by the id of a case."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.cli.errors import UsageError
from npu_conformance.specs.suggestions import did_you_mean

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Vector

_AREAS = ("vts.generated.", "cts.vectors.")
"""The areas whose cases are stored vectors."""
_LISTED = 10


def is_stored(case: str) -> bool:
    """True for the id of a case that is a stored vector."""
    return case.startswith(_AREAS)


def operations(asked: list[str], known: Iterable[str]) -> list[str]:
    """The operations that are asked for, all where none is. Raises UsageError for one without vectors."""
    available = list(known)
    for operation in asked:
        if operation not in available:
            near = did_you_mean(operation.upper(), available) or _some_of(available)
            raise UsageError(f"no vectors of {operation!r}{near}")
    return asked or available


def _some_of(available: list[str]) -> str:
    """What there is, as far as one reads it."""
    left = len(available) - _LISTED
    return f"; there are {' '.join(available[:_LISTED])}{f' and {left} more' if left > 0 else ''}"


def named(text: str) -> list[Vector]:
    """The vectors that a word means: all of an operation, or one, in a variation where one stands behind it.

    Raises UsageError where there is none.
    """
    from npu_conformance.corpus import vectors

    plain = next((text.removeprefix(area) for area in _AREAS if text.startswith(area)), text)
    operation, _, name = plain.partition(".")
    operations([operation], (*vectors.operations(), *vectors.registered_operations()))
    if name:
        return [one(operation, name)]
    return [vectors.load(operation, header.name) for header in vectors.headers(operation)]


def one(operation: str, words: str) -> Vector:
    """The vector of a name, or of `name[variation]`. UsageError where there is none."""
    from npu_conformance.corpus import variations, vectors
    from npu_conformance.corpus.variations import allowed

    name, _, variation = words.rstrip("]").partition("[")
    try:
        vector = vectors.load(operation, name)
    except KeyError as error:
        near = did_you_mean(name, (header.name for header in vectors.headers(operation)))
        raise UsageError(f"{error.args[0]}{near}") from None
    if not variation:
        return vector
    known = allowed.applicable(allowed.header_of(vector))
    varied = variations.apply(variation, vector) if variation in known else None
    if varied is None:
        there = f"; there are {' '.join(known)}" if known else ""
        raise UsageError(f"{operation}.{name}: there is no variation {variation!r} of it{there}")
    return replace(varied, name=words)
