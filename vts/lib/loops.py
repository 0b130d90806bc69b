"""Loops that never end, which a device has to abort after their timeout."""

from __future__ import annotations

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.executing.execution import Execution
from npu_conformance.specs.neuralnetworks.enums import MISSED, ErrorStatus


def expect_aborted(execution: Execution) -> None:
    """See that a loop was ended by its timeout. A device may also say that it cannot execute this at all."""
    if execution.status == ErrorStatus.GENERAL_FAILURE:
        raise NotSupported("the device does not execute an endless loop")
    checks.status(execution.status, MISSED, "execution of an endless loop")
