"""A failure names the requirement that is broken, where a case is about several: not the first of them all the same."""

from __future__ import annotations

import functools
from contextlib import closing

import pytest
from every_case import every_case

from npu_conformance.faults import registry
from npu_conformance.faults.kill_matrix import verdict
from npu_conformance.harness.report.rule import concerned
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.preparation import Preparation, PreparationRecorder
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus

BLAMED = {
    ("priority-mended-with-hints", "vts.validation.arguments.beside_others"): "NNHAL-PREPARE-018",
    ("qos-priority-minus-1", "vts.validation.arguments.beside_others"): "NNHAL-PREPARE-010",
    ("negative-deadline-with-caches", "vts.validation.arguments.beside_others"): "NNHAL-QOS-008",
    ("query-capabilities-missing", "vts.queries.capabilities.fields_of_version"): "NNHAL-QUERY-008",
    ("query-extension-twice", "vts.queries.extensions.names"): "NNHAL-QUERY-025",
    ("prepare-notifies-twice", "vts.preparation.callback.once"): "NNHAL-PREPARE-005",
    ("burst-result-size", "vts.burst.packet.valid"): "NNHAL-BURST-003",
    ("slots-of-two-bursts", "vts.burst.several.side_by_side"): "NNHAL-BURST-017",
    ("burst-slot-refused-once-refused-for-ever", "vts.burst.slots.unknown"): "NNHAL-BURST-009",
    ("copy-deduces-open-size", "vts.memory_domains.copy_from.dimensions_of_open_shape"): "NNHAL-MEMDOMAIN-019",
    ("buffer-copy-count-of-elements", "vts.memory_domains.shapes.contradicting_order"): "NNHAL-MEMDOMAIN-018",
    ("md-integer-of-16-bits", "vts.memory_domains.scalars.integers"): "NNHAL-MEMDOMAIN-022",
    ("execute-does-not-initialise", "vts.memory_domains.execute.uninitialised"): "NNHAL-MEMDOMAIN-015",
    ("execute-keeps-the-shape", "vts.executions.data.other_shapes"): "NNHAL-SHAPE-002",
    ("qos-seconds", "vts.quality_of_service.deadline.executions"): "NNHAL-QOS-006",
    ("qos-preparation-not-launched", "vts.quality_of_service.deadline.preparations"): "NNHAL-QOS-004",
    ("cache-token-lost-beside-a-deadline", "vts.caching.saving.beside_others"): "NNHAL-CACHE-010",
    ("fenced-waits-for-the-last", "vts.fenced.waiting.every_order"): "NNHAL-FENCED-005",
    ("fenced-signalled-fence", "vts.fenced.waiting.signalled_after"): "NNHAL-FENCED-006",
    ("fenced-open-output-taken", "vts.fenced.refusals.outputs_unknown"): "NNHAL-FENCED-002",
    ("reusable-late-is-empty", "vts.executions.reusable.other_deadlines"): "NNHAL-QOS-005",
    ("role-model-unchecked", "vts.memory_domains.execute.several_models"): "NNHAL-MEMDOMAIN-024",
    ("versions-unknown-rank-refused-in-1-2", "vts.executions.shapes.unknown"): "NNHAL-SUPPORT-002",
    ("qos-notifies-again", "vts.quality_of_service.load.asynchronous"): "NNHAL-EXECUTE-003",
    ("scheduling-background-job-priority-adjusted", "vts.npu_scheduling.work.as_in_aosp"): "NPU-HAL-034",
    ("scheduling-attribution-remembered", "vts.npu_scheduling.rights.rights_end_with_the_config"): "NPU-HAL-012",
    ("memory-behind-outputs", "vts.generated.ADD.float32_none_same"): "NNHAL-REQUEST-013",
    ("runtime-support-in-run-order", "cts.introspection.supported.insertion_order"): "FW-MDL-027",
    ("manager-policy-maximum-before-overrides", "cts.npu_manager.budget.largest_numbers"): "NPU-POL-006",
    ("manager-cannot-cancel-a-loaded-model", "cts.npu_manager.budget.turns_to_the_foreground"): "NPU-LIF-012",
    ("manager-late-unload-of-overdue-frees-again", "cts.npu_manager.late_words.overdue"): "NPU-LIF-014",
    ("manager-update-without-declaration-loses-importance", "cts.npu_manager.machine.installations"): "NPU-PRI-002",
    ("scheduling-resumed-as-initial", "vts.npu_scheduling.machine.work"): "NPU-HAL-029",
    ("scheduling-replacing-forgets-bursts", "vts.npu_scheduling.callback.replaced_during_work"): "NPU-HAL-022",
    ("unchecked-model-o8", "vts.structure.O8.refuses_offset_2_32"): "NNHAL-MODEL-037",
    ("fuzz-requests-negative-padding", "vts.request_structure.R3.refuses_input_negative_padding"): "NNHAL-REQUEST-006",
    ("copy-to-larger", "vts.memory_domains.behind_failures.next_result"): "NNHAL-MEMDOMAIN-020",
    ("extension-prefix-of-15-bits", "vts.extensions.prefixes.limits"): "NNHAL-EXTENSION-002",
}  # fmt: skip
"""Faults and cases that see them, and the rule that each breaks; all of them once blamed another one."""


@functools.cache
def cases() -> dict[str, Case]:
    return {case.id: case for case in every_case()}


@pytest.mark.parametrize(("fault", "case"), BLAMED)
def test_the_rule_that_is_blamed_is_the_broken_one(fault: str, case: str) -> None:
    assert concerned(verdict(registry.faults()[fault], cases()[case]))[0] == BLAMED[fault, case]


def test_aosp_sees_a_wrong_priority_that_stands_alone() -> None:
    said = verdict(registry.faults()["qos-priority-minus-1"], cases()["vts.validation.arguments.beside_others"])
    wrong = {part.name: part.message for part in said.configurations if part.message}
    assert wrong["priority_beside_nothing.no_files"].endswith("AOSP's VTS would fail too: yes")
    assert wrong["priority_beside_a_token.no_files"].endswith("AOSP's VTS would fail too: unknown")


def test_what_prepare_model_returned_is_said_where_nobody_was_notified(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(open_subject("reference", isolation="inprocess")) as subject:
        context = CaseContext(cases()["vts.memory.handle.of_nothing"], subject)
        silent = Preparation(ErrorStatus.INVALID_ARGUMENT, None, None, PreparationRecorder())
        monkeypatch.setattr(CaseContext, "prepare", lambda *_, **__: silent)
        cases()["vts.memory.handle.of_nothing"].run(context)
    constant = context.configurations["constant"]
    assert constant.broken == ("NNHAL-PREPARE-002",)
    assert constant.details.message == (
        "prepareModel of a constant that cannot be read returned INVALID_ARGUMENT: expected a notification, found none"
    )
