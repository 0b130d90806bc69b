"""What verdicts say about requirements: a failure counts only against those that the failing check is about."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from npu_conformance.harness.judge.outcome_table import WAIVABLE
from npu_conformance.specs.documents.results import CaseResult, ConfigurationResult
from npu_conformance.specs.documents.summary import Counts
from npu_conformance.specs.outcomes import Outcome, worst

NOT_SHOWN = "not-shown"
"""What a case that ended at the check of another requirement says of one: neither that it holds nor that it broke."""


def by_requirement(verdicts: Iterable[CaseResult]) -> dict[str, Counts]:
    """How many cases said what about each requirement, by id."""
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    for result in verdicts:
        for name, said in shown(result).items():
            counted[name][said] += 1
    return {name: dict(counts) for name, counts in sorted(counted.items())}


def shown(result: CaseResult) -> dict[str, str]:
    """What a case says about each requirement of it and of its configurations: an outcome, or `not-shown`."""
    said: dict[str, list[Outcome]] = defaultdict(list)
    alike = {(outcome, part.requirements, part.broken): part for outcome, part in _parts(result)}
    for (outcome, _, broken), part in alike.items():
        requirements = result.requirements_of(part)
        ended_at = _ended_at(outcome, requirements, broken)
        for name in requirements:
            said[name] += [outcome] if name in ended_at or not ended_at else []
    return {name: worst(*outcomes).value if outcomes else NOT_SHOWN for name, outcomes in said.items()}


def _parts(result: CaseResult) -> Iterator[tuple[Outcome, CaseResult | ConfigurationResult]]:
    """What has a verdict of its own: a body that ended well adds none to those of its configurations."""
    yield from ((part.outcome, part) for part in result.configurations)
    if not result.configurations:
        yield result.outcome, result
    elif result.own_outcome is not Outcome.PASS:
        yield result.own_outcome, result


def _ended_at(outcome: Outcome, requirements: tuple[str, ...], broken: tuple[str, ...]) -> tuple[str, ...]:
    """The requirements that broke; the first of all where nothing says which, as in events of older versions."""
    return (broken or requirements[:1]) if outcome in WAIVABLE else ()
