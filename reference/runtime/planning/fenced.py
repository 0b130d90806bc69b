"""Computations that begin once fences have signalled (facts 2.6)."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.reference.runtime.backend import Outcome
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.neuralnetworks.enums import FenceState
from npu_conformance.specs.neuralnetworks.fences import FOR_EVER_NS


class FinishedWork:
    """A computation that was over when the call returned: its event has no fence."""

    fence: hal.Fence | None = None

    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome

    def wait(self) -> Outcome:
        """The outcome is known."""
        return self._outcome


def wait_for_all(fences: Sequence[hal.Fence]) -> bool:
    """Wait for fences; False as soon as one fails."""
    return all(fence.wait(FOR_EVER_NS) == FenceState.SIGNALLED for fence in fences)
