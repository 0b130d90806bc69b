"""The cases of random graphs: what each scope has, and that a failure file holds the graphs that failed."""

from __future__ import annotations

from npu_conformance.corpus import strategies
from npu_conformance.faults import kill_matrix, registry
from npu_conformance.harness.run import suites
from npu_conformance.harness.run.cases import Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.engine import Engine
from npu_conformance.harness.run.replay import Discard
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.documents.results import CaseResult
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
    payloads = []

    def keep(context: CaseContext, result: CaseResult) -> str:
        assert context.payload is not None
        payloads.append(context.payload())
        return "kept"

    subject = open_subject("npu_conformance.faults.plugin:plugin", {"fault": "order-of-results"}, "process")
    try:
        Engine([case], subject, Discard(), on_failure=keep).run()
        (payload,) = payloads
        again = Engine([random_graphs.case_from(payload)], subject, Discard()).run()
    finally:
        subject.close()
    assert payload["graphs"].keys() == {"seed_0"}
    assert again.results[0].outcome is Outcome.FAIL
    assert [one.name for one in again.results[0].configurations] == ["seed_0"]
