"""Prepared models and bursts of a scripted driver."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec.structs import replace

from npu_conformance.reference.hal.burst_packets import result_elements
from npu_conformance.reference.runtime.planning.hidl_burst import answer_of_packet
from npu_conformance.reference.runtime.scripted.held import HeldCallback, HeldFence, LazyFence
from npu_conformance.reference.runtime.scripted.service import Call, ScriptedService
from npu_conformance.specs.errors import InterfaceError, ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.burst_packets import MeasureTiming, pack, unpack_request
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.fences import SettableFence
from npu_conformance.specs.neuralnetworks.runtime.control import Misbehaviour

Made = TypeVar("Made")


class ScriptedPreparedModel(hal.PreparedModel):
    """A prepared model of one process; "execute" in a script stands for all its ways to execute."""

    def __init__(self, inner: hal.PreparedModel, service: ScriptedService, process: int) -> None:
        """inner: the reference's."""
        self.inner, self._service, self._process = inner, service, process

    def execute(
        self,
        request: types.Request,
        measure_timing: bool,
        deadline_ns: int,
        loop_timeout_duration_ns: int,
        callback: hal.ExecutionCallback | None,
    ) -> None:
        """HIDL's asynchronous form."""
        config = types.ExecutionConfig(measure_timing, loop_timeout_duration_ns)
        with self._service.call(self._process, "execute", **asked_of(request, config, deadline_ns)) as call:
            kind = _kind(call)
            if kind == "dies_later":
                self._service.die()
            elif kind == "silent":
                return
            elif kind == "callback" and callback is not None and call.found is not None:
                callback.notify(call.found.status, (), _unavailable(self._service))
            else:
                if kind == "late" and callback is not None:
                    callback = _Late(self._service, callback)
                receiver = None if callback is None else _Spoiling(self, call.found, callback, measure_timing)
                self.inner.execute(request, measure_timing, deadline_ns, loop_timeout_duration_ns, receiver)

    def execute_synchronously(
        self, request: types.Request, measure_timing: bool, deadline_ns: int, loop_timeout_duration_ns: int
    ) -> types.ExecutionResult:
        """The synchronous form."""
        config = types.ExecutionConfig(measure_timing, loop_timeout_duration_ns)
        return self.run(
            "execute_synchronously",
            asked_of(request, config, deadline_ns),
            lambda: self.inner.execute_synchronously(request, measure_timing, deadline_ns, loop_timeout_duration_ns),
        )

    def execute_synchronously_with_config(
        self, request: types.Request, config: types.ExecutionConfig, deadline_ns: int
    ) -> types.ExecutionResult:
        """The synchronous form with hints."""
        return self.run(
            "execute_synchronously_with_config",
            asked_of(request, config, deadline_ns),
            lambda: self.inner.execute_synchronously_with_config(request, config, deadline_ns),
        )

    def execute_fenced(
        self,
        request: types.Request,
        wait_for: tuple[hal.Fence | None, ...],
        measure_timing: bool,
        deadline_ns: int,
        loop_timeout_duration_ns: int,
        duration_ns: int,
    ) -> hal.FencedExecutionResult:
        """The form with fences."""
        config = types.ExecutionConfig(measure_timing, loop_timeout_duration_ns)
        asked = asked_of(request, config, deadline_ns) | {"duration_ns": duration_ns}
        return self._fenced(
            "execute_fenced",
            asked,
            lambda: self.inner.execute_fenced(
                request, wait_for, measure_timing, deadline_ns, loop_timeout_duration_ns, duration_ns
            ),
        )

    def execute_fenced_with_config(
        self,
        request: types.Request,
        wait_for: tuple[hal.Fence, ...],
        config: types.ExecutionConfig,
        deadline_ns: int,
        duration_ns: int,
    ) -> hal.FencedExecutionResult:
        """The form with fences and hints."""
        asked = asked_of(request, config, deadline_ns) | {"duration_ns": duration_ns}
        return self._fenced(
            "execute_fenced_with_config",
            asked,
            lambda: self.inner.execute_fenced_with_config(request, wait_for, config, deadline_ns, duration_ns),
        )

    def configure_execution_burst(self) -> hal.Burst:
        """AIDL's burst."""
        with self._service.call(self._process, "configure_execution_burst"):
            return ScriptedBurst(self._burst(self.inner.configure_execution_burst), self)

    def configure_execution_burst_on_queues(
        self, callback: hal.BurstCallback | None, requests: types.QueueDescriptor, results: types.QueueDescriptor
    ) -> hal.BurstContext:
        """HIDL's burst. A script reaches the packets that travel as messages, and those in queues not."""
        with self._service.call(self._process, "configure_execution_burst_on_queues") as call:
            if _kind(call) == "slots" and callback is not None:
                callback = _AskingTooMuch(callback)
            opened = self._burst(lambda: self.inner.configure_execution_burst_on_queues(callback, requests, results))
            return ScriptedBurstContext(opened, self)

    def run(
        self, name: str, asked: dict[str, Any], execute: Callable[[], types.ExecutionResult]
    ) -> types.ExecutionResult:
        """Execute in a form that answers at once. name: of the method, in the record."""
        with self._service.call(self._process, "execute", name, **asked) as call:
            if call.found is not None and call.found.kind == "callback":
                raise ServiceError(call.found.status, "as the script says")
            result = execute()
            if not result.output_sufficient_size:
                call.status = ErrorStatus.OUTPUT_INSUFFICIENT_SIZE
            shapes = self.corrupted_shapes(call.found, result.output_shapes)
            timing = self.timing(result.timing, asked["measure_timing"] and result.output_sufficient_size)
            is_sufficient = result.output_sufficient_size and _kind(call) not in _INSUFFICIENT
            return types.ExecutionResult(is_sufficient, shapes, timing)

    def run_packet(self, packet: bytes, execute: Callable[[], bytes]) -> bytes:
        """Answer a packet of HIDL's burst; the status of a failure is in the packet."""
        is_measured = any(isinstance(one, MeasureTiming) and one.value for one in unpack_request(packet))
        asked = {"measure_timing": is_measured}
        try:
            with self._service.call(self._process, "execute", "burst.execute_packet", **asked) as call:
                if call.found is not None and call.found.kind == "callback":
                    raise ServiceError(call.found.status, "as the script says")
                status, shapes, timing = answer_of_packet(execute())
                timing = self.timing(timing or _unavailable(self._service), is_measured and status == ErrorStatus.NONE)
                corrupted = self.corrupted_shapes(call.found, tuple(shapes))
                elements = result_elements(status_of(call.found, status), corrupted, timing)
                return pack([*elements, *elements[-1:]] if _kind(call) == "packet" else elements)
        except ServiceError as error:
            return pack(result_elements(error.status, (), _unavailable(self._service)))

    def _fenced(
        self, name: str, asked: dict[str, Any], execute: Callable[[], hal.FencedExecutionResult]
    ) -> hal.FencedExecutionResult:
        with self._service.call(self._process, "execute", name, **asked) as call:
            if not self._service.script.has_fences:
                raise ServiceError(ErrorStatus.GENERAL_FAILURE, "the script has no fences")
            if call.found is not None and call.found.kind == "callback":
                return _failed(call.found.status, _unavailable(self._service))
            if _kind(call) in ("lazy", "held"):
                return self._held(_kind(call) == "lazy", execute)
            result = execute()
            if call.found is not None and call.found.kind == "reports":
                return replace(result, callback=_Failure(call.found.status, _unavailable(self._service)))
            if not asked["measure_timing"] or result.callback is None:
                return result
            return replace(result, callback=_Timed(result.callback, self))

    def _held(self, is_lazy: bool, execute: Callable[[], hal.FencedExecutionResult]) -> hal.FencedExecutionResult:
        fence = LazyFence(execute) if is_lazy else HeldFence(execute)
        if not is_lazy:
            self._service.when_released(fence.begin)
        return hal.FencedExecutionResult(HeldCallback(fence, _unavailable(self._service)), fence)

    def _burst(self, open_one: Callable[[], Made]) -> Made:
        if not self._service.script.has_burst:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, "the script has no burst")
        return open_one()

    def corrupted_shapes(
        self, found: Misbehaviour | None, shapes: tuple[types.OutputShape, ...]
    ) -> tuple[types.OutputShape, ...]:
        """The output shapes, wrong where the script says so."""
        if found is None or not shapes:
            return shapes
        if found.kind == "length":
            return shapes[:-1] or shapes * 2
        if found.kind == "excess":
            return (*shapes, shapes[-1])
        corrupt = _CORRUPTIONS.get(found.kind)
        if corrupt is None:
            return shapes
        wrong = min(found.output, len(shapes) - 1)
        return tuple(corrupt(shape) if number == wrong else shape for number, shape in enumerate(shapes))

    def timing(self, measured: types.Timing, is_asked: bool) -> types.Timing:
        """The timing of the script, where it was asked to measure and has one."""
        scripted = self._service.script.timing
        return scripted if is_asked and scripted is not None else measured

    def fenced_info(self, info: hal.FencedExecutionInfo) -> hal.FencedExecutionInfo:
        """The report of a fenced execution that succeeded, with the times of the script."""
        launched = self.timing(info.timing_launched, True)
        fenced = self._service.script.fenced_timing or self.timing(info.timing_fenced, True)
        return hal.FencedExecutionInfo(info.status, launched, fenced)


