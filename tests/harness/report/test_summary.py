"""What the end of a run says to do next."""

from __future__ import annotations

import made_runs

from npu_conformance.harness.report import summary
from npu_conformance.harness.run.cases import Group
from npu_conformance.specs.documents.results import CaseResult
from npu_conformance.specs.outcomes import Outcome

PLUGIN = "--plugin my_package.driver:plugin"


def of(case: str, outcome: Outcome) -> CaseResult:
    """A verdict about the execution of an operation, the third word of the id."""
    return CaseResult(case, outcome, operations=(case.split(".")[2],), group=Group.EXECUTION.value)


def said(*verdicts: CaseResult) -> str:
    return "\n".join(summary.lines(made_runs.summary(*verdicts).results, verdicts, None, PLUGIN))


def test_who_executes_nothing_is_told_of_a_first_operation() -> None:
    told = said(of("vts.generated.PAD.a", Outcome.NOT_SUPPORTED), of("vts.generated.RELU.a", Outcome.NOT_SUPPORTED))
    assert "nothing is executed: 2 cases not supported" in told
    assert f"RELU say, then: npu-conformance run vts.generated.RELU {PLUGIN}" in told


def test_an_operation_of_an_extension_is_run_where_it_has_cases() -> None:
    assert "run vts.extension.ACME_SWISH" in said(of("vts.extension.ACME_SWISH.a", Outcome.NOT_SUPPORTED))


def test_who_executes_wrongly_has_its_first_operation() -> None:
    told = said(of("vts.generated.PAD.a", Outcome.NOT_SUPPORTED), of("vts.generated.RELU.a", Outcome.CRASH))
    assert "nothing is executed" not in told
