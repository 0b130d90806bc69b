"""The cases of drawn models: what each scope has, and that a failure file holds the models that failed."""

from __future__ import annotations

from failure_files import failed_and_replayed

from npu_conformance.corpus import drawn
from npu_conformance.faults import kill_matrix, registry
from npu_conformance.harness.run import suites
from npu_conformance.harness.run.cases import Scope
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.vts import drawn as area


def test_each_operation_has_a_case_in_the_default_scope() -> None:
    found = list(area.cases())
    assert {case.scope for case in found} == {Scope.DEFAULT}
    assert [case.operations for case in found] == [(name,) for name in drawn.operations()]


def test_a_failure_says_shapes_and_parameters_and_its_file_holds_the_models() -> None:
    fault, case = registry.faults()["guarded-transpose-0312"], suites.find("vts.drawn.TRANSPOSE.models")
    assert kill_matrix.verdict(fault, case).outcome is Outcome.FAIL
    first, payload, again = failed_and_replayed(fault.id, case, area.case_from)
    red = [part for part in first.configurations if part.outcome is Outcome.FAIL]
    assert all("perm [0, 3, 1, 2]" in part.message for part in red)
    assert {part.name for part in red} == payload["graphs"].keys()
    assert [part.name for part in again.configurations] == [part.name for part in red]
    assert again.outcome is Outcome.FAIL
