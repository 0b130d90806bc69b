"""--baseline: an earlier results.json of the same HAL version. Only what has got worse since then is red."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from npu_conformance.harness.judge.outcome_table import UNJUDGED, WAIVABLE, is_red
from npu_conformance.harness.report import symptoms
from npu_conformance.harness.report.lines import first_reason
from npu_conformance.harness.run import folders
from npu_conformance.specs import documents
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.results import CaseResult, ConfigurationResult, Digests
from npu_conformance.specs.documents.summary import CaseSummary, Comparison, Results
from npu_conformance.specs.outcomes import Disposition, Outcome

_LOST_SUBJECT = frozenset({Outcome.CRASH, Outcome.HANG})


class Baseline:
    """The outcomes of an earlier run. of_other_vectors: what has the same id in both may be another test."""

    def __init__(self, earlier: Results, *, of_other_vectors: bool = False) -> None:
        self._of_other_vectors = of_other_vectors
        self._before = dict(pair for summary in earlier.cases for pair in outcomes(summary))
        self._messages = {summary.case: summary.message for summary in earlier.cases}
        self._configurations = {summary.case: summary.configurations for summary in earlier.cases}

    def mark(self, result: CaseResult) -> CaseResult:
        """Return the result with what the baseline says of it.

        It is known where it is red and was so before: no regression is in it. Where it is not red, and it or some of
        its configurations passed before and are not supported now, they are marked as such, which is red.
        """
        worse = dict(self._worse(result))
        if is_red(result.outcome, result.dispositions):
            return result if worse or self._is_unrun(result) else _marked(result, Disposition.KNOWN)
        if not worse:
            return result
        lost = Disposition.NO_LONGER_SUPPORTED
        parts = (_marked(one, lost) if f"{result.case}#{one.name}" in worse else one for one in result.configurations)
        return replace(_marked(result, lost), configurations=tuple(parts))

    def compare(self, verdicts: Iterable[CaseResult]) -> Comparison:
        """Count regressions, what is red as before, and what was red and passes now."""
        seen = list(verdicts)
        passing = (result.case for result in seen if result.outcome is Outcome.PASS)
        return Comparison(
            regressions=len(self.regressions(seen)),
            known=sum(Disposition.KNOWN in result.dispositions for result in seen),
            altered=sum(self._is_altered(result) for result in seen),
            mended=sum(name in self._before and is_red(self._before[name]) for name in passing),
            of_other_vectors=self._of_other_vectors,
        )

    def _is_altered(self, result: CaseResult) -> bool:
        """True where a case is red as before, and says something else: a known failure may have become far worse."""
        if Disposition.KNOWN not in result.dispositions or result.outcome not in WAIVABLE:
            return False
        said, says = self._messages.get(result.case), first_reason(result)
        return said is None or symptoms.likeness(said) != symptoms.likeness(says)

    def regressions(self, verdicts: Iterable[CaseResult]) -> list[str]:
        """One line for each case that is worse than it was, or that has configurations that are."""
        return [line for result in verdicts if (line := self._regression(result))]

    def unrun(self, verdicts: Iterable[CaseResult]) -> list[str]:
        """A line that says how many cases have a verdict in the earlier run and were not run; none where none is."""
        count = sum(result.case in self._before and self._is_unrun(result) for result in verdicts)
        return [f"{counted(count, 'case')} of the baseline {'was' if count == 1 else 'were'} not run"] if count else []

    def _is_unrun(self, result: CaseResult) -> bool:
        """True where a case was not run, and was, or is new: it stays red, and is no regression."""
        return result.outcome is Outcome.NOT_RUN and self._before.get(result.case) not in UNJUDGED

    def _regression(self, result: CaseResult) -> str:
        worse = dict(self._worse(result))
        if not worse:
            return ""
        name, change = next(iter(worse.items()))
        parts = len(worse.keys() - {result.case})
        known = {*self._configurations.get(result.case, ()), *(part.name for part in result.configurations)}
        whole = f" ({parts} of {counted(len(known), 'configuration')})" if len(worse) > 1 else ""
        return f"regression: {name} {change}{whole}"

    def _worse(self, result: CaseResult) -> Iterator[tuple[str, str]]:
        """What is worse of a case, itself first, and how it has changed."""
        for name, now, waived in _outcomes_now(result):
            before = self._before.get(name)
            if not waived and is_regression(before, now):
                yield name, f"{f'was {before.value}' if before else 'is new'}, now {now.value}"
        if result.own_outcome is Outcome.NOT_SUPPORTED:  # it ended before it came to the others
            seen = {part.name for part in result.configurations}
            earlier = self._configurations.get(result.case, {})
            lost = [name for name, outcome in earlier.items() if outcome is Outcome.PASS and name not in seen]
            yield from ((f"{result.case}#{name}", "was pass, now not-supported") for name in lost)


_Result = TypeVar("_Result", CaseResult, ConfigurationResult)


def _marked(result: _Result, disposition: Disposition) -> _Result:
    return replace(result, dispositions=(disposition, *result.dispositions))


def load(path: Path, digests: Digests, hal_version: str) -> Baseline:
    """Read a results.json, or that of a report folder.

    Raises DocumentError for a bad one, and for one of another HAL version.
    """
    earlier = named_results(path)
    require_comparable(earlier, hal_version, str(path))
    return Baseline(earlier, of_other_vectors=earlier.digests.vectors != digests.vectors)


def named_results(path: Path) -> Results:
    """Read the results.json that a user names, or that of a report folder. Raises DocumentError."""
    file = folders.results_file(path)
    return documents.read(file, Results, named=file == path)


def require_comparable(earlier: Results, hal_version: str, document: str) -> None:
    """Raise DocumentError where an earlier run was of another HAL version."""
    if earlier.hal_version != hal_version:
        raise DocumentError(
            document,
            "$.hal_version",
            f"runs as different HAL versions are not compared: expected {hal_version}, found {earlier.hal_version}",
        )


def is_regression(before: Outcome | None, now: Outcome) -> bool:
    """True where an outcome is worse than before (None: a new case).

    Red after green is; so is a crash or a hang after an ordinary failure, and not-supported after a pass. Where the
    earlier run has no verdict on the subject (not-run, suite-error) nothing is known, and red is worse. Of what was not
    run now nothing is known either.
    """
    if now is Outcome.NOT_RUN:
        return False
    if now is Outcome.NOT_SUPPORTED:
        return before is Outcome.PASS
    if not is_red(now):
        return False
    if before in UNJUDGED:
        return now not in UNJUDGED
    return before is None or not is_red(before) or (now in _LOST_SUBJECT and before is Outcome.FAIL)


def outcomes(summary: CaseSummary) -> Iterator[tuple[str, Outcome]]:
    """Yield a case and each of its configurations, `case#configuration`, with how it ended."""
    yield summary.case, summary.outcome
    for name, outcome in summary.configurations.items():
        yield f"{summary.case}#{name}", outcome


def _outcomes_now(result: CaseResult) -> Iterator[tuple[str, Outcome, bool]]:
    yield result.case, result.outcome, Disposition.WAIVED in result.dispositions
    for part in result.configurations:
        yield f"{result.case}#{part.name}", part.outcome, Disposition.WAIVED in part.dispositions
