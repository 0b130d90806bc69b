"""A driver that lacks methods of its version is not conformant, though each case that wants one is not-supported."""

from __future__ import annotations

import pytest

from npu_conformance.harness.run.missing_methods import missing_methods, missing_scheduling_methods
from npu_conformance.specs.documents.results import CaseResult, ConfigurationResult
from npu_conformance.specs.interfaces import refuse
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.specs.versions import Version

ALLOCATE = str(refuse("Device.allocate"))


def result(message: str, outcome: Outcome = Outcome.NOT_SUPPORTED) -> CaseResult:
    return CaseResult(case="vts.x", outcome=outcome, message=message)


@pytest.mark.parametrize(
    ("message", "outcome", "expected"),
    [
        (ALLOCATE, Outcome.NOT_SUPPORTED, ["Device.allocate"]),
        (
            "preparedModel.executeFenced is not implemented: what?",
            Outcome.NOT_SUPPORTED,
            ["PreparedModel.executeFenced"],
        ),
        (str(refuse("PreparedModel.execute_fenced")), Outcome.NOT_SUPPORTED, ["PreparedModel.executeFenced"]),
        (f"allocate: expected success, found Unsupported {ALLOCATE}", Outcome.FAIL, ["Device.allocate"]),
        (f"expected NONE, found GENERAL_FAILURE ({ALLOCATE})", Outcome.FAIL, []),
        (ALLOCATE, Outcome.NOT_APPLICABLE, []),
        (str(refuse("Device.getStatus")), Outcome.NOT_SUPPORTED, []),
        (str(refuse("Manager.setPolicy")), Outcome.NOT_SUPPORTED, []),
        ("ADD is not supported", Outcome.NOT_SUPPORTED, []),
    ],
)
def test_a_method_is_missing_that_the_version_has_and_a_case_wanted(
    message: str, outcome: Outcome, expected: list[str]
) -> None:
    assert missing_methods([result(message, outcome)], Version.FL8.value) == expected


def test_each_is_named_once_in_the_order_of_the_hal_also_of_configurations() -> None:
    fenced = str(refuse("PreparedModel.executeFenced"))
    part = ConfigurationResult(name="fenced", outcome=Outcome.NOT_SUPPORTED, message=fenced)
    passed = CaseResult(case="vts.y", outcome=Outcome.PASS, configurations=(part, part))
    verdicts = [passed, result(ALLOCATE), result(ALLOCATE)]
    assert missing_methods(verdicts, Version.V1_3.value) == ["Device.allocate", "PreparedModel.executeFenced"]
    assert missing_methods(verdicts, Version.V1_2.value) == []
    assert missing_methods(verdicts, "of tomorrow") == []


def test_methods_of_the_scheduling_hal_are_missing_in_any_version() -> None:
    refused = [result(str(refuse(f"Scheduling.{name}"))) for name in ("setCallback", "setSchedulingConfigs")]
    expected = ["Scheduling.setSchedulingConfigs", "Scheduling.setCallback"]
    assert missing_scheduling_methods([*refused, result(ALLOCATE)]) == expected
    assert missing_methods(refused, Version.FL8.value) == []
