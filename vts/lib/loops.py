"""Loops that never end, which a device has to abort after their timeout."""

from __future__ import annotations

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import Execution
from npu_conformance.specs.neuralnetworks.enums import DEFAULT_LOOP_TIMEOUT_DURATION_NS, MISSED, ErrorStatus

_DEFAULT_SECONDS = DEFAULT_LOOP_TIMEOUT_DURATION_NS / 1e9


def expect_sooner_than_default(context: CaseContext, elapsed: float) -> None:
    """See that a loop was aborted before the default timeout can have done it. elapsed: seconds of the execution."""
    latest = _DEFAULT_SECONDS * max(context.manifest.time_scale, 1.0)
    checks.that(elapsed < latest, f"aborted after {elapsed:.3f} s: expected less than the default {latest:g} s")


def expect_aborted(execution: Execution) -> None:
    """See that a loop was ended by its timeout. A device may also say that it cannot execute this at all."""
    if execution.status == ErrorStatus.GENERAL_FAILURE:
        raise NotSupported("the device does not execute an endless loop")
    checks.status(execution.status, MISSED, "execution of an endless loop")
