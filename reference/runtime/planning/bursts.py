"""Bursts over parts: AIDL's objects, and HIDL's packets."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from npu_conformance.reference.runtime.planning.hidl_burst import CAPACITY, Slots, answer_of_packet
from npu_conformance.reference.runtime.planning.parts import Answer, PartBurst, Terms
from npu_conformance.reference.runtime.planning.version import time_for
from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.burst_packets import pack, request_elements
from npu_conformance.specs.versions import Version

MOST_MEMORIES = 32
"""How much memory a driver is to keep at once: temporaries of steps are new in each execution."""


class _Kept:
    """The memory that a driver keeps, the last used at the end. forget: has the driver let go of one."""

    def __init__(self, forget: Callable[[types.Memory], None]) -> None:
        self._forget = forget
        self._memories: dict[int, types.Memory] = {}

    def use(self, request: types.Request) -> None:
        for pool in request.pools:
            if pool.pool is not None:
                self._memories.pop(pool.pool.token, None)
                self._memories[pool.pool.token] = pool.pool

    def trim(self, most: int = MOST_MEMORIES) -> None:
        """Let go of what has not been used for the longest time. A driver that is gone has let go already."""
        while len(self._memories) > most:
            memory = self._memories.pop(next(iter(self._memories)))
            with contextlib.suppress(InterfaceError):
                self._forget(memory)


class DriverBurst(PartBurst):
    """A burst of a driver. Safe to close in any order with the memory that it used (FW-EXE-016)."""

    def __init__(self, forget: Callable[[types.Memory], None]) -> None:
        self._kept = _Kept(forget)

    def takes(self, request: types.Request, terms: Terms) -> bool:
        """Whether the request can be expressed, with what of its terms has to be kept."""
        return True

    def execute(self, request: types.Request, terms: Terms) -> Answer:
        """Execute over the burst."""
        self._kept.use(request)
        answer = self._executed(request, terms)
        self._kept.trim()
        return answer

    def close(self) -> None:
        """Have the driver forget the memory."""
        self._kept.trim(0)

    def _executed(self, request: types.Request, terms: Terms) -> Answer:
        raise NotImplementedError


class AidlBurst(DriverBurst):
    """AIDL's burst. Memory is named by its token, so that the driver may keep it mapped."""

    def __init__(self, burst: hal.Burst, version: Version) -> None:
        super().__init__(lambda memory: burst.release_memory_resource(memory.token))
        self._burst, self._version = burst, version

    def _executed(self, request: types.Request, terms: Terms) -> Answer:
        names = tuple(-1 if pool.pool is None else pool.pool.token for pool in request.pools)
        deadline_ns = time_for(self._version, terms.deadline_ns)
        loop_timeout = time_for(self._version, terms.loop_timeout_ns or None)
        if terms.hints and self._version >= Version.FL8:
            config = types.ExecutionConfig(terms.measure_timing, loop_timeout, terms.hints, terms.extensions)
            result = self._burst.execute_synchronously_with_config(request, names, config, deadline_ns)
        else:
            result = self._burst.execute_synchronously(request, names, terms.measure_timing, deadline_ns, loop_timeout)
        return result.status, result.output_shapes, result.timing


class HidlBurst(DriverBurst):
    """HIDL's burst. Its packets carry neither deadlines, which a driver may ignore, nor loop timeouts."""

    def __init__(self, prepared: hal.PreparedModel) -> None:
        """Open it. Raises InterfaceError."""
        self._slots = Slots()
        queue = types.QueueDescriptor(CAPACITY)
        context = prepared.configure_execution_burst_on_queues(self._slots, queue, queue)
        super().__init__(lambda memory: context.free_memory(self._slots.forget(memory)))
        self._context = context

    def takes(self, request: types.Request, terms: Terms) -> bool:
        """Not with a driver's buffer, nor with a loop timeout, which must hold (FW-QOS-003)."""
        return not terms.loop_timeout_ns and all(pool.pool is not None for pool in request.pools)

    def _executed(self, request: types.Request, terms: Terms) -> Answer:
        slots = [self._slots.slot(pool.pool) for pool in request.pools if pool.pool is not None]
        packet = pack(request_elements(request, slots, measure=terms.measure_timing))
        return answer_of_packet(self._context.execute_packet(packet))


def open_burst(prepared: hal.PreparedModel, version: Version) -> PartBurst | None:
    """Open a burst; None where the version has none or the driver fails."""
    if version < Version.V1_2:
        return None
    try:
        return AidlBurst(prepared.configure_execution_burst(), version) if version.is_aidl else HidlBurst(prepared)
    except InterfaceError:
        return None
