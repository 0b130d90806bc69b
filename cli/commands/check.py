"""`npu-conformance check`: an adapter's own smoke test, in a second: handshake, what was found, a grade."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from npu_conformance.cli.commands._options import add_catalogue_option, add_plugin_options, session_options
from npu_conformance.cli.commands._output import print_json
from npu_conformance.harness.judge.outcome_table import OK, WRONG, is_red
from npu_conformance.harness.report.lines import headline
from npu_conformance.harness.run import selection
from npu_conformance.harness.run.cases import Scope
from npu_conformance.harness.run.selection import Wanted
from npu_conformance.harness.run.session import Session, Summary
from npu_conformance.harness.subject.inference_tool import IGNORED

_SHOWN = 5
_FIRST_CALLS = ("vts.queries.", "vts.npu_scheduling.", "cts.npu_manager.lifecycle.", "cts.npu_manager.request.")
_EXECUTIONS = "vts.generated."
_TARGETS = (*(f"{area}*" for area in _FIRST_CALLS), f"{_EXECUTIONS}ADD.*", f"{_EXECUTIONS}RELU.*")
_GRADES = {
    "A": "the first calls of each interface pass: run the suites",
    "B": "queries pass, no execution does: look at getSupportedOperations and prepareModel first",
    "C": "the handshake works, some first calls do not",
    "D": "the handshake works, nothing else does",
}


@dataclass(frozen=True)
class Grade:
    """How far an adapter has come.

    failed: what does not pass though it applies; failures: what is red of it; uncovered: what the passes do not cover.
    """

    letter: str
    meaning: str
    passed: int
    failed: int
    failures: tuple[str, ...]
    uncovered: tuple[str, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add_plugin_options(parser, positional=True)
    add_catalogue_option(parser)
    parser.add_argument("--json", action="store_true", help="as JSON")


def execute(options: argparse.Namespace) -> int:
    """Shake hands, run the first calls of each interface, and say how far the adapter has come."""
    started = time.monotonic()
    session = Session(session_options(options, report=None, scope="smoke"))
    try:
        subject = session.subject
        handshake = time.monotonic() - started
        targets = (*_TARGETS, "vts.extension.*") if options.catalogue else _TARGETS
        cases = selection.select(Wanted(targets, scope=Scope.SMOKE)).cases
        session.start(cases)
        grade = _grade(session.run_all())
        manifest, version = subject.manifest, subject.version
    finally:
        session.close()
    if subject.ignores_tool:
        print(IGNORED, file=sys.stderr)
    if options.json:
        answer = {"manifest": manifest, "hal_version": version, "handshake_seconds": handshake, "grade": grade}
        print_json(answer)
    else:
        print(f"{manifest.name} {manifest.version}, {manifest.vendor}")
        print(f"interfaces: {', '.join(manifest.interfaces)}; HAL {version}; handshake {handshake * 1000:.0f} ms")
        for name, meaning in manifest.options.items():
            print(f"option {name}: {meaning}")
        print("\n".join(_told(grade)))
    return OK if grade.letter == "A" else WRONG


def _told(grade: Grade) -> Iterator[str]:
    yield f"{grade.passed} of {grade.passed + grade.failed} smoke cases pass"
    yield from (f"  {line}" for line in grade.failures[:_SHOWN])
    if len(grade.failures) > _SHOWN:
        yield f"  ... and {len(grade.failures) - _SHOWN} more failures"
    yield from (f"coverage: {line}" for line in grade.uncovered)
    yield f"grade {grade.letter}: {grade.meaning}"


def _grade(summary: Summary) -> Grade:
    passed = {case.case for case in summary.results.cases if case.outcome.value == "pass"}
    failed = [case for case in summary.results.cases if case.outcome.value not in ("pass", "not-applicable")]
    first_calls_fail = any(case.case.startswith(_FIRST_CALLS) for case in failed)
    executes = any(name.startswith(_EXECUTIONS) for name in passed)
    can_execute = executes or "device" not in summary.results.manifest.interfaces
    letter = "D" if not passed else "C" if first_calls_fail else "A" if can_execute else "B"
    red = tuple(headline(case) for case in summary.verdicts if is_red(case.outcome, case.dispositions))
    return Grade(letter, _GRADES[letter], len(passed), len(failed), red, summary.results.thin_coverage)
