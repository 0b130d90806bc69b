"""Verdicts as lines of text: the same wording on the terminal, in pytest, in JUnit and on the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from npu_conformance.harness.judge.outcome_table import is_red
from npu_conformance.harness.report.console import Paint, plain
from npu_conformance.specs.documents.results import CaseResult, ConfigurationResult
from npu_conformance.specs.outcomes import Disposition, Outcome

_SHOWN = 5


def headline(result: CaseResult, paint: Paint = plain) -> str:
    """One line: outcome, what is guilty where it is red, id, and the first thing that explains it."""
    words = result.outcome.value
    if Disposition.WAIVED in result.dispositions:
        words += " (waived)"
    red = is_red(result.outcome, result.dispositions)
    words = paint(words.upper() if red else words, result.outcome.value)
    guilt = f"{guilty(result)}: " if red and guilty(result) else ""
    reason = first_reason(result)
    return f"{words} {guilt}{result.case}" + (f": {reason}" if reason else "")


def guilty(result: CaseResult) -> str:
    """The operation, where it can only be one, and the first requirement of what ended as the case did."""
    parts = () if result.message else (part for part in result.configurations if part.outcome is result.outcome)
    requirements = next((part.requirements for part in parts if part.requirements), result.requirements)
    requirement = requirements[0] if requirements else ""
    operation = result.operations[0] if len(result.operations) == 1 else ""
    if operation and f"-{operation}-" in requirement:
        return requirement
    return " ".join(filter(None, (operation, requirement)))


def first_reason(result: CaseResult) -> str:
    """The message of the case itself, or of its first configuration that ended as the case did."""
    if result.message:
        return result.message.partition("\n")[0]
    for part in result.configurations:
        if part.outcome is result.outcome and part.message:
            return f"#{part.name}: " + part.message.partition("\n")[0]
    return ""


def explain(result: CaseResult, paint: Paint = plain) -> str:
    """Everything about a verdict that is no pass: reasons, requirements, last words of a dead host."""
    return "\n".join([headline(result, paint), *(f"  {line}" for line in _details(result))])


def warnings(result: CaseResult) -> list[str]:
    """The quality warnings of a case and of its configurations, one line each."""
    told = [*result.warnings]
    by_text: dict[str, list[str]] = {}
    for part in result.configurations:
        for text in part.warnings:
            by_text.setdefault(text, []).append(part.name)
    return told + [f"{_names(names)}: {text}" for text, names in by_text.items()]


def _details(result: CaseResult) -> Iterator[str]:
    parts = [part for part in result.configurations if part.outcome is result.outcome]
    if parts:
        yield f"{len(parts)} of {len(result.configurations)} configurations: {result.outcome.value}"
    yield from _by_message(parts, first_reason(result))
    if is_red(result.outcome) and result.requirements:
        yield "requirements: " + " ".join(result.requirements)
    yield from _last_words(result)
    yield from (line for part in parts[:1] for line in _last_words(part))
    if result.outcome is Outcome.SUITE_ERROR:
        yield from (result.traceback or next((part.traceback for part in parts), "")).splitlines()


def _by_message(parts: Sequence[ConfigurationResult], headline_reason: str) -> Iterator[str]:
    """The configurations, those that say the same together; what the headline has said already is left out."""
    by_message: dict[str, list[str]] = {}
    for part in parts:
        by_message.setdefault(part.message, []).append(part.name)
    for message, names in list(by_message.items())[:_SHOWN]:
        if len(names) > 1 or f"#{names[0]}: {message.partition(chr(10))[0]}" != headline_reason:
            yield f"{_names(names)}: {message}".rstrip(": ")
    if len(by_message) > _SHOWN:
        yield f"... and {sum(map(len, list(by_message.values())[_SHOWN:]))} more configurations"


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(f"#{name}" for name in names[:2])
    return shown if len(names) <= 2 else f"{shown} and {len(names) - 2} more"


def _last_words(ending: CaseResult | ConfigurationResult) -> Iterator[str]:
    if ending.signal:
        yield f"signal {ending.signal}"
    for line in ending.stderr.splitlines()[-_SHOWN:]:
        yield f"stderr: {line}"
