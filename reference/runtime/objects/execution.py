"""Executions of the API (FW-EXE)."""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable, Sequence

from npu_conformance.reference.runtime.backend import (
    Argument,
    ExecutionOptions,
    Outcome,
    PlanBurst,
    RuntimeFailure,
)
from npu_conformance.reference.runtime.objects.arguments import Arguments
from npu_conformance.reference.runtime.objects.burst import Burst
from npu_conformance.reference.runtime.objects.compilation import Compilation
from npu_conformance.reference.runtime.objects.event import EndedEvent, Event, ThreadEvent, WorkEvent
from npu_conformance.reference.runtime.objects.hints import Hints
from npu_conformance.reference.runtime.objects.memory import DescribedMemoryObject, MemoryObject
from npu_conformance.reference.runtime.objects.operands import bad_data, bad_state, has_unknown_dimensions
from npu_conformance.reference.runtime.objects.results import Results
from npu_conformance.specs.neuralnetworks.hal import Fence
from npu_conformance.specs.neuralnetworks.runtime.result_codes import MAXIMUM_LOOP_TIMEOUT_NS, ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription, Pointer


class State(enum.Enum):
    """How far an execution has come."""

    PREPARATION = "preparation"
    COMPUTATION = "computation"
    COMPLETED = "completed"


