"""Verdicts as lines of text: the same wording on the terminal, in pytest, in JUnit and on the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from npu_conformance.harness.judge.outcome_table import WAIVABLE, counts_as, decisive, is_red, word
from npu_conformance.harness.report.console import Paint, plain
from npu_conformance.harness.report.rule import broken_rule, concerned
from npu_conformance.harness.subject import patience
from npu_conformance.specs.diagnostics import last_words, shell, stacks
from npu_conformance.specs.documents.results import (
    DESCRIPTION,
    DRIVER_SAYS,
    FAILURE_FILE,
    HAZARDS,
    CaseResult,
    ConfigurationResult,
)
from npu_conformance.specs.outcomes import Disposition, Outcome

_SHORTER = f"to wait less for each answer: {patience.OPTION} SECONDS (pytest: --npu-longest-wait)"
_LONGEST, _LAST_WORDS = 12, 3
"""The most lines of an explanation, and of the last words of a dead host; a traceback of the suite itself is extra, and
so are the steps that led to a failure."""


class ReplayCommands(msgspec.Struct, frozen=True):
    """Makes the commands that run failures again.

    folder: where the failure files are; plugin: the options that name the plug-in.
    """

    folder: str
    plugin: str

    def of(self, result: CaseResult) -> str:
        """Return the command for a case; empty where it has no failure file."""
        name = str(result.notes.get(FAILURE_FILE, ""))
        if not name.endswith(".json"):
            return ""
        return replay_command(f"{self.folder}/{name}", self.plugin)


def replay_command(file: str, plugin_words: str) -> str:
    """Return the command that runs a failure file, or all of a report folder, again: as it is, for a shell."""
    return f"npu-conformance replay {shell.quoted(file)} {plugin_words}"


def excuse(result: CaseResult) -> str:
    """Why a red outcome is not red here: a waiver, or the baseline; empty where neither is."""
    if Disposition.NO_LONGER_SUPPORTED in result.dispositions:
        return ""
    excuses = (item for item in (Disposition.WAIVED, Disposition.KNOWN) if item in result.dispositions)
    return next((item.value for item in excuses), "")


def headline(result: CaseResult, paint: Paint = plain, *, with_reason: bool = True) -> str:
    """One line: outcome, what a red one is attributed to, id, and the first thing that explains it."""
    words = word(result.outcome, result.dispositions) + (f" ({excuse(result)})" if excuse(result) else "")
    red = is_red(result.outcome, result.dispositions)
    words = paint(words.upper() if red else words, counts_as(result.outcome, result.dispositions).value)
    source = f"{attribution(result)}: " if red and attribution(result) else ""
    reason = first_reason(result) if with_reason else ""
    return f"{words} {source}{result.case}" + (f": {reason}" if reason else "")


def attribution(result: CaseResult) -> str:
    """The operation, where it can only be one, and the first requirement of what ended as the case did.

    What is no longer supported breaks no requirement.
    """
    if Disposition.NO_LONGER_SUPPORTED in result.dispositions:
        return result.operation
    requirement = next(iter(concerned(result)), "")
    operation = result.operation
    if operation and f"-{operation}-" in requirement:
        return requirement
    return " ".join(filter(None, (operation, requirement)))


def first_reason(result: CaseResult) -> str:
    """The message of the case itself, or of the first configuration that explains its outcome."""
    if result.message:
        return result.message.partition("\n")[0]
    for part in decisive(result):
        if part.message:
            return f"#{part.name}: " + part.message.partition("\n")[0]
    return ""


def explain(
    result: CaseResult,
    paint: Paint = plain,
    replay: str = "",
    *,
    with_reason: bool = True,
    among: str = "",
    is_short: bool = False,
) -> str:
    """Return all that explains a verdict other than pass: reasons, rule, expected and actual, command of a replay.

    with_reason: False where the same reader has been told the first reason. among: which of its configurations the
    result has, where it does not have all. is_short: the user has said how long a wait may be.
    """
    lines = (f"  {line}" for line in details(result, replay, among=among, is_short=is_short))
    return "\n".join([headline(result, paint, with_reason=with_reason), *lines])


def details(result: CaseResult, replay: str = "", *, among: str = "", is_short: bool = False) -> list[str]:
    """Return what stands below the headline: at most _LONGEST lines, and what a message has below its first line."""
    parts = decisive(result)
    ending = next((part for part in parts if part.message), result) if not result.message else result
    above = [*_about(result), *_expected_and_actual(ending)]
    counted = [_counted(parts, result, among)] if parts else []
    is_short = is_short or patience.OPTION in replay  # which has the options of the run
    shorter = [_SHORTER] if result.outcome is Outcome.HANG and not is_short else []
    room = _LONGEST - 1 - len(above) - len(counted) - len(shorter) - bool(replay)
    words = [*_last_words(ending, result)][: max(0, room - 1)]
    below = [*words, *shorter, *([replay] if replay else [])]
    return [
        *above,
        *ending.message.splitlines()[1:],
        *counted,
        *_by_message(result, parts, max(1, room - len(words))),
        *below,
        *_traceback(result, parts),
    ]


def _counted(parts: Sequence[ConfigurationResult], result: CaseResult, among: str) -> str:
    waived = sum(Disposition.WAIVED in part.dispositions for part in result.configurations)
    whole = " ".join(filter(None, (f"{len(result.configurations)} configurations", among)))
    count = f"{len(parts)} of {whole}: {word(parts[0].outcome, result.dispositions)}"
    return f"{count} ({waived} waived)" if waived else count


def warnings(result: CaseResult) -> list[str]:
    """The quality warnings of a case and of its configurations, one line each."""
    told = [*result.warnings]
    by_text: dict[str, list[str]] = {}
    for part in result.configurations:
        for text in part.warnings:
            by_text.setdefault(text, []).append(part.name)
    return told + [f"{_names(names)}: {text}" for text, names in by_text.items()]


def _about(result: CaseResult) -> Iterator[str]:
    """What the case is about, the sentence of the requirement that broke, and where that is from."""
    if result.notes.get(DESCRIPTION):
        yield f"case: {result.notes[DESCRIPTION]}"
    if result.notes.get(HAZARDS):
        yield f"looks at: {result.notes[HAZARDS]}"
    names = concerned(result) if result.outcome in WAIVABLE else ()
    if not names:
        return
    rule = broken_rule(result)
    who = names[0] + (f", and {len(names) - 1} more" if names[1:] else "")
    yield f"requirement: {rule.statement} ({who})" if rule else f"requirement: {who}"
    if rule:
        yield f"source: {rule.source}"


def _expected_and_actual(ending: CaseResult | ConfigurationResult) -> Iterator[str]:
    if ending.expected or ending.found:
        yield f"expected: {ending.expected}"
        yield f"actual:   {ending.found}"


def _by_message(result: CaseResult, parts: Sequence[ConfigurationResult], most: int) -> list[str]:
    """Return the configurations, grouped by message, in at most `most` lines, without what the headline says."""
    by_message: dict[str, list[str]] = {}
    for part in parts:
        by_message.setdefault(part.message, []).append(part.name)
    said = "" if result.message else next((part.message for part in parts if part.message), "")
    if said and len(by_message[said]) == 1:
        del by_message[said]
    firsts = ((text.partition("\n")[0] if text != said else "", names) for text, names in by_message.items())
    lines = [_names(names) + (f": {text}" if text else "") for text, names in firsts]
    if len(lines) <= most:
        return lines
    others = sum(map(len, list(by_message.values())[most - 1 :]))
    return [*lines[: most - 1], f"... and {others} more configurations"]


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(f"#{name}" for name in names[:2])
    return shown if len(names) <= 2 else f"{shown} and {len(names) - 2} more"


def _last_words(ending: CaseResult | ConfigurationResult, result: CaseResult) -> Iterator[str]:
    """How a host died and where it was, and the end of what the driver printed while the case ran."""
    if ending.signal and f"signal {ending.signal}" not in (ending.message or result.message):
        yield f"signal {ending.signal}"
    where = stacks.frames(ending.traceback) if ending.outcome is not Outcome.SUITE_ERROR else []
    if where:
        yield f"stack: {', called at '.join(where[:_LAST_WORDS])}"
    if result.notes.get(DRIVER_SAYS):
        yield f"the driver's last reason: {result.notes[DRIVER_SAYS]}"
    # What a host said as it died is not said of another one that died in silence.
    has_own = any(part.stderr for part in result.configurations)
    printed = ending.stderr if has_own else ending.stderr or result.stderr
    is_crash = ending.outcome is Outcome.CRASH
    lines = last_words.telling(printed, _LAST_WORDS) if is_crash else printed.splitlines()[-_LAST_WORDS:]
    for line in lines:
        yield f"stderr: {line}"
    for line in result.stdout.splitlines()[-_LAST_WORDS:]:
        yield f"stdout: {line}"


def whole_words(result: CaseResult) -> Iterator[str]:
    """All that results keep of what the driver printed (4000 characters of a stream), where `explain` shows its end."""
    for stream, text in (("stderr", result.stderr), ("stdout", result.stdout)):
        lines = text.splitlines()
        if len(lines) > _LAST_WORDS:
            yield f"the driver's {stream}:"
            yield from (f"  {line}" for line in lines)


def _traceback(result: CaseResult, parts: Sequence[ConfigurationResult]) -> list[str]:
    """Return the traceback of a bug of the suite."""
    if result.outcome is not Outcome.SUITE_ERROR:
        return []
    return (result.traceback or next((part.traceback for part in parts), "")).splitlines()
