"""The ids of all cases of the suites, in order of running, without making the cases."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import msgspec

from npu_conformance.harness.kept import kept
from npu_conformance.harness.run import suites
from npu_conformance.harness.run.cases import Case, Scope

_LETTERS = {scope: scope.value[0] for scope in Scope}


class AreaIndex(msgspec.Struct, frozen=True, array_like=True):
    """The cases of an area. ids: one a line. scopes: the first letter of the scope of each."""

    ids: str
    scopes: str

    def cases(self) -> Iterator[tuple[str, Scope]]:
        """Yield each id with its scope."""
        scopes = {letter: scope for scope, letter in _LETTERS.items()}
        return zip(self.ids.split("\n"), map(scopes.__getitem__, self.scopes), strict=True)


def by_area() -> Mapping[str, AreaIndex]:
    """Return the cases of each area, `suite.area`, that has some. Kept until a file of the suites changes."""
    return kept("cases", dict[str, AreaIndex], _built)


def of_cases(cases: Collection[Case]) -> AreaIndex:
    """Return the index of an area's cases."""
    return AreaIndex("\n".join(case.id for case in cases), "".join(_LETTERS[case.scope] for case in cases))


def _built() -> dict[str, AreaIndex]:
    names = [(suite, area) for suite in suites.present() for area in suites.areas(suite)]
    found = {f"{suite}.{area}": list(suites.area(suite, area).cases()) for suite, area in names}
    return {name: of_cases(cases) for name, cases in found.items() if cases}
