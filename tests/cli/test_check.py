"""`npu-conformance check`: what a vendor hears of a plug-in in its first minutes, and which grade that earns."""

from __future__ import annotations

import json

import pytest
from vendor_command import Command

from npu_conformance.cli.commands._grades import _WORK, GRADES, meaning_of
from npu_conformance.specs.documents.results import CaseResult
from npu_conformance.specs.outcomes import Outcome


def test_a_check_names_what_does_not_work(command: Command) -> None:
    code, out, _ = command("check", "faulty_plugins:crasher")
    assert code == 1
    assert "interfaces: device; HAL 1.2; handshake" in out
    assert "  CRASH NNHAL-QUERY-013: vts.queries.type.legal: device.getType: the host process was killed" in out
    assert out.splitlines()[-1] == "grade D: the handshake works, but some first calls do not: see the failures"
    code, out, _ = command("check", "vendor_plugins:first_day", "--isolation", "inprocess", "--json")
    answer = json.loads(out)
    assert (code, answer["manifest"]["name"], answer["grade"]["letter"]) == (1, "first-day", "C")


def test_a_check_asks_the_npu_interfaces_too(command: Command) -> None:
    lines = command("check", "vendor_plugins:scheduling", "--isolation", "inprocess")[1].splitlines()
    following = "implement Scheduling.setCallback, which 2 cases tried in vain"
    assert lines[-1] == f"grade C: {GRADES['C']}: {following}"
    code, out, _ = command("check", "reference", "--isolation", "inprocess")
    assert (code, out.splitlines()[-1]) == (0, f"grade A: {GRADES['A']}: run the suites")
    assert out.splitlines()[2].startswith("options: hal, feature_level, "), "many options are one line"


@pytest.mark.parametrize(
    ("plugin", "letter", "following"),
    [
        ("reference", "A", "run the suites"),
        ("graded_plugins:half_right", "B", "see the failures"),
        ("vendor_plugins:first_day", "C", "let the driver support ADD or RELU, which are tried here, and execute it"),
        ("graded_plugins:idle", "C", "give the plug-in a workload interface, or --inference-tool, and report the work"),
        ("faulty_plugins:crasher", "D", "see the failures"),
        ("vendor_plugins:scheduling", "C", "implement Scheduling.setCallback, which 2 cases tried in vain"),
        (
            "vendor_plugins:uncontrolled",
            "E",
            "give the plug-in a manager_control that lets an app come and go, and grant a model",
        ),
    ],
)
def test_each_grade_is_earned(command: Command, plugin: str, letter: str, following: str) -> None:
    code, out, _ = command("check", plugin)
    assert out.splitlines()[-1] == f"grade {letter}: {GRADES[letter]}: {following}"
    assert code == (0 if letter == "A" else 1)


def test_a_check_names_the_method_that_is_missing(command: Command) -> None:
    code, out, _ = command("check", "graded_plugins:lacking", "--isolation", "inprocess")
    lines = out.splitlines()
    assert "methods of HAL fl8 that are not implemented: Device.getVersionString" in lines
    assert (code, lines[-1]) == (1, f"grade D: {GRADES['D']}: implement the methods that are missing")
    assert "FAIL" not in out


def test_what_is_red_comes_before_what_is_missing() -> None:
    case = "vts.npu_scheduling.callback.set"
    for outcome, following in ((Outcome.FAIL, "see the failures"), (Outcome.NOT_SUPPORTED, _WORK["scheduling"].next)):
        verdicts = [CaseResult(case=case, outcome=outcome, own_outcome=outcome)]
        assert meaning_of("E", ("scheduling",), verdicts) == f"{GRADES['E']}: {following}"


def test_an_interface_that_misses_a_method_is_told_which() -> None:
    case = CaseResult(
        case="cts.npu_manager.lifecycle.grant",
        outcome=Outcome.NOT_SUPPORTED,
        own_outcome=Outcome.NOT_SUPPORTED,
        interface="manager",
        message="Manager.setPolicy is not implemented",
    )
    told = f"{GRADES['E']}: implement Manager.setPolicy, which 1 case tried in vain"
    assert meaning_of("E", ("manager",), [case]) == told


def test_check_as_json_tells_what_is_wrong_from_what_is_not_supported(command: Command) -> None:
    told = json.loads(command("check", "vendor_plugins:first_day", "--json")[1])
    grade = told["grade"]
    assert grade["failed"] == len(grade["failures"])
    assert grade["not_supported"] > 0


def test_the_help_of_check_has_the_table_of_grades(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command("check", "--help")
    assert [f"  {letter}  {meaning}" for letter, meaning in GRADES.items()] == [
        line for line in capsys.readouterr().out.splitlines() if line[:4].strip() in GRADES and line[:2] == "  "
    ]