_CORRUPTIONS: Mapping[str, Callable[[types.OutputShape], types.OutputShape]] = {
    "shapes": lambda shape: replace(shape, dimensions=(*shape.dimensions, 7)),
    "large": lambda shape: replace(shape, dimensions=(1 << 29, *shape.dimensions[1:])),
    "rankless": lambda shape: replace(shape, dimensions=()),
    "short": lambda shape: replace(shape, is_sufficient=False),
    "tight": lambda shape: replace(shape, is_sufficient=False),
}
"""What becomes of the shape of an output, by the kind of a misbehaviour."""

_INSUFFICIENT = ("roomy", "tight")
"""Kinds that make OUTPUT_INSUFFICIENT_SIZE of a success."""


class ScriptedBurst(hal.Burst):
    """A burst over a scripted prepared model."""

    def __init__(self, inner: hal.Burst, prepared: ScriptedPreparedModel) -> None:
        self._inner, self._prepared = inner, prepared

    def execute_synchronously(
        self,
        request: types.Request,
        memory_identifier_tokens: tuple[int, ...],
        measure_timing: bool,
        deadline_ns: int,
        loop_timeout_duration_ns: int,
    ) -> types.ExecutionResult:
        """See hal.Burst."""
        config = types.ExecutionConfig(measure_timing, loop_timeout_duration_ns)
        return self._prepared.run(
            "burst.execute_synchronously",
            asked_of(request, config, deadline_ns) | {"memory_tokens": memory_identifier_tokens},
            lambda: self._inner.execute_synchronously(
                request, memory_identifier_tokens, measure_timing, deadline_ns, loop_timeout_duration_ns
            ),
        )

    def release_memory_resource(self, memory_identifier_token: int) -> None:
        """See hal.Burst."""
        self._inner.release_memory_resource(memory_identifier_token)

    def execute_synchronously_with_config(
        self,
        request: types.Request,
        memory_identifier_tokens: tuple[int, ...],
        config: types.ExecutionConfig,
        deadline_ns: int,
    ) -> types.ExecutionResult:
        """See hal.Burst."""
        return self._prepared.run(
            "burst.execute_synchronously_with_config",
            asked_of(request, config, deadline_ns) | {"memory_tokens": memory_identifier_tokens},
            lambda: self._inner.execute_synchronously_with_config(
                request, memory_identifier_tokens, config, deadline_ns
            ),
        )


