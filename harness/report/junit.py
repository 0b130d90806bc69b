"""JUnit XML of a run, for continuous integration: one test case for each case, failures with their explanation."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree

from npu_conformance.harness.judge.outcome_table import JunitElement, row
from npu_conformance.harness.report.lines import ReplayCommands, explain, first_reason
from npu_conformance.specs.documents.results import CaseResult

_ILLEGAL = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 65534, 65535), "?")
"""Characters that XML cannot carry, as a hostile device may put into its messages."""


def document(results: Iterable[CaseResult], name: str, replays: ReplayCommands) -> str:
    """Return the XML text. replays: makes the commands that run failures again, from the folder of the report."""
    verdicts = list(results)
    elements = [row(result.outcome, result.dispositions).junit for result in verdicts]
    counts: dict[str, JunitElement] = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    suite = ElementTree.Element(
        "testsuite",
        name=name,
        tests=str(len(verdicts)),
        time=f"{sum(result.seconds for result in verdicts):.3f}",
    )
    for attribute, element in counts.items():
        suite.set(attribute, str(elements.count(element)))
    for result, element in zip(verdicts, elements, strict=True):
        _append(suite, result, element, replays.of(result))
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root, " ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _append(suite: ElementTree.Element, result: CaseResult, element: str, replay: str) -> None:
    classname, _, name = result.case.partition("[")[0].rpartition(".")
    name += result.case[len(classname) + 1 + len(name) :]
    case = ElementTree.SubElement(suite, "testcase", classname=classname, name=name, time=f"{result.seconds:.3f}")
    if element:
        message = f"{result.outcome.value}: {first_reason(result)}".translate(_ILLEGAL)
        detail = ElementTree.SubElement(case, element, message=message, type=result.outcome.value)
        detail.text = explain(result, replay=replay).translate(_ILLEGAL)
