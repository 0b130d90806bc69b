"""Plans: a model on one device, or in steps over several."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.reference.runtime.backend import (
    Argument,
    ExecutionOptions,
    Outcome,
    PlanBurst,
    StartedWork,
    StepRole,
)
from npu_conformance.reference.runtime.planning.fallback import CpuFallback
from npu_conformance.reference.runtime.planning.fenced import FinishedWork, wait_for_all
from npu_conformance.reference.runtime.planning.parts import NO_TIMING, Part, terms_of
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.plugin import Clock

FINAL = (ResultCode.NO_ERROR, ResultCode.OUTPUT_INSUFFICIENT_SIZE)
"""Results that never lead to a fallback (FW-PRT-012)."""


class NoBurst:
    """The burst of a plan whose devices have none."""

    def close(self) -> None:
        """Nothing to end."""


class SimplePlan:
    """A model that one device computes. fallback: None where the rules allow none."""

    def __init__(self, part: Part, fallback: CpuFallback | None, clock: Clock) -> None:
        self._part, self._fallback, self._clock = part, fallback, clock

    def execute(
        self,
        inputs: Sequence[Argument],
        outputs: Sequence[Argument],
        options: ExecutionOptions,
        burst: PlanBurst | None = None,
    ) -> Outcome:
        """See Plan."""
        terms = terms_of(options, self._clock)
        outcome = self._part.execute(inputs, outputs, terms)
        if outcome.result in FINAL or self._fallback is None or self._part.device.is_cpu:
            return outcome
        return self._fallback.execute(inputs, outputs, terms)

    def start(
        self,
        inputs: Sequence[Argument],
        outputs: Sequence[Argument],
        options: ExecutionOptions,
        wait_for: tuple[hal.Fence, ...],
        duration_ns: int,
    ) -> StartedWork:
        """See Plan."""
        if not wait_for_all(wait_for):
            return FinishedWork(Outcome(ResultCode.OP_FAILED, (), NO_TIMING, NO_TIMING))
        return FinishedWork(self.execute(inputs, outputs, options))

    def open_burst(self) -> PlanBurst:
        """See Plan."""
        return NoBurst()

    def memory_preference(self, is_input: bool, index: int) -> tuple[int, int]:
        """See Plan."""
        return 64, 64

    def roles(self, is_input: bool, index: int) -> tuple[StepRole, ...]:
        """See Plan."""
        return (StepRole(self._part.device, self._part.prepared_model, is_input, index),)
