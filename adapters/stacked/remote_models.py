"""Prepared models, bursts and buffers of a driver in another process, as the runtime calls them."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING

from npu_conformance.adapters.stacked.carrying import Carrier, Copy
from npu_conformance.adapters.stacked.death import asked
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, FenceState
from npu_conformance.specs.neuralnetworks.fences import SettableFence, merged

if TYPE_CHECKING:
    from npu_conformance.harness.subject.handle import SubjectHandle

_A_SECOND_NS = 1_000_000_000
_NO_TIMING = types.Timing(-1, -1)


class RemoteModel(hal.PreparedModel):
    """A prepared model. pools: copies that its constants lie in, as long as it lives."""

    def __init__(self, inner: hal.PreparedModel, subject: SubjectHandle, carrier: Carrier, pools: list[Copy]) -> None:
        self.inner, self._subject, self._carrier = inner, subject, carrier
        weakref.finalize(self, _close_all, pools)

    def execute(
        self,
        request: types.Request,
        measure_timing: bool,
        deadline_ns: int,
        loop_timeout_duration_ns: int,
        callback: hal.ExecutionCallback | None,
    ) -> None:
        """Launch, and wait for the answer: it comes by a connection that nobody else reads."""
        answer = _Answer()
        with self._carrier.request(request) as carried:
            asked(lambda: self.inner.execute(carried, measure_timing, deadline_ns, loop_timeout_duration_ns, answer))
            while not asked(lambda: self._subject.wait_until(lambda: answer.arguments is not None, 1.0)):
                pass
        if callback is not None and answer.arguments is not None:
            callback.notify(*answer.arguments)

    def execute_synchronously(
        self, request: types.Request, measure_timing: bool, deadline_ns: int, loop_timeout_duration_ns: int
    ) -> types.ExecutionResult:
        """See PreparedModel."""
        terms = measure_timing, deadline_ns, loop_timeout_duration_ns
        with self._carrier.request(request) as carried:
            return asked(lambda: self.inner.execute_synchronously(carried, *terms))

    def execute_synchronously_with_config(
        self, request: types.Request, config: types.ExecutionConfig, deadline_ns: int
    ) -> types.ExecutionResult:
        """See PreparedModel."""
        with self._carrier.request(request) as carried:
            return asked(lambda: self.inner.execute_synchronously_with_config(carried, config, deadline_ns))

    def execute_fenced(
        self,
        request: types.Request,
        wait_for: tuple[hal.Fence | None, ...],
        measure_timing: bool,
        deadline_ns: int,
        loop_timeout_duration_ns: int,
        duration_ns: int,
    ) -> hal.FencedExecutionResult:
        """See PreparedModel. What holds the execution back is waited for here: before it the inputs may change."""
        terms = measure_timing, deadline_ns, loop_timeout_duration_ns, duration_ns
        return self._fenced(request, wait_for, lambda carried: self.inner.execute_fenced(carried, (), *terms))

    def execute_fenced_with_config(
        self,
        request: types.Request,
        wait_for: tuple[hal.Fence, ...],
        config: types.ExecutionConfig,
        deadline_ns: int,
        duration_ns: int,
    ) -> hal.FencedExecutionResult:
        """See execute_fenced."""
        terms = config, deadline_ns, duration_ns
        return self._fenced(
            request, wait_for, lambda carried: self.inner.execute_fenced_with_config(carried, (), *terms)
        )

    def configure_execution_burst_on_queues(
        self, callback: hal.BurstCallback | None, requests: types.QueueDescriptor, results: types.QueueDescriptor
    ) -> hal.BurstContext:
        """See PreparedModel. The queues hold no memory: packets travel as messages."""
        slots = None if callback is None else _Slots(callback, self._carrier)
        context = asked(lambda: self.inner.configure_execution_burst_on_queues(slots, requests, results))
        return context if slots is None else _RemoteContext(context, slots)

    def configure_execution_burst(self) -> hal.Burst:
        """See PreparedModel."""
        return _RemoteBurst(asked(self.inner.configure_execution_burst), self._carrier)

    def _fenced(
        self, request: types.Request, wait_for: tuple[hal.Fence | None, ...], launch: _Launch
    ) -> hal.FencedExecutionResult:
        """In the call where nothing is to be waited for, so that it can refuse; else in a thread behind the fences."""
        fences = [fence for fence in wait_for if fence is not None]
        if all(fence.get_state() == FenceState.SIGNALLED for fence in fences):
            return hal.FencedExecutionResult(_Info(self._computed(request, launch)), None)
        info, done = _Info(None), SettableFence()

        def compute() -> None:
            try:
                info.found = self._computed(request, launch)
            except ServiceError as error:
                info.found = hal.FencedExecutionInfo(error.status, _NO_TIMING, _NO_TIMING)
            finally:
                done.settle(FenceState.SIGNALLED if info.is_success else FenceState.ERROR)

        def ready(state: int) -> None:
            if state == FenceState.SIGNALLED:
                threading.Thread(target=compute, name="fenced execution", daemon=True).start()
            else:
                done.fail()

        merged(fences).watch(ready)
        return hal.FencedExecutionResult(info, done)

    def _computed(self, request: types.Request, launch: _Launch) -> hal.FencedExecutionInfo:
        """Launch, wait, and ask how it went. Raises InterfaceError where the launch is refused."""
        with self._carrier.request(request) as carried:
            result = asked(lambda: launch(carried))
            fence, callback = result.sync_fence, result.callback
            while fence is not None and asked(lambda: fence.wait(_A_SECOND_NS)) == FenceState.UNSIGNALLED:
                pass
        if callback is None:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, "a fenced execution without a callback")
        return asked(callback.get_execution_info)


_Launch = Callable[[types.Request], hal.FencedExecutionResult]


class _Answer(hal.ExecutionCallback):
    """Keeps the first answer of an asynchronous execution."""

    arguments: tuple[int, tuple[types.OutputShape, ...], types.Timing | None] | None = None

    def notify(self, status: int, output_shapes: tuple[types.OutputShape, ...], timing: types.Timing | None) -> None:
        self.arguments = self.arguments or (status, output_shapes, timing)


class _Info(hal.FencedExecutionCallback):
    """What a fenced execution reports. found: None before it has ended."""

    def __init__(self, found: hal.FencedExecutionInfo | None) -> None:
        self.found = found

    @property
    def is_success(self) -> bool:
        return self.found is not None and self.found.status == ErrorStatus.NONE

    def get_execution_info(self) -> hal.FencedExecutionInfo:
        return self.found or hal.FencedExecutionInfo(ErrorStatus.GENERAL_FAILURE, _NO_TIMING, _NO_TIMING)


class _RemoteBurst(hal.Burst):
    """AIDL's burst. The driver is told no identifiers, so that it keeps no copy from execution to execution."""

    def __init__(self, inner: hal.Burst, carrier: Carrier) -> None:
        self._inner, self._carrier = inner, carrier

    def execute_synchronously(
        self,
        request: types.Request,
        memory_identifier_tokens: tuple[int, ...],
        measure_timing: bool,
        deadline_ns: int,
        loop_timeout_duration_ns: int,
    ) -> types.ExecutionResult:
        names = (types.NO_IDENTITY,) * len(request.pools)
        terms = measure_timing, deadline_ns, loop_timeout_duration_ns
        with self._carrier.request(request) as carried:
            return asked(lambda: self._inner.execute_synchronously(carried, names, *terms))

    def execute_synchronously_with_config(
        self,
        request: types.Request,
        memory_identifier_tokens: tuple[int, ...],
        config: types.ExecutionConfig,
        deadline_ns: int,
    ) -> types.ExecutionResult:
        names = (types.NO_IDENTITY,) * len(request.pools)
        with self._carrier.request(request) as carried:
            return asked(lambda: self._inner.execute_synchronously_with_config(carried, names, config, deadline_ns))

    def release_memory_resource(self, memory_identifier_token: int) -> None:
        """Nothing was kept."""


