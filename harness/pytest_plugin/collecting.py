"""Collects the cases of the suites as light items of pytest: headers only, no fixtures, no set-up or tear-down."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator, Set
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from npu_conformance.harness.run import index, seeds, suites
from npu_conformance.harness.run.budget import by_worth
from npu_conformance.harness.run.cases import Case, Scope
from npu_conformance.harness.run.expression import compile_expression
from npu_conformance.harness.run.partition import parse_shard, partition
from npu_conformance.harness.run.selection import cases_under, idle_words, in_scope, is_within, meant_by, misspelt
from npu_conformance.specs.documents import DocumentError

SEEN = pytest.StashKey[dict[str, list[Case]]]()
"""The cases of each area that were made, also those that are not taken."""

OF_SHARDS = pytest.StashKey[frozenset[str]]()
"""The ids of the cases that the shards have together."""


def area_file(path: Path, parent: pytest.Collector) -> AreaFile | None:
    """The collector of an area's file, or of a file of a suite that the command line names; None for other files."""
    suite = suite_of(path)
    area = _areas(suite).get(path.resolve()) if suite else None
    if suite is None or (area is None and not parent.session.isinitpath(path)):
        return None
    # -k looks at the names of collectors too: this one occurs in each id of the area, so that the ids alone decide.
    name = f"{suite}.{area}" if area else None
    # For a file outside its root folder pytest would print only the end of the path, which cannot be asked for again.
    # The name can, and in JUnit it is the same wherever the suite is installed.
    nodeid = None if path.is_relative_to(parent.config.rootpath) else name or str(path)
    return AreaFile.from_parent(parent, path=path, name=name, nodeid=nodeid, suite=suite, area=area)


