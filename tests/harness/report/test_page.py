"""The page, the table and the colours: what a vendor would send around, from any verdicts, hostile ones included."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from npu_conformance.harness.report import page
from npu_conformance.harness.report.console import Console
from npu_conformance.harness.report.lines import ReplayCommands, warnings
from npu_conformance.harness.run import results
from npu_conformance.harness.run.events import Log
from npu_conformance.harness.run.session import Summary
from npu_conformance.specs.documents.results import (
    FORMAT,
    CaseFinished,
    CaseResult,
    ConfigurationResult,
    Digests,
    RunFinished,
    RunStarted,
    Selection,
)
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.outcomes import Disposition, Outcome

PLUGIN = "--plugin my_vendor --hal 1.2"


def summary(*verdicts: CaseResult) -> Summary:
    """A run that came to its end with these verdicts."""
    log = Log()
    manifest = Manifest(name="toy", vendor="tests", version="1")
    log.add(
        RunStarted(
            format=FORMAT, suite_version="0", digests=Digests(), manifest=manifest, hal_version="1.2", seed=0,
            shuffled=False, selection=Selection(), cases=tuple(each.case for each in verdicts), time="now",
        )
    )  # fmt: skip
    for verdict in verdicts:
        log.add(CaseFinished(result=verdict))
    counted: dict[str, int] = {}
    for verdict in verdicts:
        counted[verdict.outcome.value] = counted.get(verdict.outcome.value, 0) + 1
    log.add(RunFinished(counts=counted, seconds=1.0, ending="complete"))
    return Summary(results.build(log), verdicts, Path("folder"), PLUGIN)


def case(name: str, outcome: Outcome = Outcome.PASS, **fields: object) -> CaseResult:
    """A verdict on an operation."""
    operation, _, _ = name.partition(".")
    given: dict[str, Any] = {
        "requirements": (f"NNHAL-OPERATION-{operation}-RESULT",), "types": ("TENSOR_FLOAT32",),
        "executed": {operation: ("TENSOR_FLOAT32",)} if outcome is Outcome.PASS else {},
    }  # fmt: skip
    return CaseResult(
        case=f"vts.generated.{name}",
        outcome=outcome,
        own_outcome=outcome,
        operations=(operation,),
        **{**given, **fields},
    )


FAILED = case(
    "PAD.b", Outcome.FAIL, message="output: expected 3, found <0>",
    notes={"failure_file": "vts.generated.PAD.b.json"},
)  # fmt: skip
CRASHED = case("PAD.c", Outcome.CRASH, message="prepareModel: killed by SIGSEGV", signal=11, stderr="assert x")
WARNED = case("ADD.w", dispositions=(Disposition.QUALITY_WARNING,), warnings=("ADD: 3 ULP, allowed 2",))
UNSUPPORTED = case("SOFTMAX.u", Outcome.NOT_SUPPORTED, message="the device does not take SOFTMAX")
MIXED = (case("PAD.a"), FAILED, CRASHED, WARNED, UNSUPPORTED)


def html(verdicts: Iterable[CaseResult]) -> str:
    """The page of a run with these verdicts."""
    told = summary(*verdicts)
    return page.document(told.results, told.verdicts, ReplayCommands("failures", told.plugin_words))


def test_the_gravest_come_first_with_explanation_and_command() -> None:
    text = html(MIXED)
    wrong = text[text.index("What is wrong") : text.index("Operations and types")]
    assert wrong.index("vts.generated.PAD.c") < wrong.index("vts.generated.PAD.b")
    assert "stderr: assert x" in wrong
    assert f"$ npu-conformance replay failures/vts.generated.PAD.b.json {PLUGIN}" in wrong
    assert "<b>NNHAL-OPERATION-PAD-RESULT</b>" in wrong


def test_operations_and_types_are_coloured_by_the_gravest() -> None:
    text = html(MIXED)
    assert '<tr><th>PAD<td class="cell crash" title="1 pass, 1 fail, 1 crash">1/3' in text
    assert '<tr><th>ADD<td class="cell pass" title="1 pass">1/1' in text
    assert '<tr><th>SOFTMAX<td class="cell not-supported"' in text


def test_what_was_refused_colours_nothing() -> None:
    refusals = [case("IF.rejected", executed={}), case("IF.accepted", Outcome.FAIL, group="validation")]
    assert "Operations and types" not in html([*refusals, case("RANK.new", Outcome.NOT_APPLICABLE)])


def test_a_scalar_is_told_from_a_tensor_of_its_type() -> None:
    text = html([case("PAD.a", Outcome.FAIL, types=("FLOAT32", "TENSOR_FLOAT32"))])
    assert "<th><span>float32 scalar</span><th><span>float32</span>" in text


def test_the_page_needs_no_network_and_no_trust() -> None:
    text = html([*MIXED, case("MUL.x", Outcome.FAIL, message="</pre><script>alert(1)</script>")])
    assert "found &lt;0&gt;" in text
    assert "<script>alert" not in text
    assert not re.search(r"(src|href)=|https?://|@import|url\(", text)


def test_warnings_are_told_once_for_configurations_that_say_the_same() -> None:
    parts = tuple(ConfigurationResult(name=name, outcome=Outcome.PASS, warnings=("3 ULP",)) for name in "abc")
    assert warnings(case("ADD.w", configurations=parts)) == ["#a, #b and 1 more: 3 ULP"]
    assert "1 quality warnings" in html([WARNED])


def test_a_page_of_five_thousand_cases_is_small() -> None:
    names = tuple(f"NNHAL-EXECUTE-{number:03}" for number in range(10))
    many = [case(f"CONV_2D.float32_same_stride{number}[all_inputs_as_internal]", requirements=names)
            for number in range(5000)]  # fmt: skip
    red = [case(f"PAD.b{number}", Outcome.FAIL, message="output: " + "expected 3, found 4; " * 20, requirements=names)
           for number in range(1000)]  # fmt: skip
    assert len(html([*many, *red])) < 3_000_000


def test_the_table_says_what_to_do_next() -> None:
    lines = summary(*MIXED).lines()
    assert lines[0].split() == ["pass", "fail", "crash", "not-supported"]
    assert lines[1].split() == ["all", "2", "1", "1", "1"]
    start = lines.index("what is wrong, most frequent first:")
    assert [line.split() for line in lines[start + 1 : start + 3]] == [
        ["1", "fail:", "output:", "expected", "3", "(PAD;", "TENSOR_FLOAT32)"],
        ["1", "crash:", "prepareModel:", "killed", "by", "SIGSEGV", "(PAD;", "TENSOR_FLOAT32)"],
    ]
    assert f"  npu-conformance replay folder/failures/vts.generated.PAD.b.json {PLUGIN}" in lines
    assert "1 cases with a quality warning: npu-conformance report folder --warnings" in lines
    assert lines[-1] == "report: folder (report.html, results.json, junit.xml, failures/)"


def test_reasons_that_differ_in_numbers_are_one_kind() -> None:
    verdicts = [case(f"PAD.b{number}", Outcome.FAIL, message=f"output: {number} of 10 outside") for number in range(7)]
    lines = summary(*verdicts).lines()
    assert (
        lines[lines.index("what is wrong, most frequent first:") + 1]
        == "      7 fail: output: 0..6 of 10 outside (PAD; TENSOR_FLOAT32)"
    )


class Terminal(io.StringIO):
    """A stream that says it is one."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environment", "coloured"),
    [
        (Terminal(), {}, True),
        (io.StringIO(), {}, False),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"TERM": "dumb"}, False),
    ],
)
def test_colour_is_for_terminals(
    stream: io.StringIO, environment: dict[str, str], coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    console = Console(stream)
    text = "\n".join(summary(*MIXED).lines(console.paint))
    assert ("\033[31m" in text) is coloured
    assert re.sub(r"\033\[\d*m", "", text) == "\n".join(summary(*MIXED).lines())
