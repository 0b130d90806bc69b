"""The map of operations and types is green only where something was executed with the right values."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from npu_conformance.faults import plugin
from npu_conformance.harness.report.sections.operations import cell, matrix
from npu_conformance.harness.run import results
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.engine import Engine
from npu_conformance.harness.run.events import Log
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.documents.results import Event
from npu_conformance.specs.documents.summary import Results
from npu_conformance.vts import generated, versions

CASES = [
    *generated.cases_under("RELU"),
    *generated.cases_under("FLOOR"),
    *(case for case in versions.cases() if case.operations[0] in ("IF", "RANK", "FILL", "RELU")),
]


class Kept(Log):
    """A record in memory."""

    def write(self, event: Event) -> None:
        """Keep an event."""
        self.add(event)


def run(fault: str, hal: str, cases: Sequence[Case] = CASES) -> Results:
    subject, log = open_subject(f"{plugin.__name__}:plugin", {"fault": fault, "hal": hal}, "inprocess"), Kept()
    try:
        Engine(cases, subject, log).run()
    finally:
        subject.close()
    return results.build(log)


def rows(outcome: Results) -> list[str]:
    return [operation for operation, _ in matrix(outcome).rows]


def green(outcome: Results) -> list[str]:
    return [operation for operation, cells in matrix(outcome).rows if any(cell and cell.sign == "✓" for cell in cells)]


@pytest.mark.parametrize("hal", ["1.0", "1.2"])
def test_a_driver_that_supports_nothing_has_no_green_cell_and_is_not_conformant(hal: str) -> None:
    outcome = run("supports-nothing", hal)
    assert outcome.counts["pass"] > 0
    assert (outcome.exit_code, outcome.conformant) == (0, False)
    assert "no operation was executed with the right values" in outcome.reasons
    assert green(outcome) == []


def test_only_what_was_executed_is_green_and_only_in_its_types() -> None:
    outcome = run("tiny", "1.2")
    assert green(outcome) == ["ADD", "RELU"]
    assert not {"IF", "RANK", "FILL"}.intersection(rows(outcome))
    passed = {(one.operation, one.type) for one in outcome.by_operation if "pass" in one.counts}
    assert passed == {("ADD", "TENSOR_FLOAT32"), ("RELU", "TENSOR_FLOAT32")}


def test_a_driver_is_measured_against_the_operations_of_its_version() -> None:
    outcome = run("supports-nothing", "1.0")
    assert "0 of 2 operations have a passing case; none: FLOOR RELU" in outcome.thin_coverage


@pytest.mark.parametrize(
    ("counts", "sign"),
    [
        ({"pass": 3}, "✓"),
        ({"pass": 3, "not-supported": 2}, "◐"),
        ({"not-supported": 2}, "–"),
        ({"pass": 3, "not-supported": 2, "fail": 1}, "✗"),
    ],
)
def test_a_cell_says_what_a_reader_looks_for(counts: dict[str, int], sign: str) -> None:
    found = cell(counts)
    assert found is not None
    assert found.sign == sign
