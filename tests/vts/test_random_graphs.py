"""The cases of random graphs: what each scope has, and that a failure file holds the graphs that failed."""

from __future__ import annotations

from failure_files import failed_and_replayed

from npu_conformance.corpus import strategies
from npu_conformance.faults import kill_matrix, registry
from npu_conformance.harness.run import suites
from npu_conformance.harness.run.cases import Scope
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.vts import random_graphs


def test_every_operation_has_a_case_of_its_own() -> None:
    ids = {case.id for case in random_graphs.cases()}
    assert {f"vts.random_graphs.{name}.single" for name in strategies.operations()} <= ids


def test_the_default_scope_has_every_recipe_of_large_graphs() -> None:
    large = [case for case in random_graphs.cases() if ".large." in case.id]
    assert len(large) == 25
    assert {case.scope for case in large} == {Scope.DEFAULT}


def test_a_failure_file_holds_the_graphs_that_failed() -> None:
    case = suites.find("vts.random_graphs.large.float32_rank4")
    fault = registry.faults()["order-of-results"]
    assert kill_matrix.verdict(fault, case).outcome is Outcome.FAIL
    _, payload, again = failed_and_replayed(fault.id, case, random_graphs.case_from)
    assert payload["graphs"].keys() == {"seed_0"}
    assert again.outcome is Outcome.FAIL
    assert [one.name for one in again.configurations] == ["seed_0"]
