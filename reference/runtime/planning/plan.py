"""Plans: a model on one device, or in steps over several, and on the CPU where they fail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import msgspec
from msgspec.structs import replace

from npu_conformance.reference.runtime.backend import (
    Argument,
    ExecutionOptions,
    FinishedModel,
    Outcome,
    PlanBurst,
    Pools,
    RuntimeDevice,
    StartedWork,
    StepRole,
)
from npu_conformance.reference.runtime.planning.driver_part import DriverPart
from npu_conformance.reference.runtime.planning.engines import Bursts, FencedEngine, SynchronousEngine, wait_for_all
from npu_conformance.reference.runtime.planning.fallback import NEVER, CpuFallback
from npu_conformance.reference.runtime.planning.fenced import FinishedWork, PendingWork
from npu_conformance.reference.runtime.planning.graph_plan import GraphPlan, uses
from npu_conformance.reference.runtime.planning.interpreter import Interpreter, StepFailed
from npu_conformance.reference.runtime.planning.parts import NO_TIMING, Part, Terms, deadline, failure, terms_of
from npu_conformance.reference.runtime.planning.values import Scratch
from npu_conformance.specs.diagnostics import vlog
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.types import OutputShape
from npu_conformance.specs.plugin import Clock
from npu_conformance.specs.versions import Version

_ALIGNMENT = 64
_PADDING = 64
_PADDING_OF_HIDL = 1


class Setting(msgspec.Struct, frozen=True):
    """What plans run in. cpu: the device to which memory of the runtime's own belongs."""

    pools: Pools
    clock: Clock
    feature_level: Version
    cpu: RuntimeDevice


class Body(Protocol):
    """What a plan does before it falls back."""

    def run(
        self, inputs: Sequence[Argument], outputs: Sequence[Argument], terms: Terms, bursts: Bursts | None
    ) -> Outcome:
        """Compute in the call. Raises StepFailed."""
        ...

    def start(
        self, inputs: Sequence[Argument], outputs: Sequence[Argument], engine: FencedEngine
    ) -> StartedWork | None:
        """Launch with fences; None where it has to be done without. Raises StepFailed."""
        ...

    def parts(self) -> Iterable[Part]:
        """All parts."""
        ...

    def uses(self, is_input: bool, index: int) -> Iterable[tuple[Part, bool, int] | None]:
        """Where an input or output of the model is used: part, whether as input, number; None: by the runtime."""
        ...


class SimpleBody:
    """A model that one device computes."""

    def __init__(self, part: Part) -> None:
        self._part = part

    def run(
        self, inputs: Sequence[Argument], outputs: Sequence[Argument], terms: Terms, bursts: Bursts | None
    ) -> Outcome:
        """See Body."""
        outcome = self._part.execute(inputs, outputs, terms, None if bursts is None else bursts.of(self._part))
        if outcome.result not in NEVER:
            raise StepFailed(outcome, falls_back=not self._part.device.is_cpu)
        return outcome

    def start(
        self, inputs: Sequence[Argument], outputs: Sequence[Argument], engine: FencedEngine
    ) -> StartedWork | None:
        """See Body."""
        part = self._part
        if not isinstance(part, DriverPart) or not part.has_fences:
            return None
        engine.launch(part, inputs, outputs)
        return PendingWork(engine, outputs, part)

    def parts(self) -> Iterable[Part]:
        """See Body."""
        return (self._part,)

    def uses(self, is_input: bool, index: int) -> Iterable[tuple[Part, bool, int] | None]:
        """See Body."""
        return ((self._part, is_input, index),)


class CompoundBody:
    """A model in steps. sizes: see Scratch."""

    def __init__(self, plan: GraphPlan, setting: Setting, sizes: Mapping[int, int]) -> None:
        self._plan, self._setting, self._sizes = plan, setting, sizes

    def run(
        self, inputs: Sequence[Argument], outputs: Sequence[Argument], terms: Terms, bursts: Bursts | None
    ) -> Outcome:
        """See Body."""
        scratch = Scratch(self._setting.pools, self._sizes)
        try:
            interpreter = self._interpreter(SynchronousEngine(terms, bursts), scratch, terms)
            places = interpreter.execute(self._plan, inputs, outputs)
            shapes = tuple(OutputShape(place.dimensions, True) for place in places)
            return Outcome(ResultCode.NO_ERROR, shapes, NO_TIMING, NO_TIMING)
        finally:
            scratch.free()

    def start(
        self, inputs: Sequence[Argument], outputs: Sequence[Argument], engine: FencedEngine
    ) -> StartedWork | None:
        """See Body. Temporaries of unknown size rule out fences."""
        if self._plan.has_dynamic_temporaries():
            return None
        scratch = Scratch(self._setting.pools, self._sizes)
        try:
            self._interpreter(engine, scratch, engine.terms).execute(self._plan, inputs, outputs)
        except StepFailed:
            scratch.free()
            raise
        return PendingWork(engine, outputs, None, scratch.free)

    def parts(self) -> Iterable[Part]:
        """See Body."""
        return (step.part for step in self._plan.parts())

    def uses(self, is_input: bool, index: int) -> Iterable[tuple[Part, bool, int] | None]:
        """See Body."""
        operand = self._plan.inputs[index] if is_input else self._plan.outputs[index]
        return (use and (use[0].part, *use[1:]) for use in uses(self._plan, operand))

    def _interpreter(self, engine: SynchronousEngine | FencedEngine, scratch: Scratch, terms: Terms) -> Interpreter:
        allows_empty = not self._setting.feature_level.is_aidl
        return Interpreter(engine, scratch, self._setting.clock, terms.loop_timeout_ns, allows_empty=allows_empty)


