"""`npu-conformance check`: an adapter's own smoke test, in two seconds: handshake, what was found, a grade."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from npu_conformance.cli.commands._grades import (
    EXECUTIONS,
    FIRST_CALLS,
    GRADES,
    RUNTIME_EXECUTIONS,
    letter_of,
    meaning_of,
)
from npu_conformance.cli.commands._options import add_catalogue_option, add_plugin_options, session_options
from npu_conformance.cli.commands._output import print_json, reserved, write_text
from npu_conformance.cli.streams import tell
from npu_conformance.harness.judge import claim_proposals
from npu_conformance.harness.judge.outcome_table import OK, WRONG, is_red
from npu_conformance.harness.report.lines import details, headline
from npu_conformance.harness.report.progress import progress_for
from npu_conformance.harness.report.symptoms import Cause, cause
from npu_conformance.harness.run import selection
from npu_conformance.harness.run.cases import Scope
from npu_conformance.harness.run.missing_methods import missing_methods
from npu_conformance.harness.run.selection import Wanted
from npu_conformance.harness.run.session import Session, Summary
from npu_conformance.harness.subject.inference_tool import IGNORED
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.documents.results import CaseResult
from npu_conformance.specs.judged_as import judged_as
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.specs.versions import Version

_SHOWN, _OPTIONS = 5, 3
"""How many failures and options have lines of their own."""
_CLAIMABLE = ("vts",)
_TARGETS = (
    *(f"{area}*" for area in FIRST_CALLS),
    *(f"{executions}{name}.*" for executions in (EXECUTIONS, RUNTIME_EXECUTIONS) for name in ("ADD", "RELU")),
)


@dataclass(frozen=True)
class Grade:
    """How far an adapter has come.

    failed: how many cases are red, which `failures` names; not_supported: how many apply beside these and do not pass;
    uncovered: what the passes do not cover. missing: methods of the HAL's version that the cases wanted in vain.
    """

    letter: str
    meaning: str
    passed: int
    failed: int
    not_supported: int
    failures: tuple[str, ...]
    uncovered: tuple[str, ...]
    missing: tuple[str, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    grades = "\n".join(f"  {letter}  {meaning}" for letter, meaning in GRADES.items())
    parser.description = f"{parser.description}\n\ngrades, of which only A ends with exit code 0:\n{grades}"
    add_plugin_options(parser, positional=True)
    add_catalogue_option(parser)
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument(
        "--write-claims",
        metavar="FILE",
        type=Path,
        help="run all of vts, which takes minutes, and write the claims that the run supports (docs/claims.md)",
    )


def execute(options: argparse.Namespace) -> int:
    """Shake hands, run the first calls of each interface, and say how far the adapter has come."""
    if options.write_claims:
        return _write_claims(options, options.write_claims)
    started = time.monotonic()
    session = Session(session_options(options, report=None, scope="smoke"))
    try:
        subject = session.subject
        handshake = time.monotonic() - started
        targets = (*_TARGETS, "vts.extension.*") if options.catalogue else _TARGETS
        cases = selection.select(Wanted(targets, scope=Scope.SMOKE)).cases
        with closing(progress_for(len(cases), names_red=False)) as progress:
            session.start(cases, sinks=[progress])
            summary = _run_whole(session)
        grade = _grade(summary)
        # Where an answer to the handshake names no more, the manifest's default would say too much.
        manifest = replace(subject.manifest, memory_transports=subject.memory.transports)
        version = subject.version
    finally:
        session.close()
    if subject.ignores_tool:
        tell(IGNORED)
    if options.json:
        print_json({"manifest": manifest, "hal_version": version, "handshake_seconds": handshake, "grade": grade})
    else:
        print("\n".join([*_met(manifest, version, handshake), *_judged(grade, summary, version)]))
    return OK if grade.letter == "A" else WRONG


def _run_whole(session: Session) -> Summary:
    """Run all cases. Raises KeyboardInterrupt where somebody ends that: half a run gives no grade and no claim."""
    summary = session.run_all()
    if session.is_interrupted:
        raise KeyboardInterrupt
    return summary


def _met(manifest: Manifest, version: Version, handshake: float) -> Iterator[str]:
    """Return who it is and what it has. handshake: how many seconds it took."""
    yield f"{manifest.name} {manifest.version}, {manifest.vendor}"
    version_told = judged_as(manifest, version.value)
    yield f"interfaces: {', '.join(manifest.interfaces)}; {version_told}; handshake {handshake * 1000:.0f} ms"
    if len(manifest.options) > _OPTIONS:
        yield f"options: {', '.join(manifest.options)}; --json has what they mean"
        return
    yield from (f"option {name}: {meaning}" for name, meaning in manifest.options.items())


def _judged(grade: Grade, summary: Summary, version: Version) -> Iterator[str]:
    """Return how many cases pass, what is wrong with the rule that it breaks, what is missing, and the grade."""
    yield f"{grade.passed} of {grade.passed + grade.failed + grade.not_supported} smoke cases pass"
    yield from _failures([case for case in summary.verdicts if is_red(case.outcome, case.dispositions)])
    if grade.missing:
        yield f"methods of HAL {version} that are not implemented: {' '.join(grade.missing)}"
    yield from (f"coverage: {line}" for line in grade.uncovered)
    yield f"grade {grade.letter}: {grade.meaning}"


def _failures(red: Sequence[CaseResult]) -> Iterator[str]:
    """Return the first failures, a line each; the first of each symptom is explained below its line."""
    seen: set[Cause] = set()
    for result in red[:_SHOWN]:
        yield f"  {headline(result)}"
        if cause(result) not in seen:
            seen.add(cause(result))
            yield from (f"    {line}" for line in details(result))
    if len(red) > _SHOWN:
        yield f"  ... and {len(red) - _SHOWN} more failures"


def _grade(summary: Summary) -> Grade:
    interfaces, verdicts = summary.results.manifest.interfaces, summary.verdicts
    counts = Counter(case.outcome for case in verdicts)
    letter = letter_of(interfaces, verdicts)
    red = tuple(headline(case) for case in verdicts if is_red(case.outcome, case.dispositions))
    return Grade(
        letter,
        meaning_of(letter, interfaces, verdicts),
        counts[Outcome.PASS],
        len(red),
        counts.total() - counts[Outcome.PASS] - counts[Outcome.NOT_APPLICABLE] - len(red),
        red,
        summary.results.thin_coverage,
        tuple(missing_methods(verdicts, summary.results.hal_version)),
    )


def _write_claims(options: argparse.Namespace, path: Path) -> int:
    """Run all of vts, and write the claims that no verdict speaks against."""
    with reserved(path), closing(Session(session_options(options, report=None))) as session:
        cases = selection.select(Wanted(_CLAIMABLE)).cases
        with closing(progress_for(len(cases))) as progress:
            session.start(cases, sinks=[progress])
            verdicts = _run_whole(session).verdicts
        found = claim_proposals.proposed(verdicts, session.subject.version)
        write_text(path, claim_proposals.text(found))
    claimed = {name for claim in found for name in claim.operations}
    left = sorted({region.operation for region in claim_proposals.executed(verdicts)} - claimed)
    known = {name for claim in found if claim.known_sizes for name in claim.operations}
    only = f", {len(known)} of them for known sizes only" if known else ""
    print(f"{counted(len(found), 'claim')} about {counted(len(claimed), 'operation')}{only}: {path}")
    if left:
        print("executed, but something of it is refused or wrong, so not claimed:")
        print("\n".join(f"  {name}: {claim_proposals.spoken_against(name, verdicts)}" for name in left))
    return OK if found else WRONG
