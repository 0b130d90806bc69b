"""A failing PAD in every form that a failure is shown in: what the case is about, the rule, expected and actual."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest
import warm_python

from npu_conformance.cli.main import main
from npu_conformance.harness.report.lines import attribution, explain
from npu_conformance.harness.report.rule import where
from npu_conformance.specs import requirements
from npu_conformance.specs.documents.results import CaseResult, ConfigurationResult, Note
from npu_conformance.specs.outcomes import Outcome

ROOT = Path(__file__).parents[3]
WORDS = ("--plugin", "npu_conformance.faults.plugin:plugin", "--plugin-option", "fault=pad-raw-zero")
NAME = "vts.generated.PAD.quant8_rank1"
CASE = "PAD, TENSOR_QUANT8_ASYMM [3], paddings [[1, 2]], zero point 9"
SENTENCE = "PAD computes what the operation catalogue describes, within the accuracy rules."
SOURCE = "operation catalogue, PAD (specs/neuralnetworks/operations/pad.json); AOSP OperationType.aidl, PAD"
RULE = (
    f"case: {CASE}",
    f"requirement: {SENTENCE} (NNHAL-OPERATION-PAD-RESULT, ",
    f"source: {SOURCE}",
    "expected: 9, 9, 9",
    "actual:   0, 0, 0",
)
REPLAY = f"npu-conformance replay {{}}failures/{NAME}.json {' '.join(WORDS)}"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report folder of a run on a driver whose PAD is wrong; beside it what the run printed."""
    folder = tmp_path_factory.mktemp("rule") / "report"
    few = ("vts.generated.PAD.*", "-k", "not of_300 and not large_steps")
    command = ("-m", "npu_conformance", "run", *few, *WORDS, "--report", str(folder))
    done = warm_python.run(*command, cwd=folder.parent)
    assert done.returncode == 1, done.stderr
    (folder / "printed.out").write_text(done.stdout)
    (folder / "printed.err").write_text(done.stderr)
    return folder


def block(text: str) -> list[str]:
    """The lines of the first explanation in a text."""
    lines = text.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("FAIL "))
    return [lines[start], *(line for line in _indented(lines[start + 1 :]))]