class ScriptedBurstContext(hal.BurstContext):
    """HIDL's burst over a scripted prepared model."""

    def __init__(self, inner: hal.BurstContext, prepared: ScriptedPreparedModel) -> None:
        self._inner, self._prepared = inner, prepared

    def free_memory(self, slot: int) -> None:
        """See hal.BurstContext."""
        self._inner.free_memory(slot)

    def execute_packet(self, packet: bytes) -> bytes:
        """See hal.BurstContext."""
        return self._prepared.run_packet(packet, lambda: self._inner.execute_packet(packet))


class _AskingTooMuch(hal.BurstCallback):
    """Asks for a slot that was never given beside those that were; only then for those alone."""

    def __init__(self, callback: hal.BurstCallback) -> None:
        self._callback = callback

    def get_memories(self, slots: tuple[int, ...]) -> tuple[types.Memory, ...]:
        with contextlib.suppress(InterfaceError):
            self._callback.get_memories((*slots, max(slots) + 1000))
        return self._callback.get_memories(slots)


class _Spoiling(hal.ExecutionCallback):
    """Passes the outcome of an asynchronous execution on, as the script spoils it."""

    def __init__(
        self,
        prepared: ScriptedPreparedModel,
        found: Misbehaviour | None,
        callback: hal.ExecutionCallback,
        is_measured: bool,
    ) -> None:
        self._prepared, self._found, self._callback, self._is_measured = prepared, found, callback, is_measured

    def notify(self, status: int, output_shapes: tuple[types.OutputShape, ...], timing: types.Timing | None) -> None:
        if timing is not None:
            timing = self._prepared.timing(timing, self._is_measured and status == ErrorStatus.NONE)
        status = status_of(self._found, status)
        self._callback.notify(status, self._prepared.corrupted_shapes(self._found, output_shapes), timing)


