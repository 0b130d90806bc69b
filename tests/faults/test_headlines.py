"""A failure names what broke: the headline of the case that catches a fault is the requirement that the fault breaks.

A sample that is quick; each row was headed by another requirement before checks said what they are about.
"""

from __future__ import annotations

import pytest

from npu_conformance.faults import kill_matrix, registry
from npu_conformance.harness.report.rule import concerned
from npu_conformance.harness.run import suites
from npu_conformance.harness.run.evidence import shown
from npu_conformance.specs.documents.results import CaseResult

RELU = "vts.generated.RELU.float32_rank1"
ROWS = {
    "timing-negative": RELU,
    "timing-not-asked-for": RELU,
    "prepare-without-model": RELU,
    "insufficient-loses-rank": RELU,
    "insufficient-marks-none": RELU,
    "support-of-the-invalid": "vts.validation.ADD.operand_rank",
    "validate-scale-zero": "vts.validation.SOFTMAX.operand_scale",
    "mutations-prefix-twice": "vts.validation.ADD.extension_mapping",
    "requests-shapes-of-a-refusal": "vts.requests.ADD.input_removed",
    "qos-preparation-general-failure": "vts.quality_of_service.deadline.preparations",
    "fenced-negative-duration": "vts.fenced.limits.malformed",
    "loop-without-timeout-has-none-left": "vts.control_flow.WHILE.ends_by_itself",
}


@pytest.mark.parametrize("name", ROWS)
def test_the_headline_is_the_requirement_that_the_fault_breaks(name: str) -> None:
    result, fault = kill_matrix.verdict(registry.faults()[name], suites.find(ROWS[name])), registry.faults()[name]
    assert concerned(result)[0] in fault.breaks, (concerned(result), result)


def test_a_wrong_preparation_is_no_failure_of_the_result() -> None:
    result: CaseResult = kill_matrix.verdict(registry.faults()["prepare-without-model"], suites.find(RELU))
    said = shown(result)
    assert said["NNHAL-PREPARE-007"] == "fail"
    assert said["NNHAL-OPERATION-RELU-RESULT"] == "not-shown"


def test_wrong_values_are_no_failure_of_the_preparation() -> None:
    fault, case = registry.faults()["pad-raw-zero"], suites.find("vts.generated.PAD.quant8_rank1")
    said = shown(kill_matrix.verdict(fault, case))
    assert said["NNHAL-OPERATION-PAD-RESULT"] == said["NNHAL-ACCURACY-004"] == "fail"
    assert {said["NNHAL-PREPARE-004"], said["NNHAL-PREPARE-007"], said["NNHAL-SUPPORT-002"]} <= {"pass", "not-shown"}
