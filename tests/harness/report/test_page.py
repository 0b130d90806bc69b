"""The page, the table and the colours: what a vendor would send around, from any verdicts, hostile ones included."""

from __future__ import annotations

import io
import re

import pytest
from made_runs import CRASHED, FAILED, MIXED, PLUGIN, WARNED, case, html, summary, waiver
from msgspec.structs import replace

from npu_conformance.harness.report.console import Console
from npu_conformance.harness.report.lines import warnings
from npu_conformance.harness.report.sections.operations import matrix
from npu_conformance.specs.documents.results import ConfigurationResult
from npu_conformance.specs.outcomes import Disposition, Outcome


def test_the_gravest_come_first_with_explanation_and_command() -> None:
    text = html(MIXED)
    wrong = text[text.index('<section id="failures"') : text.index('<section id="operations"')]
    assert wrong.index("vts.generated.PAD.c") < wrong.index("vts.generated.PAD.b")
    assert "stderr: assert x" in wrong
    assert f"$ npu-conformance replay folder/failures/vts.generated.PAD.b.json {PLUGIN}" in wrong
    assert "<b>NNHAL-OPERATION-PAD-RESULT</b>" in wrong


def test_operations_and_types_are_told_by_the_gravest() -> None:
    told = summary(*MIXED)
    rows = {operation: cells[0] for operation, cells in matrix(told.results, told.verdicts).rows}
    found = {
        name: (cell.gravest, cell.sign, cell.passed, cell.asked, cell.others) for name, cell in rows.items() if cell
    }
    assert found == {
        "ADD": ("pass", "✓", 1, 1, ""),
        "PAD": ("crash", "✗", 1, 3, "1 fail, 1 crash"),
        "SOFTMAX": ("not-supported", "–", 0, 1, ""),
    }
    assert [name for name, cell in rows.items() if cell and cell.warned] == ["ADD"]


def test_what_was_refused_colours_nothing() -> None:
    refusals = [case("IF.rejected", executed={}), case("IF.accepted", Outcome.FAIL, group="validation")]
    assert "Operations and types" not in html([*refusals, case("RANK.new", Outcome.NOT_APPLICABLE)])


def test_who_executed_what_stands_in_a_table() -> None:
    """A driver has the cases in which it executed the operation, the CPU those in which nobody else did."""
    both = case("ADD.a", executed_by={"npu": ("ADD",), "nnapi-reference": ("ADD", "CAST")})
    text = html([both, case("ADD.b", Outcome.FAIL, executed_by={"npu": ("ADD",)})])
    table = text[text.index('<section id="work"') :]
    rows = re.findall(r'<tr><th scope="row">(.*?)</tr>', table[: table.index("</table>")])
    assert [re.sub("<[^>]*>", " ", row).split() for row in rows] == [
        ["ADD", "✗", "1/2", "1", "fail", "1"],
        ["CAST", "✓", "1"],
    ]
    assert "1 operation by the CPU alone" in text
    assert "Who executed what" not in html(MIXED)


def test_a_scalar_is_told_from_a_tensor_of_its_type() -> None:
    told = summary(case("PAD.a", Outcome.FAIL, types=("FLOAT32", "TENSOR_FLOAT32")))
    assert matrix(told.results).types == ("float32 scalar", "float32")


def test_warnings_are_told_once_for_configurations_that_say_the_same() -> None:
    parts = tuple(ConfigurationResult(name=name, outcome=Outcome.PASS, warnings=("3 ULP",)) for name in "abc")
    assert warnings(case("ADD.w", configurations=parts)) == ["#a, #b and 1 more: 3 ULP"]
    assert "1 quality warning<" in html([WARNED])


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
    assert "1 case with a quality warning: npu-conformance report folder --warnings" in lines
    assert lines[-1] == "report: folder (report.html, results.json, junit.xml, failures/)"


def test_a_long_list_of_names_is_folded() -> None:
    """Of who supports little there are a hundred operations, before what is wrong is told."""
    names = [f"OP_{number:02}" for number in range(12)]
    verdicts = [case("PAD.a"), *(case(f"{name}.a", Outcome.NOT_SUPPORTED) for name in names)]
    coverage = "1 of 13 operations have a passing case; none: " + " ".join(names[:8])
    assert f"coverage: {coverage} and 4 more" in summary(*verdicts).lines()
    folded = f"{coverage}<details><summary>and 4 more</summary>{' '.join(names[8:])}</details>"
    assert folded in html(verdicts)
    assert " ".join(names) in summary(*verdicts).results.thin_coverage[-1]


def test_a_folder_of_failures_is_named_only_where_there_is_one() -> None:
    assert summary(case("PAD.a")).lines()[-1] == "report: folder (report.html, results.json, junit.xml)"


def test_what_is_waived_or_known_is_explained_behind_what_is_wrong() -> None:
    known = replace(FAILED, case="vts.generated.PAD.known", dispositions=(Disposition.KNOWN,))
    text = html([FAILED, known, CRASHED], waivers=[waiver("vts.generated.PAD.c")])
    wrong, excused = text.index('<section id="failures"'), text.index('<section id="excused"')
    assert "PAD.c" not in text[wrong:excused]
    told = text[excused : text.index("</section>", excused)]
    assert "1 known, 1 waived" in told
    assert told.count('<details class="failure"><summary>') == 2
    assert "crash</b> (waived)" in told
    assert f"$ npu-conformance replay folder/failures/vts.generated.PAD.b.json {PLUGIN}" in told
    next_step = "explain all of them, and 1 known, 1 waived: npu-conformance report folder --failures"
    assert next_step in summary(FAILED, known, CRASHED, waivers=[waiver("vts.generated.PAD.c")]).lines()
    alone = "explain what is excused, 1 known: npu-conformance report folder --failures"
    assert alone in summary(known).lines()


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
