"""Which cases of the suites a run takes: suites, globs over ids, -k, scope."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from pathlib import Path

import msgspec

from npu_conformance.harness.judge.waivers import glob
from npu_conformance.harness.run import index, suites
from npu_conformance.harness.run.applicability import inapplicable, may_apply
from npu_conformance.harness.run.cases import Case, Scope
from npu_conformance.harness.run.expression import OPERATORS, compile_expression, words_of
from npu_conformance.specs import ids
from npu_conformance.specs.documents import DocumentError, results
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.versions import Version

_WILD = re.compile(r"[*?]")
_PART = re.compile(r"[.\[]")
"""What the parts of an id begin with, but for the first."""
_MOST_NEAR = 3


class Wanted(msgspec.Struct, frozen=True):
    """What was asked for.

    targets: suites, areas and subjects (`vts.generated.PAD`), ids, and globs over ids; empty for every suite.
    expression: of -k. vectors: external ones. only: the ids beside which nothing is meant; None for no such limit.
    """

    targets: tuple[str, ...] = ()
    expression: str = ""
    scope: Scope = Scope.DEFAULT
    vectors: tuple[Path, ...] = ()
    shard: str = ""
    only: frozenset[str] | None = None

    def described(self, deselected: int = 0) -> results.Selection:
        """Return it as the header of a run records it."""
        return results.Selection(
            suites=tuple(target for target in self.targets if target in suites.SUITES),
            patterns=tuple(target for target in self.targets if target not in suites.SUITES),
            expression=self.expression,
            scope=self.scope.value,
            shard=self.shard,
            deselected=deselected,
        )


class Selected(msgspec.Struct):
    """Cases that were taken, and others that were looked at: areas that cannot be meant are not even imported."""

    cases: list[Case] = msgspec.field(default_factory=list)
    others: list[Case] = msgspec.field(default_factory=list)

    def deselected(self, manifest: Manifest, version: Version) -> int:
        """How many cases the selection leaves out, but for those known not to apply.

        Of cases that were not looked at only the ids are known, from the lock: each may apply whose interface is there.
        """
        seen = {case.id for case in (*self.cases, *self.others)}
        unseen = sum(may_apply(name, manifest) for name in _locked_cases() - seen)
        return unseen + sum(not inapplicable(case, manifest, version) for case in self.others)


def select(wanted: Wanted) -> Selected:
    """Return the cases that were asked for, in the order of the suites; only areas that a target can mean are imported.

    Raises DocumentError for an expression that cannot be read and for a target that means no case.
    """
    choice = _Choice(wanted)
    chosen = Selected()
    with suites.without_collector():
        for case in _candidates(choice):
            (chosen.cases if choice.takes(case.id, case.scope) else chosen.others).append(case)
    choice.require_meaning()
    return chosen


def select_ids(wanted: Wanted) -> list[str]:
    """Return the ids of the cases that `select` would give of the suites' own, without making one.

    Raises DocumentError as `select` does.
    """
    choice = _Choice(wanted)
    meant = (area for area in suites.all_areas() if choice.may_mean(area))
    found = [name for area in meant for name, scope in index.cases_of(area) if choice.takes(name, scope)]
    if not choice.has_meaning:
        select(wanted)  # says why: an area may know what the index does not
    return found


def of_ids(wanted: Set[str], vectors: Sequence[Path] = ()) -> list[Case]:
    """Return the cases of these ids, which there are, in the order of the suites; no case of another subject is made.

    vectors: external ones that some of them may be of.
    """
    subjects: dict[str, set[str]] = defaultdict(set)
    for name in wanted:
        suite, area, subject, *_ = name.split(".")
        subjects[f"{suite}.{area}"].add(subject)
    made = (case for area in suites.all_areas() for case in cases_under(area, subjects[area]))
    return [case for case in (*made, *suites.external(vectors, suites.present())) if case.id in wanted]


def cases_under(prefix: str, subjects: Set[str] | None) -> Iterator[Case]:
    """Yield the cases of an area; of these subjects alone where it can find them by subject. None: of all."""
    if subjects is not None and not subjects:
        return
    area = suites.area(*prefix.split("."))
    if subjects is None or not hasattr(area, "cases_under"):
        yield from area.cases()
        return
    for subject in sorted(subjects):
        yield from area.cases_under(subject)


def in_scope(case: Case, scope: Scope) -> bool:
    """True where a run of this scope includes the case."""
    return is_within(case.scope, scope)


def is_within(its: Scope, scope: Scope) -> bool:
    """True where a run of the second scope includes the cases of the first."""
    return its.depth <= scope.depth


def _locked_cases() -> set[str]:
    """The ids of all cases of the suites that are installed, without importing them."""
    prefixes = tuple(f"{suite}." for suite in suites.present())
    return {name for name in ids.locked() if name.startswith(prefixes)} - ids.retired().keys()


def _candidates(choice: _Choice) -> Iterator[Case]:
    for area in suites.all_areas():
        if choice.may_mean(area):
            yield from cases_under(area, choice.subjects(area))
    yield from suites.external(choice.wanted.vectors, [suite for suite in suites.present() if choice.may_mean(suite)])


class _Choice:
    """What was asked for, applied to ids."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self._beginnings = {text.rstrip("."): _Target(text) for text in wanted.targets if not _WILD.search(text)}
        globs = [_Target(text) for text in dict.fromkeys(wanted.targets) if _WILD.search(text)]
        self._globs = _Globs(globs) if globs else None
        self._targets = [*self._beginnings.values(), *globs]
        self._matches = compile_expression(wanted.expression)
        self._scopes = [scope for scope in Scope if is_within(scope, wanted.scope)]

    def may_mean(self, prefix: str) -> bool:
        """True where ids that begin with the prefix and a dot can be meant."""
        return not self._targets or any(target.may_mean(prefix) for target in self._targets)

    def means(self, case_id: str) -> bool:
        """True where a target, the expression and the limit mean the id."""
        if self._targets and not self._is_meant(case_id):
            return False
        only = self.wanted.only
        return (only is None or case_id in only) and bool(self._matches(case_id))

    def _is_meant(self, case_id: str) -> bool:
        meant = list(self._meaning(case_id))
        for target in meant:
            target.has_meaning = True
        return bool(meant)

    def _meaning(self, case_id: str) -> Iterator[_Target]:
        """The targets that mean the id. Those without a wildcard, of which there may be thousands, are looked up."""
        if self._beginnings:
            ends = (*(match.start() for match in _PART.finditer(case_id)), len(case_id))
            yield from filter(None, (self._beginnings.get(case_id[:end]) for end in ends))
        if self._globs:
            yield from self._globs.meaning(case_id)

    def takes(self, case_id: str, scope: Scope) -> bool:
        """True where the case is asked for."""
        return self.means(case_id) and scope in self._scopes

    def subjects(self, prefix: str) -> set[str] | None:
        """The subjects of an area (`ADD` in vts.generated) of which a case can be meant; None for all of them.

        What words do not tell is looked up in the index of ids, so that what has no case that is meant is not imported.
        """
        looks_up = self.wanted.expression or self.wanted.only is not None
        if looks_up or self._globs:
            return {name.split(".")[2] for name, _ in index.cases_of(prefix) if self.means(name)}
        named = {target.subject(prefix) for target in self._targets if target.may_mean(prefix)}
        return {name for name in named if name} if named and None not in named else None

    @property
    def has_meaning(self) -> bool:
        """True where each word has meant a case."""
        return all(target.has_meaning for target in self._targets)

    def require_meaning(self) -> None:
        """Refuse a word that means no case."""
        for target in self._targets:
            target.require_meaning()


