"""How a device declines to allocate a buffer for valid roles, as it may (NNHAL-MEMDOMAIN-001)."""

from __future__ import annotations

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import ServiceError, status_name
from npu_conformance.specs.neuralnetworks.enums import DECLINED, ErrorStatus, busy


def judge_declined(context: CaseContext, error: ServiceError) -> None:
    """Check that a failed allocate of valid roles declines them; a warning for what AOSP's VTS does not take."""
    with checks.about("NNHAL-MEMDOMAIN-001"):
        checks.status(error.status, {*DECLINED, *busy(context.version)}, "allocate of valid roles")
    if error.status != ErrorStatus.GENERAL_FAILURE:
        context.warn_quality(
            f"allocate declines with {status_name(error.status)}: AOSP's VTS takes GENERAL_FAILURE alone"
        )
