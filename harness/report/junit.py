"""JUnit XML of a run, for continuous integration: a suite for each area, failures with their explanation.

Elements and attributes are those of Jenkins' schema junit-10, which most readers take. It has no properties of a single
case: the requirements of a case are in its `system-out`, in the spelling that readers take for properties.
"""

from __future__ import annotations

import html
import socket
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from npu_conformance.harness.judge.outcome_table import SUITE_FAILED, row, word
from npu_conformance.harness.report.lines import ReplayCommands, explain, first_reason
from npu_conformance.specs.documents.results import CaseResult
from npu_conformance.specs.documents.summary import Results
from npu_conformance.specs.outcomes import Outcome

_ILLEGAL = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(0xD800, 0xE000), 65534, 65535), "?")
"""Characters that XML cannot carry, as a hostile device may put into its messages."""

_SPACES = {9: "&#9;", 10: "&#10;", 13: "&#13;"}
"""What readers of XML would make a blank of in an attribute."""

_OF_RUN = "npu-conformance.run.findings"
"""The name of what is about no case."""

_SECONDS = len("2026-11-22T18:51:56")
"""A time up to its seconds: readers of JUnit take it as UTC, and want no zone."""


def document(results: Results, verdicts: Iterable[CaseResult], replays: ReplayCommands) -> str:
    """Return the XML text. replays: makes the commands that run failures again."""
    by_area: dict[str, list[CaseResult]] = defaultdict(list)
    seen = list(verdicts)
    for result in [*seen, *_of_run(results, seen)]:
        by_area[".".join(result.case.split(".")[:2])].append(result)
    return "".join(_lines(results, by_area, replays))


def _of_run(results: Results, verdicts: Sequence[CaseResult]) -> Iterator[CaseResult]:
    """What turns the run red where no case does, such as a waiver that has expired: a CI may read nothing else."""
    is_told = any(row(one.outcome, one.dispositions).junit in ("failure", "error") for one in verdicts)
    if results.exit_code and not is_told:
        outcome = Outcome.SUITE_ERROR if results.exit_code == SUITE_FAILED else Outcome.FAIL
        yield CaseResult(case=_OF_RUN, outcome=outcome, message="\n".join([*results.red, *results.problems]))


def _lines(results: Results, by_area: dict[str, list[CaseResult]], replays: ReplayCommands) -> Iterator[str]:
    whole = _counts([result for area in by_area.values() for result in area])
    del whole["skipped"]  # the schema has it for suites only
    yield '<?xml version="1.0" encoding="utf-8"?>\n'
    yield f"<testsuites{_attributes(name=results.manifest.name, **whole)}>\n"
    for area, verdicts in by_area.items():
        yield from _suite(results, area, verdicts, replays)
    yield "</testsuites>\n"


def _suite(results: Results, area: str, verdicts: Sequence[CaseResult], replays: ReplayCommands) -> Iterator[str]:
    place = {"timestamp": results.time[:_SECONDS], "hostname": socket.gethostname()}
    yield f" <testsuite{_attributes(name=area, **_counts(verdicts), **place)}>\n  <properties>\n"
    for name, value in _properties(results, replays).items():
        yield f"   <property{_attributes(name=name, value=value)}/>\n"
    yield "  </properties>\n"
    for result in verdicts:
        yield from _case(result, replays.of(result))
    yield " </testsuite>\n"


def _properties(results: Results, replays: ReplayCommands) -> dict[str, str]:
    manifest = results.manifest
    return {
        "plug-in": f"{manifest.name} {manifest.version}",
        "plug-in options": replays.plugin,
        "tested as": results.judged_as,
        "seed": str(results.seed),
        "scope": results.selection.scope,
        "npu-conformance": results.suite_version,
    }


def _case(result: CaseResult, replay: str) -> Iterator[str]:
    classname, _, name = result.case.partition("[")[0].rpartition(".")
    name += result.case[len(classname) + 1 + len(name) :]
    yield f"  <testcase{_attributes(classname=classname, name=name, time=f'{result.seconds:.3f}')}>\n"
    element = row(result.outcome, result.dispositions).junit
    if element:
        ended = word(result.outcome, result.dispositions)
        message = f"{ended}: {first_reason(result)}"
        text = _text(explain(result, replay=replay))
        yield f"   <{element}{_attributes(message=message, type=ended)}>{text}</{element}>\n"
    if result.requirements:
        told = "\n".join(f"[[PROPERTY|requirement={name}]]" for name in result.requirements)
        yield f"   <system-out>{_text(told)}</system-out>\n"
    yield "  </testcase>\n"


def _counts(verdicts: Sequence[CaseResult]) -> dict[str, str]:
    elements = Counter(row(result.outcome, result.dispositions).junit for result in verdicts)
    return {
        "tests": str(len(verdicts)),
        "failures": str(elements["failure"]),
        "errors": str(elements["error"]),
        "skipped": str(elements["skipped"]),
        "time": f"{sum(result.seconds for result in verdicts):.3f}",
    }


def _attributes(**values: str) -> str:
    return "".join(f' {name}="{_text(value).translate(_SPACES)}"' for name, value in values.items())


def _text(value: str) -> str:
    return html.escape(value.translate(_ILLEGAL))