def _indented(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if not line.startswith("  "):
            return
        yield line.strip()


def says(lines: list[str]) -> bool:
    """True where some line says each part of the rule."""
    return all(any(line.startswith(part) for line in lines) for part in RULE)


def test_the_terminal(report: Path) -> None:
    told = block((report / "printed.out").read_text())
    assert told[0].startswith(f"FAIL NNHAL-OPERATION-PAD-RESULT: {NAME}: ")
    assert says(told), told
    assert len(told) <= 12
    assert told[-1].startswith(REPLAY.format(f"{report}/"))


def test_many_failures_of_one_cause_are_led_by_the_symptom(report: Path) -> None:
    lines = (report / "printed.out").read_text().splitlines()
    start = lines.index("what is wrong, most frequent first:")
    types = "TENSOR_QUANT8_ASYMM, TENSOR_QUANT8_ASYMM_SIGNED, TENSOR_INT32"
    assert lines[start + 1] == f"     56 fail: output 'output': 2..168 of 5..180 elements outside 1 (PAD; {types})"
    assert lines[start + 2].startswith("      3 fail: output 'output' against that of the unsigned counterpart")
    assert [line for line in lines if line.startswith("FAIL ")] == [lines[start + 3], lines[start + 3 + 10]]
    assert len([line for line in (report / "printed.err").read_text().splitlines() if line.startswith("FAIL ")]) == 2


def test_the_page(report: Path) -> None:
    page = unescape((report / "report.html").read_text())
    wrong = page[page.index('<section id="failures"') : page.index('<section id="operations"')]
    first = wrong[wrong.index("<pre>") + 5 : wrong.index("</pre>")].splitlines()
    assert says(first), first
    assert first[-1].startswith(f"$ {REPLAY.format(f'{report}/')}")
    assert wrong.index("<li>56 fail: output") < wrong.index("<details")
    examples = wrong.partition("</ul>")[2]
    assert examples.index("53 more of the same") < examples.index("against that of the unsigned counterpart")


def test_junit(report: Path) -> None:
    suite = ElementTree.parse(report / "junit.xml").getroot()[0]
    texts = [failure.text or "" for failure in suite.iter("failure")]
    assert len(texts) == 59
    assert says(block(texts[0]))
    assert block(texts[0])[-1].startswith(REPLAY.format(f"{report}/"))
    assert sum(SENTENCE in text and SOURCE in text for text in texts) == 56
    assert all("\n  case: PAD, " in text and "\n  requirement: " in text and "\n  source: " in text for text in texts)


def test_the_failure_file(report: Path) -> None:
    document = json.loads((report / "failures" / f"{NAME}.json").read_text())
    assert document["description"] == CASE
    first = document["result"]["configurations"][0]
    told = " (of 3 wrong elements)"
    assert (first["expected"], first["found"]) == (f"9, 9, 9{told}", f"0, 0, 0{told}")
    notes = document["result"]["notes"]
    assert (notes["requirement"], notes["statement"]) == ("NNHAL-OPERATION-PAD-RESULT", SENTENCE)
    assert notes["source"] == SOURCE
    assert notes["replay"].startswith(REPLAY.format(f"{report}/"))


def test_a_replay(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(report / "failures" / f"{NAME}.json"), *WORDS]) == 1
    out = capsys.readouterr().out
    assert out.startswith("was fail, now fail\n")
    assert says(block(out))
    assert main(["replay", str(report / "failures" / f"{NAME}.json"), "--plugin", "reference"]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == ["was fail, now pass", f"case: {CASE}"]


def test_the_report_again(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(report), "--failures"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[1].startswith("     56 fail: ")
    assert says(block(out))
    assert block(out)[-1].startswith(REPLAY.format(f"{report}/"))


def test_pytest(tmp_path: Path) -> None:
    command = [
        "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly", "-q", "--npu-plugin", WORDS[1],
        "--npu-option", WORDS[3], "--npu-report", str(tmp_path / "report"),
        f"{ROOT}/vts/generated.py", "-k", "PAD and quant8_rank1", "--junitxml", str(tmp_path / "junit.xml"),
    ]  # fmt: skip
    done = warm_python.run(*command, cwd=tmp_path)
    assert says(block(done.stdout)), done.stdout
    assert block(done.stdout)[-1].startswith(REPLAY.format(f"{tmp_path}/report/"))
    leading, _, others = done.stdout.partition("= FAILURES =")
    assert "what is wrong, most frequent first:" in leading
    assert others.count(SENTENCE) == 1, "the others of a symptom take a line"
    assert f"\n  as explained at {NAME}\n" in others
    texts = [failure.text or "" for failure in ElementTree.parse(tmp_path / "junit.xml").getroot().iter("failure")]
    assert len(texts) > 3
    assert all(SENTENCE in text for text in texts)


def test_a_crash_and_a_hang_say_the_rule_too() -> None:
    many = tuple(
        ConfigurationResult(
            name=f"c{number}", outcome=Outcome.CRASH, message=f"call {number}", signal=11, stderr="a\n" * 9
        )
        for number in range(30)
    )
    names = ("NNHAL-OPERATION-PAD-RESULT", "NNHAL-SUPPORT-001")
    notes: dict[str, Note] = {"description": CASE, "failure_file": "x.json"}
    crash = CaseResult(
        case="vts.generated.PAD.c", outcome=Outcome.CRASH, configurations=many, requirements=names, notes=notes
    )
    text = explain(crash, replay="npu-conformance replay x.json")
    assert f"  requirement: {SENTENCE} (NNHAL-OPERATION-PAD-RESULT, and 1 more)" in text
    assert "\n  signal 11\n" in text
    assert len(text.splitlines()) <= 12
    hang = CaseResult(case="vts.generated.PAD.h", outcome=Outcome.HANG, message="no answer", requirements=names)
    assert f"source: {SOURCE}" in explain(hang)
    assert "to wait less for each answer: --longest-wait SECONDS" in explain(hang)
    assert "to wait less" not in explain(hang, replay="npu-conformance replay x.json --plugin p --longest-wait 2")


def test_a_configuration_names_what_it_is_about_first() -> None:
    broken = ("NNHAL-SUPPORT-009",)
    parts = (ConfigurationResult(name="twin", outcome=Outcome.FAIL, message="no", requirements=broken, broken=broken),)
    result = CaseResult(case="vts.a.b.c", outcome=Outcome.FAIL, configurations=parts, requirements=("A-1",))
    assert attribution(result) == "NNHAL-SUPPORT-009"
    assert "(NNHAL-SUPPORT-009, and 1 more)" in explain(result)


def test_what_did_not_run_and_a_bug_of_the_suite_break_no_rule() -> None:
    for outcome in (Outcome.NOT_RUN, Outcome.SUITE_ERROR):
        result = CaseResult(case="vts.a.b.c", outcome=outcome, message="why", requirements=("NNHAL-QUERY-011",))
        assert "requirement:" not in explain(result)


def test_a_requirement_that_is_not_known_here_is_named() -> None:
    result = CaseResult(
        case="vts.a.b.c", outcome=Outcome.FAIL, message="no", requirements=("NNHAL-OPERATION-MINE-RESULT",)
    )
    assert explain(result).splitlines()[1:] == ["  requirement: NNHAL-OPERATION-MINE-RESULT"]


def test_every_source_of_the_catalogue_can_be_looked_up() -> None:
    for entry in requirements.operation_requirements("PAD"):
        path = where(entry).partition("(")[2].partition(")")[0]
        assert (ROOT / path).is_file(), where(entry)
    assert where(requirements.requirement("NNHAL-OPERATION-PAD-C3")) == (
        "operation catalogue, PAD, clause C3 (specs/neuralnetworks/rules/pad.py); AOSP OperationType.aidl, PAD"
    )
    assert where(requirements.requirement("NNHAL-QUERY-009")) == (
        'AOSP neuralnetworks/1.2/types.hal, the public page "NNAPI drivers" (on query)'
    )
