"""Verdicts as lines of text: the same wording on the terminal, in pytest, in JUnit and on the page."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.harness.outcome_table import is_red
from npu_conformance.specs.outcomes import Disposition, Outcome
from npu_conformance.specs.results import CaseResult, ConfigurationResult

_SHOWN = 5


def headline(result: CaseResult) -> str:
    """One line: outcome, id, and the first thing that explains it."""
    words = result.outcome.value
    if Disposition.WAIVED in result.dispositions:
        words += " (waived)"
    reason = first_reason(result)
    return f"{words.upper() if is_red(result.outcome, result.dispositions) else words} {result.case}" + (
        f": {reason}" if reason else ""
    )


def first_reason(result: CaseResult) -> str:
    """The message of the case itself, or of its first configuration that ended as the case did."""
    if result.message:
        return result.message.partition("\n")[0]
    for part in result.configurations:
        if part.outcome is result.outcome and part.message:
            return f"#{part.name}: " + part.message.partition("\n")[0]
    return ""


def explain(result: CaseResult) -> str:
    """Everything about a verdict that is no pass: reasons, requirements, last words of a dead host."""
    return "\n".join([headline(result), *(f"  {line}" for line in _details(result))])


def _details(result: CaseResult) -> Iterator[str]:
    parts = [part for part in result.configurations if part.outcome is result.outcome]
    if result.message and parts:
        yield f"{len(parts)} of {len(result.configurations)} configurations: {result.outcome.value}"
    for part in parts[:_SHOWN]:
        yield _configuration(part)
    if len(parts) > _SHOWN:
        yield f"... and {len(parts) - _SHOWN} more configurations"
    if is_red(result.outcome) and result.requirements:
        yield "requirements: " + " ".join(result.requirements)
    yield from _last_words(result)
    yield from (line for part in parts[:1] for line in _last_words(part))
    if result.outcome is Outcome.SUITE_ERROR:
        yield from (result.traceback or next((part.traceback for part in parts), "")).splitlines()


def _configuration(part: ConfigurationResult) -> str:
    return f"#{part.name}: {part.outcome.value}" + (f": {part.message}" if part.message else "")


def _last_words(ending: CaseResult | ConfigurationResult) -> Iterator[str]:
    if ending.signal:
        yield f"signal {ending.signal}"
    for line in ending.stderr.splitlines()[-_SHOWN:]:
        yield f"stderr: {line}"
