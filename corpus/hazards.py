"""The hazards of hazards.json: where drivers go wrong, by the name that generators give the vectors that look there."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Protocol

from msgspec import Meta

from npu_conformance.specs import documents
from npu_conformance.specs.documents import Document, DocumentError
from npu_conformance.specs.suggestions import did_you_mean

FILE = Path(__file__).parent / "hazards.json"

Name = Annotated[str, Meta(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$(?!\n)")]
Text = Annotated[str, Meta(min_length=1, max_length=200)]


class HasHazards(Protocol):
    """What has names of hazards, and of types: the header of a vector, or the case made of it."""

    @property
    def hazards(self) -> tuple[str, ...]:
        """Names of hazards."""

    @property
    def types(self) -> tuple[str, ...]:
        """Names of types of operands."""


class Hazard(Document, frozen=True):
    """One hazard: a sentence, the file and section of AOSP that it comes from, and its number in stored vectors.

    quantised: it is one of quantised types alone; vectors of the same data in other types have it, too.
    """

    # Stored vectors have numbers of hazards in their field `traps`, and what is stored does not change. They are
    # turned into names where a vector is loaded, and into numbers where one is written.
    number: Annotated[int, Meta(ge=1)]
    sentence: Text
    source: Text
    quantised: bool = False


@functools.cache
def hazards() -> Mapping[str, Hazard]:
    """All hazards by name. Raises DocumentError where the file is wrong."""
    return documents.read(FILE, dict[Name, Hazard])


def hazards_of(vector: HasHazards) -> Mapping[str, Hazard]:
    """The hazards that a case, or the vector of a header, looks at in its types, by name."""
    is_quantised = any("QUANT" in kind for kind in vector.types)
    return {name: hazards()[name] for name in vector.hazards if is_quantised or not hazards()[name].quantised}


def names_of(numbers: Sequence[int], document: str) -> tuple[str, ...]:
    """The names of the hazards that a stored vector has; raises DocumentError for a number that none has."""
    names = _names()
    for number in numbers:
        if number not in names:
            raise DocumentError(document, "$.traps", f"there is no hazard {number}")
    return tuple(names[number] for number in numbers)


def numbers_of(names: Sequence[str], document: str, place: str) -> list[int]:
    """The numbers under which stored vectors name hazards; raises DocumentError for a name that none has.

    document, place: where the names stand, for the message.
    """
    for name in names:
        if name not in hazards():
            near = did_you_mean(name, hazards())
            raise DocumentError(document, place, f"there is no hazard {name!r} in corpus/hazards.json{near}")
    return [hazards()[name].number for name in names]


@functools.cache
def _names() -> Mapping[int, str]:
    return {hazard.number: name for name, hazard in hazards().items()}