class _Globs:
    """Globs over ids, of which there may be thousands: each is looked up by what it begins and ends with."""

    def __init__(self, targets: Iterable[_Target]) -> None:
        self._held: dict[tuple[str, str], list[tuple[re.Pattern[str], _Target]]] = defaultdict(list)
        for target in targets:
            first, *_, last = _WILD.split(target.text)
            self._held[first, last].append((glob(target.text), target))
        self._lengths = {(len(first), len(last)) for first, last in self._held}

    def meaning(self, case_id: str) -> Iterator[_Target]:
        """The globs that mean the id."""
        for first, last in self._lengths:
            near = self._held.get((case_id[:first], case_id[len(case_id) - last :]), ())
            yield from (target for pattern, target in near if pattern.fullmatch(case_id))


class _Target:
    """One word of the request: the beginning of ids, up to a dot or bracket, or a glob over whole ids.

    A dot at its end is left out: `vts.memory.` means what `vts.memory` does.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.is_glob = _WILD.search(text) is not None
        self._literal = _WILD.split(text.rstrip("."), maxsplit=1)[0]
        self.has_meaning = False

    def may_mean(self, prefix: str) -> bool:
        """True where ids that begin with the prefix and a dot can be meant; what stands before a wildcard tells."""
        longer = f"{prefix}."
        if longer.startswith(self._literal) and (self.is_glob or longer[len(self._literal)] == "."):
            return True
        return self._literal.startswith(longer)

    def subject(self, prefix: str) -> str | None:
        """The one subject of an area (`ADD` in vts.generated) whose cases can be meant; None where it may be any."""
        if not self._literal.startswith(f"{prefix}."):
            return None
        name, dot, _ = self._literal.removeprefix(f"{prefix}.").partition(".")
        return name if dot or not self.is_glob else None

    def require_meaning(self) -> None:
        """Refuse a word that means no case: it must be a mistake."""
        if not self.has_meaning and self.text in ids.retired():
            raise DocumentError(self.text, "", ids.retired()[self.text].told())
        case, configuration, _ = self.text.partition("#")
        if not self.has_meaning and configuration:
            all_of_them = f"; {case} runs all of them, and replay runs those that failed" if case else ""
            why = f"a configuration cannot be run alone{all_of_them}"
            raise DocumentError(self.text, "", why)
        if not self.has_meaning:
            raise DocumentError(self.text, "", f"matches no case; {meant_by(self.text)}")


def meant_by(text: str) -> str:
    """Say what to write instead of a word that means no case."""
    if near := _near(text):
        return f"did you mean {' or '.join(near)}?"
    if text.isidentifier() and text not in OPERATORS and any(map(compile_expression(text), all_ids())):
        return f"did you mean -k {text}?"
    suite = text.partition(".")[0]
    if suite in suites.present():
        return f"the areas of {suite} are {' '.join(suites.areas(suite))}"
    return f"expected a suite ({' '.join(suites.present())}), an area, an id or a glob"


def _near(text: str) -> list[str]:
    """Return suites, areas, subjects and ids with nearly the spelling of the text, the nearest first.

    Those beneath the longest beginning of the text that there is come before all others. Case and `_` do not count.
    """
    folded = _all_folded()
    words = _folded(text.rstrip(".")).split(".")
    beginning = next((".".join(words[:n]) for n in range(len(words), 0, -1) if ".".join(words[:n]) in folded), "")
    left = words[beginning.count(".") + 1 if beginning else 0 :]
    if not left:
        return folded[beginning][:_MOST_NEAR]
    if beginning:
        beneath = [name for name in folded if name.rpartition(".")[0] == beginning]
        found = _close(f"{beginning}.{left[0]}", beneath, len(beginning) + 1, 0.6 if "." in beginning else 0.8)
        if found or beginning.count(".") > 1:
            return [folded[name][0] for name in found or [beginning]]
    return [folded[name][0] for name in _close(".".join(words), folded, 0, 0.8 if "." in text else 0.6)]


def _all_folded() -> dict[str, list[str]]:
    """All suites, areas, subjects and ids, by what they are but for case and `_`."""
    from itertools import accumulate

    known: dict[str, None] = {}
    for name in all_ids():
        known.update(dict.fromkeys(accumulate(name.split("."), "{}.{}".format)))
    folded: dict[str, list[str]] = defaultdict(list)
    for name in known:
        folded[_folded(name)].append(name)
    return folded


def _folded(name: str) -> str:
    return name.replace("_", "").casefold()


def _close(text: str, names: Iterable[str], begin: int, cutoff: float) -> list[str]:
    """The names that are nearest to the text, all of them compared from a place on."""
    import difflib

    known = {name[begin:]: name for name in names}
    return [known[name] for name in difflib.get_close_matches(text[begin:], known, n=_MOST_NEAR, cutoff=cutoff)]


def misspelt(expression: str) -> str:
    """Return ` (did you mean X?)` for an expression of one word that no case has; empty for any other."""
    words = words_of(expression)
    if len(words) != 1 or any(map(compile_expression(expression), all_ids())):
        return ""
    from npu_conformance.specs.suggestions import did_you_mean

    return did_you_mean(words[0], sorted({part for name in all_ids() for part in name.split(".")[:3]}))


def idle_words(expression: str, chosen: Collection[str]) -> list[str]:
    """A line for each word of several in an expression that is in no id, of the suites or of the cases chosen."""
    from npu_conformance.specs.suggestions import did_you_mean

    words = words_of(expression)
    if len(words) < 2:
        return []  # nothing is selected then, or everything
    known = "\n".join((*all_ids(), *chosen))
    idle = [word for word in words if not compile_expression(word)(known)]
    parts = {part for name in known.split("\n") for part in name.split(".")[:3]} if idle else ()
    return [f"-k: no case has {word}{did_you_mean(word, sorted(parts))}" for word in idle]


def all_ids() -> Iterator[str]:
    """The ids of all cases of the suites that are installed, without those of vectors from outside."""
    return (name for area in suites.all_areas() for name, _ in index.cases_of(area))