class _Late(hal.ExecutionCallback):
    """Passes an outcome on once the driver is released."""

    def __init__(self, service: ScriptedService, callback: hal.ExecutionCallback) -> None:
        self._service, self._callback = service, callback

    def notify(self, status: int, output_shapes: tuple[types.OutputShape, ...], timing: types.Timing | None) -> None:
        self._service.when_released(lambda: self._callback.notify(status, output_shapes, timing))


class _Timed(hal.FencedExecutionCallback):
    """Reports the times of the script."""

    def __init__(self, inner: hal.FencedExecutionCallback, prepared: ScriptedPreparedModel) -> None:
        self._inner, self._prepared = inner, prepared

    def get_execution_info(self) -> hal.FencedExecutionInfo:
        info = self._inner.get_execution_info()
        if info.status != ErrorStatus.NONE:
            return info
        return self._prepared.fenced_info(info)


class _Failure(hal.FencedExecutionCallback):
    """Reports a status."""

    def __init__(self, status: int, timing: types.Timing) -> None:
        self._info = hal.FencedExecutionInfo(status, timing, timing)

    def get_execution_info(self) -> hal.FencedExecutionInfo:
        return self._info


def _failed(status: int, timing: types.Timing) -> hal.FencedExecutionResult:
    """A fenced execution whose fence fails."""
    fence = SettableFence()
    fence.fail()
    return hal.FencedExecutionResult(_Failure(status, timing), fence)


def asked_of(request: types.Request, config: types.ExecutionConfig, deadline_ns: int) -> dict[str, Any]:
    """What the record says of an execution."""
    return {
        "request": request,
        "measure_timing": config.measure_timing,
        "deadline_ns": deadline_ns,
        "loop_timeout_ns": config.loop_timeout_duration_ns,
        "hints": config.execution_hints,
        "extensions": config.extension_name_to_prefix,
    }


def status_of(found: Misbehaviour | None, status: int) -> int:
    """The status of an execution, another one where the script says that room is too little."""
    is_changed = found is not None and found.kind in _INSUFFICIENT and status == ErrorStatus.NONE
    return ErrorStatus.OUTPUT_INSUFFICIENT_SIZE if is_changed else status


def _kind(call: Call) -> str | None:
    return None if call.found is None else call.found.kind


def _unavailable(service: ScriptedService) -> types.Timing:
    time = service.version.unavailable_time
    return types.Timing(time, time)
