"""The requirements that tests are evidence for: four catalogues, and the family generated from the operations' clauses.

An id never changes meaning. NNHAL-OPERATION-<operation>-RESULT says that an operation computes what the catalogue
describes, NNHAL-OPERATION-<operation>-<clause> that clause <operation>.<clause> of its rules is kept.
"""

from __future__ import annotations

import fnmatch
import functools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from npu_conformance.specs import documents
from npu_conformance.specs.documents import Document
from npu_conformance.specs.versions import NEWEST, OLDEST, Version

if TYPE_CHECKING:
    from npu_conformance.specs.neuralnetworks.rules.clause import Clause

Level = Literal["MUST", "SHOULD", "MAY"]
LinkKind = Literal["duplicate", "other-layer"]
Id = Annotated[str, Meta(pattern=r"^(NNHAL|FW|DSL|RGG|FUZ|ML|NPU)(-[A-Z0-9_]+)+$(?!\n)", max_length=100)]
CatalogueName = Literal["neuralnetworks", "framework", "mlts", "npu"]
CATALOGUES: dict[CatalogueName, tuple[str, ...]] = {
    "neuralnetworks": ("NNHAL",),
    "framework": ("FW", "DSL", "RGG", "FUZ"),
    "mlts": ("ML",),
    "npu": ("NPU",),
}
"""Which families of ids a catalogue holds."""
_FOLDER = Path(__file__).parent
_OPERATION = "NNHAL-OPERATION-"


class Link(Document, frozen=True):
    """A tie to another requirement, for whoever changes one of them: both ends have it.

    duplicate: the rule is written a second time, often as a part of the other, in other words or at another level.
    other-layer: it is asked of another layer. Evidence counts for the end that a case names, not for the other.
    """

    kind: LinkKind
    id: Id


class Requirement(Document, frozen=True):
    """One thing that an implementation has to do, ought to do or may do.

    sources: files of AOSP, `page: ...` for the public pages, or `project decision`. since, until: versions of the NN
    HAL it applies to; other families leave them open. untested: why no case checks it; empty where one does or will.
    """

    id: Id
    level: Level
    area: Annotated[str, Meta(pattern=r"^[a-z-]+$(?!\n)")]
    statement: Annotated[str, Meta(min_length=10)]
    sources: Annotated[tuple[str, ...], Meta(min_length=1)]
    since: Version = OLDEST
    until: Version = NEWEST
    links: tuple[Link, ...] = ()
    untested: str = ""

    def applies(self, version: Version) -> bool:
        """True where a driver of this version is held to it."""
        return self.since <= version <= self.until


class Catalogue(Document, frozen=True):
    """A file of requirements/."""

    catalogue: CatalogueName
    requirements: tuple[Requirement, ...]


def requirement(identifier: str) -> Requirement:
    """Return the requirement with this id, reading one file at most; raises LookupError where there is none."""
    if _is_generated(identifier):
        return _generated_requirement(identifier)
    family = identifier.split("-")[0]
    for name, families in CATALOGUES.items():
        if family in families and identifier in catalogue(name):
            return catalogue(name)[identifier]
    raise LookupError(f"no requirement {identifier!r}")


@functools.cache
def catalogue(name: CatalogueName) -> dict[str, Requirement]:
    """The written requirements of one catalogue by id, in the order of the file."""
    document = documents.read(_FOLDER / f"{name}.json", Catalogue)
    return {entry.id: entry for entry in document.requirements}


def applying(identifiers: Iterable[str], version: Version) -> tuple[str, ...]:
    """Those that a driver of this version is held to, each once: a case of several versions names those of all."""
    outside = _outside(version)
    return tuple(name for name in dict.fromkeys(identifiers) if name not in outside)


@functools.cache
def _outside(version: Version) -> frozenset[str]:
    """Ids of the written requirements that do not apply to a version; generated ones apply wherever their cases do."""
    return frozenset(entry.id for entry in catalogue("neuralnetworks").values() if not entry.applies(version))


def all_requirements() -> Iterator[Requirement]:
    """Every requirement: the written ones catalogue by catalogue, then the generated ones by operation."""
    for name in CATALOGUES:
        yield from catalogue(name).values()
    from npu_conformance.specs.neuralnetworks import catalogue as operation_catalogue

    for operation in operation_catalogue.names():
        yield from operation_requirements(operation)


def expand(pattern: str) -> tuple[str, ...]:
    """Ids that match a shell pattern such as `NNHAL-QOS-*`; an id matches itself. Raises LookupError for none."""
    if not any(sign in pattern for sign in "*?["):
        return (requirement(pattern).id,)
    identifiers = tuple(entry.id for entry in all_requirements() if fnmatch.fnmatchcase(entry.id, pattern))
    if not identifiers:
        raise LookupError(f"no requirement matches {pattern!r}")
    return identifiers


def operation_requirements(operation: str) -> tuple[Requirement, ...]:
    """The generated requirements of an operation: its result, then each clause of its rules where it has rules."""
    from npu_conformance.specs.neuralnetworks import catalogue as operation_catalogue
    from npu_conformance.specs.neuralnetworks import rules

    since = operation_catalogue.operation(operation).since
    result = Requirement(
        id=result_requirement(operation),
        level="MUST",
        area="operation",
        statement=f"{operation} computes what the operation catalogue describes, within the accuracy rules.",
        sources=("operation catalogue",),
        since=since,
    )
    clauses = rules.clauses(operation) if rules.has(operation) else ()
    return (result, *(_of_clause(clause, since) for clause in clauses))


def result_requirement(operation: str) -> str:
    """The id that says: this operation computes what it should."""
    return f"{_OPERATION}{operation}-RESULT"


def clause_requirement(clause: str) -> str:
    """The id of the requirement that a clause (`CONV_2D.C5`) is kept."""
    operation, _, name = clause.partition(".")
    return f"{_OPERATION}{operation}-{name}"


_DUTIES: Mapping[str, tuple[Level, str]] = {
    "both": ("MUST", ""),
    "text": ("SHOULD", " Android's own implementation executes what breaks this; a device that does, too, is warned."),
    "reference": ("MAY", " A device may reject what breaks this: no document demands it."),
}
"""How binding a clause is by who asks for it, and what its statement says of that."""


def _of_clause(clause: Clause, since: Version) -> Requirement:
    """What not both demand, the documents and Android's own implementation, is a lesser duty."""
    operation = clause.id.partition(".")[0]
    level, freedom = _DUTIES[clause.basis]
    return Requirement(
        id=clause_requirement(clause.id),
        level=level,
        area="operation",
        statement=f"{operation}: {clause.text}{freedom}",
        sources=(f"rule {clause.id}",),
        since=since,
    )


def _is_generated(identifier: str) -> bool:
    return identifier.startswith(_OPERATION) and not identifier.removeprefix(_OPERATION).isdigit()


def _generated_requirement(identifier: str) -> Requirement:
    operation = identifier.removeprefix(_OPERATION).rpartition("-")[0]
    for entry in operation_requirements(operation):
        if entry.id == identifier:
            return entry
    raise LookupError(f"no requirement {identifier!r}")
