"""The ids of all cases of the suites, in order of running, and what they are evidence for, without making the cases."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from npu_conformance.harness.kept import keep, kept
from npu_conformance.harness.run import suites
from npu_conformance.harness.run.cases import Case, Scope
from npu_conformance.specs.neuralnetworks import registered_extensions

_LETTERS = {scope: scope.value[0] for scope in Scope}

_OF_CATALOGUES = "vts.extension"
"""The area whose cases are those of this run's catalogues: they are kept for no other run."""


class AreaIndex(msgspec.Struct, frozen=True, array_like=True):
    """The cases of an area. ids: one a line. scopes: the first letter of the scope of each."""

    ids: str
    scopes: str

    def cases(self) -> Iterator[tuple[str, Scope]]:
        """Yield each id with its scope."""
        scopes = {letter: scope for scope, letter in _LETTERS.items()}
        return zip(self.ids.split("\n"), map(scopes.__getitem__, self.scopes), strict=True)


def cases_of(area: str) -> Iterable[tuple[str, Scope]]:
    """Return the ids and scopes of the cases of an area, `suite.area`, with those of this run's catalogues."""
    known = by_area().get(area)
    if known is not None:
        return known.cases()
    if not registered_extensions.all_registered():
        return ()
    return ((case.id, case.scope) for case in suites.area(*area.split(".")).cases())


@functools.cache
def by_area() -> Mapping[str, AreaIndex]:
    """Return the cases of each area that has some in every run. Kept until a file of the suites changes."""
    return kept("cases", dict[str, AreaIndex], lambda: _indexed(_every_case()))


def evidence() -> Mapping[str, Sequence[str]]:
    """Return, for each requirement that has cases, their ids. Kept as by_area is; a run's catalogues are asked anew."""
    if registered_extensions.all_registered():
        cases = list(suites.cases(suites.present()))
        numbers, ids = _evidence_of(cases), [case.id for case in cases]
    else:
        numbers = kept("evidence", dict[str, list[int]], _evidence_with_index)
        ids = [name for area in by_area().values() for name, _ in area.cases()]
    return {requirement: [ids[number] for number in found] for requirement, found in numbers.items()}


def _evidence_with_index() -> dict[str, list[int]]:
    """Return the evidence, and keep the index that its numbers are of: to make all cases takes long."""
    areas = _every_case()
    keep("cases", _indexed(areas))
    return _evidence_of(case for cases in areas.values() for case in cases)


def of_cases(cases: Collection[Case]) -> AreaIndex:
    """Return the index of an area's cases."""
    return AreaIndex("\n".join(case.id for case in cases), "".join(_LETTERS[case.scope] for case in cases))


def _evidence_of(cases: Iterable[Case]) -> dict[str, list[int]]:
    """Return the places of the cases of each requirement among these."""
    found: dict[str, list[int]] = defaultdict(list)
    for number, case in enumerate(cases):
        for requirement in dict.fromkeys(case.requirements):
            found[requirement].append(number)
    return found


def _every_case() -> dict[str, list[Case]]:
    """Return the cases of each area."""
    areas = [area for area in suites.all_areas() if area != _OF_CATALOGUES]
    with suites.without_collector():
        return {area: list(suites.area(*area.split(".")).cases()) for area in areas}


def _indexed(areas: Mapping[str, Collection[Case]]) -> dict[str, AreaIndex]:
    return {name: of_cases(cases) for name, cases in areas.items() if cases}
