"""Waivers: known failures that stay visible and do not turn the run red, until they expire or stop failing."""

from __future__ import annotations

import datetime
import difflib
import fnmatch
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from npu_conformance.harness.judge.compare import BEYOND_WAIVER
from npu_conformance.harness.judge.outcome_table import WAIVABLE, is_red
from npu_conformance.harness.judge.tolerance import ToleranceOfWaiver
from npu_conformance.specs import documents, requirements
from npu_conformance.specs.diagnostics.one_line import one_line
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.results import CaseResult, ConfigurationResult
from npu_conformance.specs.documents.waivers import WaivedTolerance, Waiver, WaiverFile, WaiverUse
from npu_conformance.specs.outcomes import Disposition, Outcome
from npu_conformance.specs.suggestions import did_you_mean

_SOON_DAYS = 7
"""So long before it expires a waiver says so."""
_BRACKET = re.compile(r"\[")
_WILD = re.compile(r"[*?]")
_NEARLY = 0.8
"""How much of a word has to be that of another for it to be the same, misspelt."""


class Waivers:
    """The waivers of a run. today: the date that decides which have expired."""

    def __init__(self, waivers: Sequence[Waiver] = (), today: datetime.date | None = None) -> None:
        self._today = today or datetime.datetime.now(datetime.UTC).date()
        self._all = [_Matcher(waiver) for waiver in waivers]
        self._valid = [matcher for matcher in self._all if matcher.waiver.expires >= self._today]

    def tolerances(self, verdict_id: str, requirements: tuple[str, ...]) -> tuple[ToleranceOfWaiver, ...]:
        """How far outputs of a case or configuration may be off, by each waiver that says so: any of them will do."""
        return tuple(
            matcher.tolerance
            for matcher in self._valid
            if matcher.waiver.tolerance is not None and matcher.matches(verdict_id, requirements)
        )

    def apply(self, result: CaseResult) -> CaseResult:
        """Return the result with the disposition `waived` wherever a waiver excuses a part of it.

        A part that has it already is excused by the tolerance of a waiver. The case itself counts as waived only where
        every red part of it is.
        """
        if not self._valid or result.outcome not in WAIVABLE:
            return result
        configurations = tuple(self._waived(part, result) for part in result.configurations)
        own = is_red(result.own_outcome) and Disposition.WAIVED not in result.dispositions
        own = own and not self._excuses(result.case, result.own_outcome, result.requirements)
        red = own or any(is_red(part.outcome, part.dispositions) for part in configurations)
        others = tuple(one for one in result.dispositions if one is not Disposition.WAIVED)
        dispositions = others if red else (Disposition.WAIVED, *others)
        return replace(result, configurations=configurations, dispositions=dispositions)

    def problems(self, uses: Iterable[WaiverUse], *, whole: bool = True) -> list[str]:
        """One line for each waiver that has expired, matches nothing, or covers nothing that fails.

        whole: False for a shard, of which only the first is known: the others may hold in another one.
        """
        return [use.problem for use in uses if use.problem and (whole or use.waiver.expires < self._today)]

    def uses(self, results: Iterable[CaseResult], known: Callable[[], Iterable[str]] = tuple) -> tuple[WaiverUse, ...]:
        """Each waiver with what it came to, in the order of the file. known: the ids of all cases, selected or not."""
        seen = list(results)
        return tuple(matcher.use(seen, self._today, known) for matcher in self._all)

    def _waived(self, part: ConfigurationResult, result: CaseResult) -> ConfigurationResult:
        verdict_id = f"{result.case}#{part.name}"
        excused = Disposition.WAIVED in part.dispositions
        if excused or not self._excuses(verdict_id, part.outcome, result.requirements_of(part)):
            return part
        return replace(part, dispositions=(Disposition.WAIVED, *part.dispositions))

    def _excuses(self, verdict_id: str, outcome: Outcome, requirements: tuple[str, ...]) -> bool:
        return outcome in WAIVABLE and any(
            matcher.waiver.tolerance is None and matcher.matches(verdict_id, requirements) for matcher in self._valid
        )


