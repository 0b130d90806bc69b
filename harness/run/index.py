"""The ids of all cases of the suites, in order of running, without making the cases."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from npu_conformance.harness.kept import kept
from npu_conformance.harness.run import suites
from npu_conformance.harness.run.cases import Case, Scope
from npu_conformance.specs.neuralnetworks import registered_extensions

_LETTERS = {scope: scope.value[0] for scope in Scope}


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
    return kept("cases", dict[str, AreaIndex], _built)


def of_cases(cases: Collection[Case]) -> AreaIndex:
    """Return the index of an area's cases."""
    return AreaIndex("\n".join(case.id for case in cases), "".join(_LETTERS[case.scope] for case in cases))


def _built() -> dict[str, AreaIndex]:
    found = {area: list(suites.area(*area.split(".")).cases()) for area in suites.all_areas()}
    return {name: of_cases(cases) for name, cases in found.items() if cases}