class Execution:
    """An execution of a compilation. Safe to compute from several threads: one at a time gets through."""

    def __init__(self, compilation: Compilation) -> None:
        self._environment = compilation.environment
        self.compilation, self._plan = compilation, compilation.plan
        self._inputs = Arguments(self._environment, compilation.operands(is_input=True), is_input=True)
        self._outputs = Arguments(self._environment, compilation.operands(is_input=False), is_input=False)
        self._state = State.PREPARATION
        self._lock = threading.Lock()
        self._results: Results | None = None
        self._is_reusable = False
        self._is_padded = False
        self._has_arguments = False
        self._measures = False
        self._timeout_ns = 0
        self._loop_timeout_ns = 0
        self._hints = Hints(self._environment)

    @property
    def is_running(self) -> bool:
        """Whether a computation is under way."""
        return self._state is State.COMPUTATION

    # Setters

    def _check_preparation(self) -> None:
        if self._state is not State.PREPARATION:
            raise bad_state("a computation has been started")

    def set_pointer(
        self, is_input: bool, index: int, described: OperandDescription | None, buffer: Pointer | None, length: int
    ) -> None:
        """ANeuralNetworksExecution_setInput and _setOutput."""
        self._check_preparation()
        arguments = self._inputs if is_input else self._outputs
        arguments.set_pointer(index, described, buffer, length, self._is_padded)
        self._has_arguments = True

    def set_memory(
        self,
        is_input: bool,
        index: int,
        described: OperandDescription | None,
        memory: MemoryObject,
        offset: int,
        length: int,
    ) -> None:
        """ANeuralNetworksExecution_setInputFromMemory and _setOutputFromMemory."""
        self._check_preparation()
        role = self.compilation, is_input, index
        arguments = self._inputs if is_input else self._outputs
        arguments.set_memory(role, described, memory, offset, length, self._is_padded)
        self._has_arguments = True

    def set_measure_timing(self, measure: bool) -> None:
        """ANeuralNetworksExecution_setMeasureTiming."""
        self.compilation.check_one_device()
        self._check_preparation()
        self._measures = measure

    def set_timeout(self, duration_ns: int) -> None:
        """ANeuralNetworksExecution_setTimeout."""
        self.compilation.check_one_device()
        self._check_preparation()
        self._timeout_ns = duration_ns

    def set_loop_timeout(self, duration_ns: int) -> None:
        """ANeuralNetworksExecution_setLoopTimeout (FW-EXE-010)."""
        self._check_preparation()
        self._loop_timeout_ns = min(duration_ns, MAXIMUM_LOOP_TIMEOUT_NS)

    def enable_padding(self, enable: bool) -> None:
        """ANeuralNetworksExecution_enableInputAndOutputPadding (FW-EXE-008)."""
        self._check_preparation()
        if self._has_arguments:
            raise bad_state("an argument has been set")
        self._is_padded = enable

    def set_reusable(self, reusable: bool) -> None:
        """ANeuralNetworksExecution_setReusable."""
        self._check_preparation()
        self._is_reusable = reusable

    def add_hint(self, extension_name: str, code: int, data: Pointer | None, length: int) -> None:
        """ANeuralNetworksExecution_addExtensionAttribute."""
        self.compilation.check_one_device()
        self._check_preparation()
        self._hints.add(extension_name, code, data, length)

    # Computations

    def compute(self) -> ResultCode:
        """ANeuralNetworksExecution_compute."""
        self._begin()
        return self._run()

    def start(self) -> Event:
        """ANeuralNetworksExecution_startCompute. Raises what is wrong before the computation."""
        self._begin()
        if self._environment.property_value("debug.nn.syncexec-runtime") == "1":
            return EndedEvent(self._run())
        return ThreadEvent(self._run)

    def burst_compute(self, burst: Burst) -> ResultCode:
        """ANeuralNetworksExecution_burstCompute."""
        if burst.compilation is not self.compilation:
            raise bad_data("the burst is of another compilation")  # FW-EXE-014
        with burst.in_use() as bursts:
            self._begin()
            return self._run(bursts)

    def start_after(self, dependencies: Sequence[Event], duration_ns: int) -> Event:
        """ANeuralNetworksExecution_startComputeWithDependencies (FW-EXE-022, -023)."""
        self._check_startable()
        if duration_ns > 0:
            self.compilation.check_one_device()
        self._begin()
        for output, operand in zip(self._outputs.given(), self._outputs.operands, strict=True):
            dimensions = output.argument.dimensions
            unknown = has_unknown_dimensions(operand.type, dimensions, self._environment.extensions)
            if unknown and not output.argument.has_no_value:
                raise self._failed(bad_data("the shape of an output is not known"))
        return self._started(dependencies, duration_ns)

    def _started(self, dependencies: Sequence[Event], duration_ns: int) -> Event:
        fences: list[Fence] = []
        for event in dependencies:
            if event.fence is not None:
                fences.append(event.fence)
            elif event.wait() != ResultCode.NO_ERROR:
                raise self._failed(RuntimeFailure(ResultCode.OP_FAILED, "a dependency has failed"))
        inputs, outputs = self._arguments()
        try:
            work = self._plan.start(inputs, outputs, self._options(), tuple(fences), duration_ns)
        except RuntimeFailure as error:
            raise self._failed(error) from error
        except BaseException:
            self._end(Outcome(ResultCode.OP_FAILED))
            raise
        if work.fence is None:
            return EndedEvent(self._ended_by(work.wait))
        return WorkEvent(work.fence, lambda: self._ended_by(work.wait))

    def _check_startable(self) -> None:
        if self._state is State.COMPUTATION or (self._state is State.COMPLETED and not self._is_reusable):
            raise bad_state("a computation is under way, or has been made")  # FW-EXE-002, -003

    def _begin(self) -> None:
        """Enter the state of computing, and check the arguments: before that up to level 4, after it from 5 on."""
        with self._lock:
            self._check_startable()
            if not self._environment.is_since_level_5:
                self._check_arguments()
            self._state = State.COMPUTATION
        try:
            self._check_arguments()
            self._check_written()
        except RuntimeFailure as error:
            raise self._failed(error) from error

    def _check_arguments(self) -> None:
        if not (self._inputs.are_all_set() and self._outputs.are_all_set()):
            raise bad_data("an input or output was not set")  # FW-EXE-011

    def _check_written(self) -> None:
        """Memory from a descriptor has to hold a value of the input's shape (FW-MEM-004, -007)."""
        for one in self._inputs.given():
            buffer, dimensions = one.argument.buffer, one.argument.dimensions
            if buffer is None:
                continue
            if not buffer.is_initialized or (dimensions and dimensions != buffer.dimensions):
                raise RuntimeFailure(ResultCode.OP_FAILED, "an input lies in memory that holds no value of its shape")

    def _arguments(self) -> tuple[list[Argument], list[Argument]]:
        return [one.argument for one in self._inputs.given()], [one.argument for one in self._outputs.given()]

    def _options(self) -> ExecutionOptions:
        hints = self._hints
        return ExecutionOptions(
            self._measures,
            self._timeout_ns,
            self._loop_timeout_ns,
            hints.pairs(),
            hints.extensions(),
            self._is_reusable,
        )

    def _run(self, burst: PlanBurst | None = None) -> ResultCode:
        inputs, outputs = self._arguments()
        return self._ended_by(lambda: self._plan.execute(inputs, outputs, self._options(), burst))

    def _ended_by(self, compute: Callable[[], Outcome]) -> ResultCode:
        """End the computation with what it gives; it has also ended where something unexpected goes to the caller."""
        try:
            outcome = compute()
        except RuntimeFailure as error:
            outcome = Outcome(error.result)
        except BaseException:
            self._end(Outcome(ResultCode.OP_FAILED))
            raise
        return self._end(outcome)

    def _failed(self, failure: RuntimeFailure) -> RuntimeFailure:
        """End the computation with a failure; returns it."""
        self._end(Outcome(failure.result))
        return failure

    def _end(self, outcome: Outcome) -> ResultCode:
        self._results = results = Results(outcome, self._outputs)
        for index, one in enumerate(self._outputs.set):
            if one is not None and isinstance(one.owner, DescribedMemoryObject):
                done = results.result == ResultCode.NO_ERROR
                one.owner.written(results.shapes[index].dimensions if done else None)  # FW-MEM-005
        self._state = State.COMPLETED
        return results.result

    # Results

    @property
    def results(self) -> Results:
        """What the last computation has left. Raises BAD_STATE where none has been completed (FW-EXE-017)."""
        if self._state is not State.COMPLETED or self._results is None:
            raise bad_state("no computation has been completed")
        return self._results

    def duration(self, code: int) -> int:
        """ANeuralNetworksExecution_getDuration."""
        if not self._measures:
            raise bad_state("durations were not measured")
        return self.results.duration(code)
