"""How the steps of a plan are computed: one after the other in the call, or held back by fences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from npu_conformance.reference.runtime.backend import Argument, Outcome
from npu_conformance.reference.runtime.planning.driver_part import DriverPart
from npu_conformance.reference.runtime.planning.fallback import DEADLINES, NEVER
from npu_conformance.reference.runtime.planning.graph_plan import PartStep
from npu_conformance.reference.runtime.planning.interpreter import StepFailed
from npu_conformance.reference.runtime.planning.parts import NO_TIMING, Part, PartBurst, Terms, failure
from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, FenceState
from npu_conformance.specs.neuralnetworks.fences import FOR_EVER_NS
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode, result_of_status
from npu_conformance.specs.neuralnetworks.types import OutputShape


class Bursts:
    """The bursts of the parts of a plan. See PlanBurst."""

    def __init__(self, parts: Iterable[Part]) -> None:
        self._of = {part: burst for part in parts if (burst := _opened(part)) is not None}

    def of(self, part: Part) -> PartBurst | None:
        """The burst of a part; None where it has none."""
        return self._of.get(part)

    def close(self) -> None:
        """See PlanBurst."""
        for burst in self._of.values():
            burst.close()


def _opened(part: Part) -> PartBurst | None:
    return part.open_burst() if isinstance(part, DriverPart) else None


class SynchronousEngine:
    """Computes parts in the call, and on the CPU where they fail and may (FW-PRT-010). See Engine."""

    def __init__(self, terms: Terms, bursts: Bursts | None) -> None:
        self._terms, self._bursts = terms, bursts

    def compute(self, step: PartStep, inputs: Sequence[Argument], outputs: Sequence[Argument]) -> Outcome:
        """See Engine. A step that fails on its driver falls back alone, then the whole model (FW-PRT-010)."""
        burst = None if self._bursts is None else self._bursts.of(step.part)
        outcome = step.part.execute(inputs, outputs, self._terms, burst)
        if outcome.result not in NEVER and step.fallback is not None:
            outcome = step.fallback.execute(inputs, outputs, self._terms)
        if outcome.result in NEVER:
            return outcome
        is_loop = outcome.result in DEADLINES and (step.part.device.is_cpu or step.fallback is not None)
        raise StepFailed(outcome, falls_back=not is_loop)

    def settle(self) -> None:
        """Do nothing: no work is pending between two steps."""


class FencedEngine(msgspec.Struct):
    """Launches each part behind the fence of the one before. See Engine.

    pending: what the next part has to wait for; at first the fences of the app. duration_ns: 0 for none. launched: what
    reports on each launched part. succeeded: how many of these have reported success.
    """

    terms: Terms
    pending: tuple[hal.Fence, ...]
    duration_ns: int
    launched: list[hal.FencedExecutionCallback] = msgspec.field(default_factory=list)
    parts: list[DriverPart] = msgspec.field(default_factory=list)
    succeeded: int = 0

    def compute(self, step: PartStep, inputs: Sequence[Argument], outputs: Sequence[Argument]) -> Outcome:
        """See Engine. A part without fences is computed in the call, once what is pending has happened."""
        part = step.part
        if isinstance(part, DriverPart) and part.has_fences:
            self.launch(part, inputs, outputs)
            return as_declared(outputs)
        self.settle()
        return SynchronousEngine(self.terms, None).compute(step, inputs, outputs)

    def launch(self, part: DriverPart, inputs: Sequence[Argument], outputs: Sequence[Argument]) -> None:
        """Launch a part. Raises StepFailed where the driver refuses."""
        try:
            result = part.execute_fenced(inputs, outputs, self.terms, self.pending, self.duration_ns)
        except InterfaceError as error:
            raise StepFailed(part.failed(error), falls_back=True) from error
        if result.callback is None:
            raise StepFailed(failure(ResultCode.OP_FAILED), falls_back=True)
        self.pending = () if result.sync_fence is None else (result.sync_fence,)
        self.launched.append(result.callback)
        self.parts.append(part)

    def settle(self) -> None:
        """Wait for what is pending. Raises StepFailed where a fence or a launched part failed."""
        if not wait_for_all(self.pending):
            raise StepFailed(self._reported() or failure(ResultCode.OP_FAILED), falls_back=True)
        self.pending = ()
        if (failed := self._reported()) is not None:
            raise StepFailed(failed, falls_back=True)

    def _reported(self) -> Outcome | None:
        """The failure that a launched part reports; None where all succeeded. A part that did is not asked again."""
        for callback, part in zip(self.launched[self.succeeded :], self.parts[self.succeeded :], strict=True):
            info = execution_info(callback)
            if info.status != ErrorStatus.NONE:
                return failure(result_of_status(info.status))
            part.tell_success()
            self.succeeded += 1
        return None


def wait_for_all(fences: Sequence[hal.Fence]) -> bool:
    """Wait for fences; False as soon as one fails, or dies with its driver."""
    try:
        return all(fence.wait(FOR_EVER_NS) == FenceState.SIGNALLED for fence in fences)
    except InterfaceError:
        return False


def execution_info(callback: hal.FencedExecutionCallback) -> hal.FencedExecutionInfo:
    """What a fenced execution reports; a driver that cannot be asked has failed."""
    try:
        return callback.get_execution_info()
    except InterfaceError:
        return hal.FencedExecutionInfo(ErrorStatus.GENERAL_FAILURE, NO_TIMING, NO_TIMING)


def as_declared(outputs: Sequence[Argument]) -> Outcome:
    """Success with the shapes that the app gave: a fenced execution knows them all beforehand."""
    shapes = tuple(OutputShape(one.dimensions, True) for one in outputs)
    return Outcome(ResultCode.NO_ERROR, shapes, NO_TIMING, NO_TIMING)
