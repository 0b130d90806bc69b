"""Which cases no fault turns red: each that no fault names is run under the faults that name others of its area."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from npu_conformance.faults import kill_matrix
from npu_conformance.faults.fault import EditedHarness, Fault
from npu_conformance.harness.run.cases import Case

_GENERATED = re.compile(
    r"self\.|(vts|cts)\.(generated|validation|relations|random_\w+|external)\.|vts\.(several_shapes|illegal_turns|edge_values|drawn)\."
)
"""Cases that are made of vectors, mutations and seeds: what these are worth is measured by source mutants."""
_GLOB = re.compile(r"[*?\[]")


class Reach(msgspec.Struct, frozen=True):
    """What the faults of an area reach. cases: about behaviour; faults: that name one of them; unreached: ids.

    problems: faults under which no case could be judged, each with the reason: unreached cases may be in their reach.
    """

    area: str
    cases: int
    faults: int
    unreached: tuple[str, ...]
    problems: tuple[tuple[str, str], ...] = ()


def areas(cases: Iterable[Case]) -> tuple[str, ...]:
    """The areas that have cases about behaviour."""
    return tuple(dict.fromkeys(_area(case.id) for case in cases if not _GENERATED.match(case.id)))


def reach(area: str, cases: Iterable[Case], faults: Iterable[Fault]) -> Reach:
    """Run the cases of an area that no fault names until a fault turns them red, or there is none left."""
    meant = [case for case in cases if _area(case.id) == area and not _GENERATED.match(case.id)]
    fitting = [fault for fault in faults if not isinstance(fault.mechanism, EditedHarness) and not fault.hangs]
    fitting = [fault for fault in fitting if area in map(_area, fault.caught_by)]
    named = {text for fault in fitting for text in fault.caught_by if not _GLOB.search(text)}
    left, problems = [case for case in meant if case.id not in named], []
    for fault in sorted(fitting, key=lambda fault: len(fault.caught_by), reverse=True):
        if not left:
            break
        row = kill_matrix.run_fault_against(fault, left)
        if row.problem:
            problems.append((fault.id, row.problem))
        left = [case for case in left if case.id not in {*row.noticed, *row.wrong}]
    return Reach(area, len(meant), len(fitting), tuple(case.id for case in left), tuple(problems))


def _area(identifier: str) -> str:
    return ".".join(identifier.split(".")[:2])
