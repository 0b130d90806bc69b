"""Lines and JUnit: what explains a verdict comes first, hostile text does no harm."""

from __future__ import annotations

from xml.etree import ElementTree

from npu_conformance.harness.report import junit
from npu_conformance.harness.report.lines import ReplayCommands, explain, headline
from npu_conformance.specs.documents.results import CaseResult, ConfigurationResult
from npu_conformance.specs.outcomes import Disposition, Outcome

FAILED = CaseResult(
    case="vts.generated.PAD.quant8[nchw]",
    outcome=Outcome.FAIL,
    requirements=("NNHAL-OPERATION-PAD-RESULT",),
    configurations=(
        ConfigurationResult(name="synchronous.untimed", outcome=Outcome.PASS),
        ConfigurationResult(name="synchronous.timed", outcome=Outcome.FAIL, message="output: expected 3, found 0"),
    ),
)
REPLAYS = ReplayCommands("failures", "--plugin p")


def test_the_headline_names_outcome_case_and_reason() -> None:
    assert headline(FAILED) == (
        "FAIL NNHAL-OPERATION-PAD-RESULT: vts.generated.PAD.quant8[nchw]: "
        "#synchronous.timed: output: expected 3, found 0"
    )


def test_the_explanation_names_the_requirements() -> None:
    assert "(NNHAL-OPERATION-PAD-RESULT)" in explain(FAILED)
    assert "synchronous.untimed" not in explain(FAILED)


def test_a_crash_shows_signal_and_last_words() -> None:
    crashed = CaseResult(case="vts.a.b.c", outcome=Outcome.CRASH, message="died", signal=11, stderr="one\nlast")
    assert explain(crashed).splitlines() == ["CRASH vts.a.b.c: died", "  signal 11", "  stderr: one", "  stderr: last"]


def test_junit_counts_and_survives_hostile_text() -> None:
    hostile = CaseResult(case="vts.a.b.d", outcome=Outcome.CRASH, message="\x00<&\x1b[31m]]>")
    waived = CaseResult(case="vts.a.b.e", outcome=Outcome.FAIL, dispositions=(Disposition.WAIVED,))
    passed = CaseResult(case="vts.a.b.f", outcome=Outcome.PASS)
    suite = ElementTree.fromstring(junit.document([FAILED, hostile, waived, passed], "p", REPLAYS))[0]
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
    }
    first = suite[0]
    assert (first.get("classname"), first.get("name")) == ("vts.generated.PAD", "quant8[nchw]")