class ReferencePlan:
    """See Plan. fallback: the whole model on the CPU; None where the rules allow none (FW-PRT-011).

    model: lives as long as the plan, since it keeps memory.
    """

    def __init__(self, model: FinishedModel, body: Body, fallback: CpuFallback | None, setting: Setting) -> None:
        self.model = model
        self._body, self._fallback, self._setting = body, fallback, setting

    def execute(
        self,
        inputs: Sequence[Argument],
        outputs: Sequence[Argument],
        options: ExecutionOptions,
        burst: PlanBurst | None = None,
    ) -> Outcome:
        """See Plan."""
        terms = terms_of(options, self._setting.clock)
        return self._computed(inputs, outputs, terms, burst if isinstance(burst, Bursts) else None)

    def start(
        self,
        inputs: Sequence[Argument],
        outputs: Sequence[Argument],
        options: ExecutionOptions,
        wait_for: tuple[hal.Fence, ...],
        duration_ns: int,
    ) -> StartedWork:
        """See Plan. Outputs behind pointers are there when the call returns."""
        terms = terms_of(options, self._setting.clock)
        try:
            work = self._body.start(inputs, outputs, FencedEngine(terms, wait_for, duration_ns))
        except StepFailed as failed:
            if not wait_for_all(wait_for):
                return FinishedWork(failure(ResultCode.OP_FAILED))
            return FinishedWork(self._instead(failed, inputs, outputs, terms))
        if work is None:
            return self._waited(inputs, outputs, terms, wait_for, duration_ns)
        if any(one.is_pointer for one in outputs):
            work.wait()
        return work

    def open_burst(self) -> PlanBurst:
        """See Plan."""
        return Bursts(self._body.parts())

    def memory_preference(self, is_input: bool, index: int) -> tuple[int, int]:
        """See Plan. Drivers before feature level 5 have no wish for padding."""
        devices = [self._setting.cpu if use is None else use[0].device for use in self._body.uses(is_input, index)]
        is_new = any(device.is_cpu or device.feature_level.is_aidl for device in devices)
        return _ALIGNMENT, _PADDING if is_new else _PADDING_OF_HIDL

    def roles(self, is_input: bool, index: int) -> tuple[StepRole, ...]:
        """See Plan. Where the runtime itself touches a value the role is the CPU's."""
        return tuple(
            StepRole(self._setting.cpu, None, is_input, index)
            if use is None
            else StepRole(use[0].device, use[0].prepared_model, *use[1:])
            for use in self._body.uses(is_input, index)
        )

    def _computed(
        self, inputs: Sequence[Argument], outputs: Sequence[Argument], terms: Terms, bursts: Bursts | None
    ) -> Outcome:
        try:
            return self._body.run(inputs, outputs, terms, bursts)
        except StepFailed as failed:
            return self._instead(failed, inputs, outputs, terms)

    def _instead(
        self, failed: StepFailed, inputs: Sequence[Argument], outputs: Sequence[Argument], terms: Terms
    ) -> Outcome:
        """The whole model on the CPU, where that is allowed (FW-PRT-010, -011)."""
        if self._fallback is None or not failed.falls_back:
            return failed.outcome
        vlog.log("execution", lambda: f"{failed.outcome.result.name}: the whole model is tried on the CPU")
        return self._fallback.execute(inputs, outputs, terms)

    def _waited(
        self,
        inputs: Sequence[Argument],
        outputs: Sequence[Argument],
        terms: Terms,
        wait_for: tuple[hal.Fence, ...],
        duration_ns: int,
    ) -> StartedWork:
        """Wait for the fences and compute in the call; the nearer deadline counts."""
        if not wait_for_all(wait_for):
            return FinishedWork(failure(ResultCode.OP_FAILED))
        ends = [end for end in (terms.deadline_ns, deadline(duration_ns, self._setting.clock)) if end is not None]
        terms = replace(terms, deadline_ns=min(ends, default=None))
        return FinishedWork(self._computed(inputs, outputs, terms, None))