class AreaFile(pytest.File):
    """One area of a suite, a module or package with `cases()`; without an area, a file named as if it were one."""

    def __init__(self, *, suite: str, area: str | None, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.suite = suite
        self.area = area

    def collect(self) -> Iterator[pytest.Item]:
        """Yield an item for each case that the command line leaves."""
        matches, scope = self._expression(), Scope(self.config.getoption("--npu-scope"))
        cases = self._cases(matches)
        named = self._named({case.id for case in cases})
        for case in cases:
            # What the command line names has to be found; -k deselects it later (`arrange`).
            if in_scope(case, scope) and (matches(case.id) if named is None else case.id in named):
                # pytest reads a variation as parameters where it reads an id again (--lf): so let it read this one.
                yield CaseItem.from_parent(self, name=case.id, nodeid=f"{self.nodeid}::{case.id}", case=case)

    def _cases(self, matches: Callable[[str], bool]) -> list[Case]:
        """The area's own cases, and those over vectors from outside where it can make them.

        Those of subjects of which none can be meant are not made.
        """
        if self.area is None:
            known = " ".join(suites.areas(self.suite))
            raise self.CollectError(f"{self.path}: not an area of {self.suite}, which has {known}")
        prefix, area = f"{self.suite}.{self.area}", suites.area(self.suite, self.area)
        vectors = [Path(word) for word in self.config.getoption("--npu-vectors")]
        try:
            outside = list(suites.external_of(area, vectors))
        except DocumentError as error:
            raise self.CollectError(f"--npu-vectors: {error}") from None
        own = cases_under(prefix, self._subjects(prefix, matches))
        found = self.config.stash[SEEN][prefix] = [*own, *outside]
        return found

    def _subjects(self, prefix: str, matches: Callable[[str], bool]) -> set[str] | None:
        """The subjects of the area (`ADD` in vts.generated) of which a case can be meant, by the index of ids.

        None where all are: then nobody waits for the index, which is made anew when a file of the suites has changed.
        """
        if not self.config.getoption("keyword") and self._named(frozenset()) is None:
            return None
        known = {name for name, _ in index.cases_of(prefix)}
        named = self._named(known)
        meant = filter(matches, known) if named is None else named  # pytest looks for what is named, whatever -k says
        return {name.split(".")[2] for name in meant}

    def _named(self, ids: Set[str]) -> set[str] | None:
        """The cases, of these ids, that node ids name; None where a word of the command line means the whole area.

        An id without variations means that case alone where there is one. pytest would take all of its variations.
        """
        words = [word.partition("::") for word in self.config.args]
        asked = {name for _, _, name in words if name.startswith(f"{self.suite}.{self.area}.")}
        whole = (_path_of(self.config, word) for word, _, name in words if not name)
        if not asked or any(self.path.is_relative_to(path) for path in whole):
            return None
        return (asked & ids) | {name for name in ids if name.partition("[")[0] in asked - ids}

    def _expression(self) -> Callable[[str], bool]:
        """-k as a function of an id. What pytest's language has beyond ours is left to pytest."""
        return read_expression(self.config) or (lambda case_id: True)


class CaseItem(pytest.Item):
    """One case."""

    def __init__(self, *, case: Case, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.case = case
        if self.config.getoption("markexpr"):
            for requirement in case.requirements:
                self.add_marker(pytest.mark.requirement(id=requirement))
        if self.config.pluginmanager.hasplugin("timeout"):
            # pytest-timeout would throw into the engine, or end the process; each wait has a deadline here.
            self.add_marker(pytest.mark.timeout(0))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the case is from, and its headline.

        Where the headline is how the node id ends, pytest prints the id with :: for each dot, and nobody can paste it.
        """
        return self.path, None, f"case {self.name}"

    def runtest(self) -> None:
        """This is never called: `pytest_runtest_protocol` runs cases through the engine."""
        raise NotImplementedError


def ignored(config: pytest.Config) -> Iterator[str]:
    """What is asked of other plug-ins of pytest that they do with tests alone, not with cases: a line for each."""
    if config.getoption("timeout", None) or (config.pluginmanager.hasplugin("timeout") and config.getini("timeout")):
        yield "npu-conformance: pytest-timeout leaves cases alone; their waits are bounded by --npu-longest-wait"
    if config.getoption("reruns", None):
        yield "npu-conformance: pytest-rerunfailures does not repeat cases: see npu-conformance replay --repeat"


def is_to_execute(config: pytest.Config) -> bool:
    """False where pytest only tells what it would run: --collect-only, --setup-plan, --setup-only."""
    return not any(map(config.getoption, ("collectonly", "setupplan", "setuponly")))


def targets(config: pytest.Config) -> tuple[str, ...]:
    """The suites that were collected whole, and the areas of others, as the command names them; none where all were.

    Of an area of which one subject or one case was named, that.
    """
    seen, present = config.stash[SEEN], suites.present()
    areas = {suite: [f"{suite}.{area}" for area in suites.areas(suite)] for suite in present}
    whole = [suite for suite in present if areas[suite] and all(area in seen for area in areas[suite])]
    parts = [
        _named_of(config, area) for suite in present if suite not in whole for area in areas[suite] if area in seen
    ]
    return () if len(whole) == len(present) else (*whole, *parts)


def _named_of(config: pytest.Config, area: str) -> str:
    """The subject or the case that the command line names of an area; the area where it names several, or all."""
    words = [word.partition("::")[2] for word in config.args]
    named = {word for word in words if word.startswith(f"{area}.")}
    subjects = {".".join(word.split(".")[:3]) for word in named}
    if len(subjects) != 1 or not all(words):
        return area
    (subject,) = subjects
    known = {name for name, _ in index.cases_of(area) if name.startswith(f"{subject}.")}
    return named.pop() if len(named) == 1 else subject if known <= named else area


def read_expression(config: pytest.Config) -> Callable[[str], bool] | None:
    """-k in the language of the command; None where it is in pytest's own, which has more in some places."""
    try:
        return compile_expression(config.getoption("keyword") or "")
    except DocumentError:
        return None


def idle_words_told(config: pytest.Config) -> list[str]:
    """A line for each word of -k that no case has; nothing where it is in pytest's own language."""
    expression = config.getoption("keyword")
    if not expression or read_expression(config) is None:
        return []
    meant = misspelt(expression)
    return [f"-k: no case has {expression}{meant}"] if meant else idle_words(expression, ())


def arrange(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the cases of -k and --npu-shard, in the order of --npu-budget or --npu-shuffle, after all other tests.

    Raises DocumentError for a shard that is none.
    """
    first = {item.case.id: item for item in reversed(items) if isinstance(item, CaseItem)}  # words may overlap
    items[:] = [item for item in items if not isinstance(item, CaseItem) or first[item.case.id] is item]
    matches = read_expression(config)
    if matches is not None:
        deselect(config, items, [item for item in items if not isinstance(item, CaseItem) or matches(item.name)])
    shard = config.getoption("--npu-shard")
    budget, shuffle = config.getoption("--npu-budget"), config.getoption("--npu-shuffle")
    if not (shard or budget or shuffle):
        return
    found = {item.case.id: item for item in items if isinstance(item, CaseItem)}
    cases = [item.case for item in found.values()]
    if shard:
        config.stash[OF_SHARDS] = frozenset(found)
        index, count = parse_shard(shard)
        cases = partition(cases, count)[index - 1]
    if budget:
        cases = by_worth(cases)
    if shuffle:
        cases = seeds.shuffled(cases, config.getoption("--npu-seed"))
    others = [item for item in items if not isinstance(item, CaseItem)]
    deselect(config, items, [*others, *(found[case.id] for case in cases)])


def deselect(config: pytest.Config, items: list[pytest.Item], kept: list[pytest.Item]) -> None:
    """Replace the items, and tell pytest which are left out."""
    remaining = set(kept)
    if gone := [item for item in items if item not in remaining]:
        config.hook.pytest_deselected(items=gone)
    items[:] = kept


def name_by_file(config: pytest.Config) -> None:
    """Let the command line name suites, areas, subjects and cases as the command does, and as JUnit prints them.

    Raises UsageError for a word that begins like one of these and means none.
    """
    has_others = bool(config.getoption("--npu-vectors") or config.getoption("--npu-catalogue"))
    scope = Scope(config.getoption("--npu-scope"))
    for word in config.args if not has_others else ():
        _require_case(word, scope)
    config.args[:] = [meant for word in config.args for meant in _by_file(word, scope)]


def require_balanced(config: pytest.Config) -> None:
    """Refuse -k with brackets that do not match before anything is collected; UsageError."""
    expression = config.getoption("keyword") or ""
    if expression.count("(") != expression.count(")"):
        raise pytest.UsageError(f"-k {expression!r}: the brackets do not match")


def _require_case(word: str, scope: Scope) -> None:
    """Refuse a subject or an id that there is not, or not in the scope: with -n, pytest would say nothing of it.

    Raises UsageError.
    """
    name = word.partition("::")[2] or word
    suite, area, *rest = [*name.split("."), ""]
    if (
        suite not in suites.SUITES
        or not any(rest)
        or Path(word).exists()
        or f"{suite}.{area}" not in suites.all_areas()
    ):
        return
    known = dict(index.cases_of(f"{suite}.{area}"))
    below = {found: its for found, its in known.items() if found.startswith((f"{name}.", f"{name}["))}
    meant = {name: known[name]} if name in known else below
    if not meant:
        raise pytest.UsageError(f"{name}: matches no case; {_meant(name)}")
    if not any(is_within(its, scope) for its in meant.values()):
        least = min(meant.values(), key=lambda its: its.depth)
        raise pytest.UsageError(f"{name}: is not in scope {scope.value}: --npu-scope {least.value}")


def _meant(name: str) -> str:
    """What to write instead of a word that means no case here."""
    return "pytest takes no globs: choose by -k" if {"*", "?"} & set(name) else meant_by(name)


def _by_file(word: str, scope: Scope) -> list[str]:
    """A word of the command line as pytest reads it: the file of an area, or its cases."""
    name, separator, case = word.partition("::")
    if name.partition(".")[0] not in suites.SUITES or Path(name).exists():
        return [word]
    if (path := _path_named(name)) is None:
        raise pytest.UsageError(f"{word}: matches no case; {_meant(name)}")
    if not separator and name.count(".") > 1:
        case = name
    return [f"{path}::{found}" for found in _cases_of(case, scope)] if case else [str(path)]


def _cases_of(name: str, scope: Scope) -> list[str]:
    """The cases in a scope of a subject (`vts.generated.PAD`), of which pytest knows nothing; others as they are."""
    if name.count(".") != 2:
        return [name]
    prefix = name.rpartition(".")[0]
    cases = index.cases_of(prefix)
    return [found for found, its in cases if found.startswith(f"{name}.") and is_within(its, scope)] or [name]


def _path_named(name: str) -> Path | None:
    """The folder of a suite (`vts`), or the file of the area to which the name of an area or a case belongs."""
    suite, *rest = name.split(".")
    if suite not in suites.SUITES:
        return None
    if not rest:
        return next((folder for folder, found in _folders().items() if found == suite), None)
    return next((path for path, area in _areas(suite).items() if area == rest[0]), None)


def suite_of(path: Path) -> str | None:
    """The suite that a path is, or is in."""
    real = path.resolve()
    return next((suite for folder, suite in _folders().items() if real.is_relative_to(folder)), None)


def _path_of(config: pytest.Config, word: str) -> Path:
    """The file or folder that a word of the command line means, as pytest reads it; modules only with --pyargs."""
    if config.getoption("pyargs") and word.startswith(f"{suites.PACKAGE}."):
        spec = importlib.util.find_spec(word)
        if spec is not None and spec.origin is not None:
            origin = Path(spec.origin)
            return origin.parent if spec.submodule_search_locations else origin
    return Path(os.path.abspath(config.invocation_params.dir / word))


@cache
def _folders() -> dict[Path, str]:
    specs = {suite: importlib.util.find_spec(f"{suites.PACKAGE}.{suite}") for suite in suites.SUITES}
    return {
        Path(folder).resolve(): suite
        for suite, spec in specs.items()
        for folder in (spec.submodule_search_locations if spec else None) or ()
    }


@cache
def _areas(suite: str) -> dict[Path, str]:
    """The area of each file that is imported as one: a module, or the __init__.py of a package."""
    specs = {area: importlib.util.find_spec(f"{suites.PACKAGE}.{suite}.{area}") for area in suites.areas(suite)}
    return {Path(spec.origin).resolve(): area for area, spec in specs.items() if spec and spec.origin}
