"""Lines: what explains a verdict comes first."""

from __future__ import annotations

from msgspec.structs import replace

from npu_conformance.harness.report.lines import explain, headline, whole_words
from npu_conformance.specs.documents.results import CaseResult, ConfigurationResult
from npu_conformance.specs.outcomes import Outcome

FAILED = CaseResult(
    case="vts.generated.PAD.quant8[nchw]",
    outcome=Outcome.FAIL,
    requirements=("NNHAL-OPERATION-PAD-RESULT",),
    configurations=(
        ConfigurationResult(name="synchronous.untimed", outcome=Outcome.PASS),
        ConfigurationResult(name="synchronous.timed", outcome=Outcome.FAIL, message="output: expected 3, found 0"),
    ),
)


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
    said = replace(crashed, message="killed by SIGSEGV (signal 11)")
    assert "  signal 11" not in explain(said).splitlines()


def test_a_crash_shows_the_beginning_of_a_report_and_not_its_legend() -> None:
    report = "==1==ERROR: AddressSanitizer: heap-use-after-free on 0x6\n    #0 0x5 in match a.c:6:8\n\nSUMMARY: "
    stderr = f"{report}AddressSanitizer: heap-use-after-free a.c:6:8 in match\nShadow byte legend\n==1==ABORTING\n"
    crashed = CaseResult(case="vts.a.b.c", outcome=Outcome.CRASH, message="died", stderr=stderr)
    assert explain(crashed).splitlines()[1:3] == [
        "  stderr: ==1==ERROR: AddressSanitizer: heap-use-after-free on 0x6",
        "  stderr: #0 0x5 in match a.c:6:8",
    ]


def test_a_failure_that_is_replayed_alone_shows_all_that_was_printed() -> None:
    stack = "\n".join(f"#{number} in f{number}" for number in range(5))
    crashed = CaseResult(case="vts.a.b.c", outcome=Outcome.CRASH, message="died", stdout=stack, stderr="one\nlast")
    assert [*whole_words(crashed)] == ["the driver's stdout:", *(f"  #{number} in f{number}" for number in range(5))]


def test_the_steps_that_led_to_a_failure_are_told_below_it() -> None:
    stepwise = CaseResult(case="vts.a.b.c", outcome=Outcome.FAIL, message="3 ms, expected 5\nSteps:\n  1. a\n  2. b")
    assert explain(stepwise, replay="again").splitlines() == [
        "FAIL vts.a.b.c: 3 ms, expected 5",
        "  Steps:",
        "    1. a",
        "    2. b",
        "  again",
    ]
    part = ConfigurationResult(name="one", outcome=Outcome.FAIL, message=stepwise.message)
    assert explain(CaseResult(case="vts.a.b.c", outcome=Outcome.FAIL, configurations=(part,))).splitlines() == [
        "FAIL vts.a.b.c: #one: 3 ms, expected 5",
        "  Steps:",
        "    1. a",
        "    2. b",
        "  1 of 1 configurations: fail",
    ]


def test_the_last_words_of_one_host_are_not_those_of_another() -> None:
    silent = ConfigurationResult(name="one", outcome=Outcome.CRASH, message="killed by SIGSEGV", signal=11)
    telling = ConfigurationResult(name="two", outcome=Outcome.CRASH, message="aborted", stderr="npu0: assert")
    crashed = CaseResult(
        case="vts.a.b.c", outcome=Outcome.CRASH, configurations=(silent, telling), stderr="npu0: assert"
    )
    assert "npu0" not in explain(crashed)
    assert "stderr: npu0: assert" in explain(replace(crashed, configurations=(telling, silent)))