class _Matcher:
    """A waiver with its glob compiled."""

    def __init__(self, waiver: Waiver) -> None:
        self.waiver = waiver
        self._pattern = glob(waiver.id)
        self._names_configuration = "#" in waiver.id
        allowed = waiver.tolerance or WaivedTolerance()
        self.tolerance = ToleranceOfWaiver(allowed.atol, allowed.rtol, allowed.lsb, waiver.id)

    def matches(self, verdict_id: str, requirements: tuple[str, ...]) -> bool:
        """True where the waiver is about this case or configuration."""
        if self.waiver.requirement not in requirements:
            return False
        subject = verdict_id if self._names_configuration else verdict_id.partition("#")[0]
        return self._pattern.fullmatch(subject) is not None

    def _problem(self, results: list[CaseResult], today: datetime.date, known: Callable[[], Iterable[str]]) -> str:
        """What is wrong with the waiver after a run; empty where nothing is."""
        waiver = self.waiver
        name = one_line(f"waiver {waiver.id} ({waiver.requirement}, {waiver.owner})")
        if waiver.expires < today:
            return f"{name} expired on {waiver.expires.isoformat()}"
        verdicts = [verdict for result in results for verdict in self._verdicts(result)]
        if not verdicts:
            return "" if self._is_about_others(results, known) else f"{name} {self._why_nothing(results)}"
        excused = any(outcome in WAIVABLE or waived for outcome, waived in verdicts)
        passed = any(outcome is Outcome.PASS for outcome, _ in verdicts)
        if passed and not excused and not waiver.flaky:
            return f"{name} is no longer needed: everything that it matches passes"
        return ""

    def _is_about_others(self, results: list[CaseResult], known: Callable[[], Iterable[str]]) -> bool:
        """True where the id matches a case that was not selected."""
        selected, cases = {result.case for result in results}, glob(self.waiver.id.partition("#")[0])
        return any(cases.fullmatch(name) and name not in selected for name in known())

    def _why_nothing(self, results: list[CaseResult]) -> str:
        """Whether it is the id that fits nothing, or the requirement."""
        cases = {name.partition("#")[0] for name in _verdict_ids(results) if self._pattern.fullmatch(name)}
        if not cases:
            return "matches none of the selected cases"
        return f"matches none of the selected cases: none of the {len(cases)} that its id matches has this requirement"

    def use(self, results: list[CaseResult], today: datetime.date, known: Callable[[], Iterable[str]]) -> WaiverUse:
        """How many cases the waiver is about, how many it has excused, and of how many only a part."""
        matched = [result for result in results if self._verdicts(result)]
        touched = [result for result in matched if self._excused(result)] if self.waiver.expires >= today else []
        partly = [result for result in touched if is_red(result.outcome, result.dispositions)]
        return WaiverUse(
            waiver=self.waiver,
            matched=len(matched),
            excused=len(touched) - len(partly),
            in_part=len(partly),
            too_far=0 if touched else sum(map(self._is_too_far, matched)),
            left=tuple(dict.fromkeys(name for result in partly for name in _still_red(result))),
            problem=self._problem(results, today, known),
            is_about_to_expire=0 <= (self.waiver.expires - today).days <= _SOON_DAYS,
        )

    def _is_too_far(self, result: CaseResult) -> bool:
        """True where the tolerance of the waiver would excuse a part of the result, were it larger."""
        return self.waiver.tolerance is not None and any(
            BEYOND_WAIVER in part.message and self.matches(name, result.requirements_of(part))
            for name, part in _parts(result)
        )

    def _excused(self, result: CaseResult) -> bool:
        return any(
            Disposition.WAIVED in part.dispositions and self.matches(name, result.requirements_of(part))
            for name, part in _parts(result)
        )

    def _verdicts(self, result: CaseResult) -> list[tuple[Outcome, bool]]:
        if not self._names_configuration:
            matched = self.matches(result.case, _all_requirements(result))
            return [(result.outcome, Disposition.WAIVED in result.dispositions)] if matched else []
        return [
            (part.outcome, Disposition.WAIVED in part.dispositions)
            for part in result.configurations
            if self.matches(f"{result.case}#{part.name}", result.requirements_of(part))
        ]


def load_all(paths: Iterable[Path], today: datetime.date | None = None, *, ways: Collection[str] = ()) -> Waivers:
    """Read waiver files as one; raises DocumentError (document, path, rule). today: see Waivers.

    ways: names of ways to execute, which a configuration may begin with: those that are misspelt are refused.
    """
    return Waivers([waiver for path in paths for waiver in _read(path, ways)], today)


def _read(path: Path, ways: Collection[str]) -> tuple[Waiver, ...]:
    """The waivers of a file. Raises DocumentError also for names that no run would ever tell of."""
    found = documents.read(path, WaiverFile, named=True).waivers
    for number, waiver in enumerate(found):
        _require_requirement(waiver, str(path), f"$.waivers[{number}].requirement")
        _require_way(waiver, ways, str(path), f"$.waivers[{number}].id")
    return found


def _require_requirement(waiver: Waiver, document: str, path: str) -> None:
    try:
        requirements.requirement(waiver.requirement)
    except LookupError:
        known = (entry.id for entry in requirements.all_requirements())
        hint = did_you_mean(waiver.requirement.upper(), known) or "; what an extension has is known with --catalogue"
        raise DocumentError(document, path, f"there is no requirement {waiver.requirement!r}{hint}") from None


def _require_way(waiver: Waiver, ways: Collection[str], document: str, path: str) -> None:
    """Refuse a configuration that nearly begins with the name of a way to execute; what else it may be, cases say."""
    way = waiver.id.partition("#")[2].partition(".")[0]
    near = difflib.get_close_matches(way, ways, n=1, cutoff=_NEARLY)
    if near and way not in ways and not _WILD.search(way):
        raise DocumentError(document, path, f"there is no configuration {way!r} (did you mean {near[0]}?)")


def glob(pattern: str) -> re.Pattern[str]:
    """Compile a glob over ids: `*` and `?` are wild, brackets stand for themselves (ids carry variations in them)."""
    return re.compile(fnmatch.translate(_BRACKET.sub("[[]", pattern)))


def _parts(result: CaseResult) -> Iterator[tuple[str, CaseResult | ConfigurationResult]]:
    """The case and its configurations, each with its id."""
    yield result.case, result
    yield from ((f"{result.case}#{part.name}", part) for part in result.configurations)


def _verdict_ids(results: Iterable[CaseResult]) -> Iterable[str]:
    for result in results:
        yield result.case
        yield from (f"{result.case}#{part.name}" for part in result.configurations)


def _still_red(result: CaseResult) -> Iterator[str]:
    """What is red of a case beside that which is waived: the requirement of each part that broke."""
    own = is_red(result.own_outcome) and Disposition.WAIVED not in result.dispositions and result.message
    parts = [part for part in result.configurations if is_red(part.outcome, part.dispositions)]
    for part in (*([result] if own else ()), *parts):
        yield from result.requirements_of(part)[:1]


def _all_requirements(result: CaseResult) -> tuple[str, ...]:
    of_parts = ((*part.broken, *part.requirements) for part in result.configurations)
    return (*result.requirements, *itertools.chain.from_iterable(of_parts))
