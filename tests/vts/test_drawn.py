"""The cases of drawn models: what each scope has, and that a failure file holds the models that failed."""

from __future__ import annotations

from npu_conformance.corpus import drawn
from npu_conformance.faults import kill_matrix, registry
from npu_conformance.harness.run import suites
from npu_conformance.harness.run.cases import Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.engine import Engine
from npu_conformance.harness.run.replay import Discard
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.documents.results import CaseResult
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.vts import drawn as area


def test_each_operation_has_a_case_in_the_default_scope() -> None:
    found = list(area.cases())
    assert {case.scope for case in found} == {Scope.DEFAULT}
    assert [case.operations for case in found] == [(name,) for name in drawn.operations()]


def test_a_failure_says_shapes_and_parameters_and_its_file_holds_the_models() -> None:
    fault, case = registry.faults()["guarded-transpose-0312"], suites.find("vts.drawn.TRANSPOSE.models")
    assert kill_matrix.verdict(fault, case).outcome is Outcome.FAIL
    payloads = []

    def keep(context: CaseContext, result: CaseResult) -> str:
        assert context.payload is not None
        payloads.append(context.payload())
        return "kept"

    subject = open_subject("npu_conformance.faults.plugin:plugin", {"fault": fault.id}, "process")
    try:
        first = Engine([case], subject, Discard(), on_failure=keep).run().results[0]
        again = Engine([area.case_from(payloads[0])], subject, Discard()).run().results[0]
    finally:
        subject.close()
    red = [part for part in first.configurations if part.outcome is Outcome.FAIL]
    assert all("perm [0, 3, 1, 2]" in part.message for part in red)
    assert {part.name for part in red} == payloads[0]["graphs"].keys()
    assert [part.name for part in again.configurations] == [part.name for part in red]
    assert again.outcome is Outcome.FAIL
