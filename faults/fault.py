"""The definition of a fault: one violation, what it breaks, which cases have to detect it, and how it is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from npu_conformance.faults.source_edits import DetectedAs, SourceEdit
from npu_conformance.specs.manifest import Deadlines, InterfaceName
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.specs.plugin import Context, Subject
from npu_conformance.specs.versions import NEWEST, Version


@dataclass(frozen=True)
class Edited:
    """The reference with its source edited. extended: it has its extensions."""

    edits: tuple[SourceEdit, ...]
    extended: bool = False


@dataclass(frozen=True)
class FaultySubject:
    """The reference behind a boundary. create: makes the faulty implementation. instance: its HIDL instance name.

    manifest: further fields of its manifest.
    """

    create: Callable[[Context, Version], Subject]
    interfaces: tuple[InterfaceName, ...] = ("device",)
    instance: str = "faulty-npu"
    deadlines: Deadlines = field(default_factory=Deadlines)
    concurrent_calls: int = 8
    manifest: Callable[[], Mapping[str, Any]] = dict


@dataclass(frozen=True)
class EditedHarness:
    """The harness with its source edited: the suite's own bookkeeping goes wrong, and self-checks have to detect it."""

    edits: tuple[SourceEdit, ...]


@dataclass(frozen=True)
class Hostile:
    """A host process of its own that misbehaves. behaviour: a name of faults/hosts/hostile.py."""

    behaviour: str


Mechanism = Edited | FaultySubject | EditedHarness | Hostile


@dataclass(frozen=True)
class Fault:
    """One thing done wrong on purpose.

    breaks: ids of requirements, clauses or structural rules; for the harness itself a few words. caught_by: globs over
    case ids, of each of which at least one case has to detect it. hal: the version of the implementation. detected_as:
    `quality-warning` where the public floor allows the result, so that no verdict may be red. hangs: a call of it may
    never return, or end its process, so that it is judged in a host process, which can be ended. ends_as: what the
    cases have to end as, or one of their configurations; None for any red outcome.
    """

    id: str
    description: str
    breaks: tuple[str, ...]
    caught_by: tuple[str, ...]
    mechanism: Mechanism
    hal: Version = NEWEST
    detected_as: DetectedAs = "red"
    hangs: bool = False
    ends_as: Outcome | None = None


@dataclass(frozen=True)
class FuzzFault(Fault):
    """One that a fuzzer has to find. caught_by: empty where no default case shows it."""

    fuzzer: str = ""


@dataclass(frozen=True)
class Variant:
    """An implementation that differs and conforms: every case has to stay green. hal: its version."""

    id: str
    description: str
    mechanism: Edited | FaultySubject
    hal: Version = NEWEST
