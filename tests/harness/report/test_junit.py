"""JUnit: what Jenkins' schema junit-10 allows and no more, and all that a reader wants to know of a run."""

from __future__ import annotations

import datetime
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from made_runs import case, summary, waiver

from npu_conformance.harness.report import junit
from npu_conformance.harness.report.lines import ReplayCommands
from npu_conformance.harness.run import results
from npu_conformance.harness.run.events import Log
from npu_conformance.specs.documents.results import FORMAT, CaseFinished, CaseResult, Digests, RunStarted, Selection
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.outcomes import Disposition, Outcome

_COUNTED = ("name", "tests", "failures", "errors")
REQUIRED = {
    "testsuites": (), "testsuite": _COUNTED, "properties": (), "property": ("name", "value"), "testcase": ("name",),
    "failure": (), "error": (), "skipped": (), "system-out": (),
}  # fmt: skip
ALLOWED = {
    "testsuites": (*_COUNTED, "time"),
    "testsuite": (*_COUNTED, "time", "skipped", "timestamp", "hostname"),
    "property": ("name", "value"),
    "testcase": ("name", "time", "classname"),
    **dict.fromkeys(("failure", "error", "skipped"), ("type", "message")),
}
CHILDREN = {
    "testsuites": ("testsuite",),
    "testsuite": ("properties", "testcase"),
    "properties": ("property",),
    "testcase": ("failure", "error", "skipped", "system-out"),
}

FAILED = CaseResult(
    case="vts.generated.PAD.quant8[nchw]",
    outcome=Outcome.FAIL,
    message="expected 3, found 0",
    seconds=0.25,
    requirements=("NNHAL-OPERATION-PAD-RESULT", "NNHAL-MODEL-001"),
    notes={"failure_file": "pad it.json"},
)
HOSTILE = CaseResult(case="vts.a.b.d", outcome=Outcome.CRASH, message="\x00<&\x1b[31m]]>\ud800\n\"'")
WAIVED = CaseResult(case="vts.a.b.e", outcome=Outcome.FAIL, dispositions=(Disposition.WAIVED,))
PASSED = CaseResult(case="vts.a.b.f", outcome=Outcome.PASS, seconds=0.5)


@pytest.fixture(scope="module")
def root() -> Element:
    """The document of a run of four cases in two areas."""
    verdicts = [FAILED, HOSTILE, WAIVED, PASSED]
    log = Log()
    log.add(
        RunStarted(
            format=FORMAT, suite_version="0.7", digests=Digests(), hal_version="1.2", seed=5, shuffled=False,
            manifest=Manifest(name="toy", vendor="tests", version="1"), selection=Selection(scope="smoke"),
            cases=tuple(verdict.case for verdict in verdicts), time="2026-11-22T18:51:56+00:00",
        )
    )  # fmt: skip
    for verdict in verdicts:
        log.add(CaseFinished(result=verdict))
    replays = ReplayCommands("out put/failures", "--plugin 'exec:./driver -v'")
    return ElementTree.fromstring(junit.document(results.build(log), verdicts, replays))


def test_elements_and_attributes_are_those_of_the_schema(root: Element) -> None:
    for element in root.iter():
        missing = set(REQUIRED[element.tag]) - set(element.keys())
        unknown = set(element.keys()) - set(ALLOWED.get(element.tag, ()))
        foreign = {child.tag for child in element} - set(CHILDREN.get(element.tag, ()))
        assert (missing, unknown, foreign) == (set(), set(), set()), element.tag


def test_each_area_is_a_suite_with_its_counts(root: Element) -> None:
    names = ("name", "tests", "failures", "errors", "skipped", "time")
    assert [[suite.get(name) for name in names] for suite in root] == [
        ["vts.generated", "1", "1", "0", "0", "0.250"],
        ["vts.a", "3", "0", "1", "1", "0.500"],
    ]
    assert [root.get(name) for name in names] == ["toy", "4", "1", "1", None, "0.750"]


def test_what_turns_a_run_red_without_a_case_is_a_failure_too() -> None:
    """Such as a waiver that has expired: a CI may read nothing else."""
    expired = waiver("vts.queries.*", datetime.date(2029, 1, 1))
    red = summary(case("vts.queries.status.available"), waivers=[expired])
    assert red.exit_code == 1
    made = ElementTree.fromstring(junit.document(red.results, red.verdicts, ReplayCommands("", "")))
    assert [made.get(name) for name in ("tests", "failures", "errors")] == ["2", "1", "0"]
    (failure,) = made.iter("failure")
    assert (failure.get("message") or "").endswith("expired on 2029-01-01")
    green = summary(case("vts.queries.status.available"))
    assert "findings" not in junit.document(green.results, green.verdicts, ReplayCommands("", ""))


def test_a_suite_says_what_ran_where_and_when(root: Element) -> None:
    for suite in root:
        assert (suite.get("timestamp"), bool(suite.get("hostname"))) == ("2026-11-22T18:51:56", True)
        assert suite[0].tag == "properties", "they come first"
        assert {each.get("name"): each.get("value") for each in suite[0]} == {
            "plug-in": "toy 1",
            "plug-in options": "--plugin 'exec:./driver -v'",
            "tested as": "HAL 1.2",
            "seed": "5",
            "scope": "smoke",
            "npu-conformance": "0.7",
        }


def test_a_case_has_its_requirements_and_the_command_that_replays_it(root: Element) -> None:
    case = root[0][1]
    assert (case.get("classname"), case.get("name")) == ("vts.generated.PAD", "quant8[nchw]")
    failure, told = case
    assert failure.get("message") == "fail: expected 3, found 0"
    command = "npu-conformance replay 'out put/failures/pad it.json' --plugin 'exec:./driver -v'"
    assert (failure.text or "").splitlines()[-1].strip() == command
    assert (told.text or "").splitlines() == [
        "[[PROPERTY|requirement=NNHAL-OPERATION-PAD-RESULT]]",
        "[[PROPERTY|requirement=NNHAL-MODEL-001]]",
    ]


def test_hostile_text_does_no_harm(root: Element) -> None:
    (error,) = root.iter("error")
    assert error.get("message") == "crash: ?<&?[31m]]>?"
