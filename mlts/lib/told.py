"""Durations that a driver tells of an execution, against what its caller has waited for."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.context import CaseContext

if TYPE_CHECKING:
    from npu_conformance.mlts.lib.loaded_model import Inference

_RESOLUTION = 1e-6
"""Seconds by which a duration of HIDL may be rounded up."""


def warn_or_fail(context: CaseContext, message: str) -> None:
    """Say that times do not fit: a quality warning, or a failure where the manifest promises that they are measured."""
    if context.manifest.measured_times:
        with checks.about("NNHAL-TIMING-006" if context.version.is_aidl else "NNHAL-TIMING-005"):
            checks.fail(message, "times that were measured", "others")
    context.warn_quality(message)


def judge(context: CaseContext, inferences: Sequence[Inference]) -> None:
    """The time in the driver is some time, and within its call, in most of the inferences."""
    told = [(one.in_driver, one.seconds) for one in inferences if one.in_driver is not None]
    if not told:
        return
    if not any(in_driver for in_driver, _ in told):
        # No failure: 0 is what a clock with coarse steps measures.
        context.warn_quality(
            f"timeInDriver of {len(told)} inferences: expected durations, or unavailable, found 0 each time"
        )
        return
    beyond = statistics.median(in_driver - seconds for in_driver, seconds in told)
    if beyond > _RESOLUTION:
        warn_or_fail(
            context,
            f"timeInDriver is {1000 * beyond:.3g} ms more than the whole call took, in the median of {len(told)}",
        )
