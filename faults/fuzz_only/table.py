"""Faults that only fuzzers find, from rows of tables."""

from __future__ import annotations

from npu_conformance.faults.boundary import FaultyDevice, FaultyPreparedModel
from npu_conformance.faults.factories import faulty_device, faulty_models
from npu_conformance.faults.fault import FaultySubject, FuzzFault
from npu_conformance.faults.fuzz_only.seen import SEEN

Row = tuple[str, str, str, FaultySubject | type[FaultyDevice] | type[FaultyPreparedModel]]
"""Name, description, ids of requirements as words, and a kind of boundary with the reference driver behind it."""


def rows(fuzzer: str, *found: Row) -> tuple[FuzzFault, ...]:
    """The faults of one fuzzer, each with its name behind that of the fuzzer."""
    return tuple(_fault(f"fuzz-{fuzzer}-{row[0]}", fuzzer, row) for row in found)


def _fault(name: str, fuzzer: str, row: Row) -> FuzzFault:
    _, description, breaks, kind = row
    caught_by = (SEEN[name],) if name in SEEN else ()
    return FuzzFault(name, description, tuple(breaks.split()), caught_by, _subject(kind), fuzzer=fuzzer)


def _subject(kind: FaultySubject | type[FaultyDevice] | type[FaultyPreparedModel]) -> FaultySubject:
    if isinstance(kind, FaultySubject):
        return kind
    return faulty_device(kind) if issubclass(kind, FaultyDevice) else faulty_models(kind)
