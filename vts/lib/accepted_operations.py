"""What random graphs a device could take at all: it is asked about stored models of each form of an operation."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from npu_conformance.corpus import vectors
from npu_conformance.corpus.random_graphs import official
from npu_conformance.corpus.vectors import VectorHeader
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.harness.judge.classification import classify_exception
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.vts.lib.lacking import forms_of

if TYPE_CHECKING:
    from npu_conformance.harness.subject.handle import SubjectHandle


@dataclass(frozen=True)
class Accepted:
    """Operations, and types as ids of graphs spell them, that a device accepts, and how many there are of each."""

    operations: tuple[str, ...]
    types: tuple[str, ...]
    all_operations: int
    all_types: int


def accepted(subject: SubjectHandle, types: Sequence[str] = ()) -> Accepted | None:
    """What a device accepts of these types, of all if none is named. None where its answers are wrong in some way."""
    wanted = {official.TYPES[name][0] for name in types}
    known = {name: kind for name, (kind, since) in official.TYPES.items() if since <= subject.version}
    found: dict[str, set[str]] = {}
    names = [name for name in official.operations() if _asked(subject, name, wanted)]
    try:
        for name in names:
            for header in _asked(subject, name, wanted):
                if not _results(header) <= found.get(name, set()) and _accepts(subject, header):
                    found.setdefault(name, set()).update(_results(header))
    except Exception as error:
        if classify_exception(error).outcome is Outcome.SUITE_ERROR:
            raise
        subject.restart()  # the graphs will find what is wrong with the device
        return None
    kinds = set().union(*found.values())
    spelt = tuple(name for name, kind in known.items() if kind in kinds and (not types or name in types))
    return Accepted(tuple(found), spelt, len(names), len(types or known))


def _asked(subject: SubjectHandle, operation: str, types: Set[str]) -> list[VectorHeader]:
    """A stored vector of each form of an operation that gives one of the types."""
    found = forms_of(operation, subject.version) if operation in vectors.operations() else ()
    return [one for one in found if not types or types & _results(one)]


def _results(header: VectorHeader) -> set[str]:
    return {one.type for one in header.operands.values() if one.role == "output"}


def _accepts(subject: SubjectHandle, header: VectorHeader) -> bool:
    device = subject.interfaces.device
    assert device is not None
    answers = device.get_supported_operations(
        build_model(vectors.load(header.operation, header.name), subject.version).model
    )
    return bool(answers) and all(answers)