class _Slots(hal.BurstCallback):
    """The memory of a HIDL burst: a copy for each slot that the driver has asked for."""

    def __init__(self, client: hal.BurstCallback, carrier: Carrier) -> None:
        self._client, self._carrier = client, carrier
        self.copies: dict[int, Copy] = {}

    def get_memories(self, slots: tuple[int, ...]) -> tuple[types.Memory, ...]:
        for slot, memory in zip(slots, self._client.get_memories(slots), strict=True):
            self.forget(slot)
            self.copies[slot] = self._carrier.copy(memory)
        return tuple(self.copies[slot].memory for slot in slots)

    def forget(self, slot: int) -> None:
        if slot in self.copies:
            self.copies.pop(slot).close()


class _RemoteContext(hal.BurstContext):
    """A HIDL burst."""

    def __init__(self, inner: hal.BurstContext, slots: _Slots) -> None:
        self._inner, self._slots = inner, slots
        weakref.finalize(self, _close_all, slots.copies)

    def free_memory(self, slot: int) -> None:
        asked(lambda: self._inner.free_memory(slot))
        self._slots.forget(slot)

    def execute_packet(self, packet: bytes) -> bytes:
        for copy in self._slots.copies.values():
            copy.send()
        answer = asked(lambda: self._inner.execute_packet(packet))
        for copy in self._slots.copies.values():
            copy.fetch()
        return answer


class RemoteBuffer(hal.Buffer):
    """A buffer that the driver manages."""

    def __init__(self, inner: hal.Buffer, carrier: Carrier) -> None:
        self._inner, self._carrier = inner, carrier

    def copy_to(self, dst: types.Memory) -> None:
        """See Buffer."""
        with self._carrier.carried([dst]) as copies:
            asked(lambda: self._inner.copy_to(copies[dst]))

    def copy_from(self, src: types.Memory, dimensions: tuple[int, ...]) -> None:
        """See Buffer."""
        with self._carrier.carried([src]) as copies:
            asked(lambda: self._inner.copy_from(copies[src], dimensions))


def _close_all(copies: list[Copy] | dict[int, Copy]) -> None:
    for copy in copies.values() if isinstance(copies, dict) else copies:
        copy.close()
