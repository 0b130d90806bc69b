"""A client of HIDL's burst: the table of its memory slots, and packets over queues, or as messages without memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import Failed, Hung, NotApplicable, NotSupported
from npu_conformance.harness.run.executing.burst_packets import read_result
from npu_conformance.harness.run.executing.execution import Execution, Surroundings
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.errors import DeadObject, InterfaceError, NotVisible, ServiceError
from npu_conformance.specs.neuralnetworks.burst_packets import ELEMENT_SIZE, RequestPacket, pack, request_elements
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import BurstCallback, BurstContext, PreparedModel
from npu_conformance.specs.neuralnetworks.message_queue import CorruptQueueError, MessageQueue, size_of
from npu_conformance.specs.neuralnetworks.types import Memory, QueueDescriptor, Request

CAPACITY = 1024
"""Elements of each queue, as the framework makes them."""

_SHORTEST_NAP, _LONGEST_NAP = 0.001, 0.004


class SlotTable(BurstCallback):
    """The client's memory by slot. asked: the slots that the driver asked for, in order."""

    def __init__(self, memories: dict[int, Memory] | None = None) -> None:
        self.memories = dict(memories or {})
        self.asked: list[tuple[int, ...]] = []
        self.meanwhile: Callable[[], None] = lambda: None
        """What the client does while the driver waits for an answer."""

    def get_memories(self, slots: tuple[int, ...]) -> tuple[Memory, ...]:
        """Return the memory of each slot; INVALID_ARGUMENT where one is not known."""
        self.asked.append(slots)
        self.meanwhile()
        unknown = [slot for slot in slots if slot not in self.memories]
        if unknown:
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, f"slot {unknown[0]} is not known")
        return tuple(self.memories[slot] for slot in slots)


class Channel:
    """One burst. slots: what its client knows. result_capacity, request_capacity: elements of the queues."""

    def __init__(
        self,
        context: Surroundings,
        prepared_model: PreparedModel,
        *,
        slots: SlotTable | None = None,
        request_capacity: int = CAPACITY,
        result_capacity: int = CAPACITY,
    ) -> None:
        """NotSupported where the device opens no burst: `configure.succeeds` says that it must."""
        self._context = context
        self.slots = slots or SlotTable()
        self._request_pool, requests = queue_memory(context, request_capacity)
        self._result_pool, results = queue_memory(context, result_capacity)
        try:
            self.burst_context = configured(prepared_model, self.slots, requests, results)
        except (DeadObject, NotVisible):
            raise
        except InterfaceError as error:
            raise NotSupported(f"the device opens no burst: {error}") from None
        self._requests = _end_of(self._request_pool, request_capacity)
        self._results = _end_of(self._result_pool, result_capacity)

    @property
    def requests(self) -> MessageQueue:
        """The request queue; NotApplicable where packets travel as messages."""
        if self._requests is None:
            raise NotApplicable("packets travel as messages, since no memory is shared: there is no queue")
        return self._requests

    @property
    def results(self) -> MessageQueue:
        """The result queue; NotApplicable where packets travel as messages."""
        if self._results is None:
            raise NotApplicable("packets travel as messages, since no memory is shared: there is no queue")
        return self._results

    def execute(self, request: Request, slots: Sequence[int] | None = None, *, measure: bool = False) -> Execution:
        """Execute a request whose pools are known, or from now on known, by these slots: 0, 1, ... if not given."""
        names = tuple(range(len(request.pools)) if slots is None else slots)
        memories = [pool.pool for pool in request.pools]
        self.slots.memories.update({slot: memory for slot, memory in zip(names, memories, strict=True) if memory})
        return self.send(request_elements(request, names, measure=measure))

    def send(self, elements: RequestPacket) -> Execution:
        """Send a packet and read its result."""
        return self.exchange(pack(elements))

    def exchange(self, packet: bytes) -> Execution:
        """Send the bytes of a packet and read its result. Hung where none comes."""
        if self._requests is None:
            return read_result(self.burst_context.execute_packet(packet))
        self.write(packet)
        return self.read()

    def write(self, packet: bytes) -> None:
        """Write to the request queue. Failed where the driver has left earlier packets in it."""
        checks.that(self.requests.write(packet), "the request queue: expected it to be read, found no room")

    def read(self) -> Execution:
        """Wait for a result, and answer the driver's callbacks meanwhile."""
        return read_result(self.read_bytes())

    def read_bytes(self) -> bytes:
        """Read a result as bytes, as `read` does."""
        manifest, nap = self._context.manifest, _SHORTEST_NAP
        seconds = manifest.deadlines.execute * manifest.time_scale
        end = time.monotonic() + seconds
        while not self.results.wait(nap):
            if self._context.subject.serve_pending():
                nap = _SHORTEST_NAP
            elif time.monotonic() > end:
                raise Hung(f"the burst wrote no result within {seconds:g} s")
            nap = min(2 * nap, _LONGEST_NAP)
        try:
            return self.results.read()
        except CorruptQueueError as error:
            raise Failed(f"the result queue: {error}") from None

    def litter(self) -> None:
        """Fill what is free of the result queue, so that bytes that the driver does not store show up."""
        if self._results is not None:
            start = size_of(0, ELEMENT_SIZE)
            self._result_pool.write(start, b"\xa5" * (self._result_pool.memory.size - start))


def configured(
    prepared_model: PreparedModel, slots: BurstCallback | None, requests: QueueDescriptor, results: QueueDescriptor
) -> BurstContext:
    """configureExecutionBurst of HIDL. Raises what the device answers; Failed for success without an object."""
    context: BurstContext | None = prepared_model.configure_execution_burst_on_queues(slots, requests, results)
    if context is None:
        raise Failed("configureExecutionBurst: expected an object, found null")
    return context


def queue_memory(context: Surroundings, capacity: int) -> tuple[Pool, QueueDescriptor]:
    """Memory for a queue; without memory where the subject shares none."""
    pool = context.pool(size_of(capacity, ELEMENT_SIZE))
    # The driver may look at its queues until it has handled the end of the burst.
    pool.apart = True
    return pool, QueueDescriptor(capacity, pool.memory if pool.is_shared else None)


def _end_of(pool: Pool, capacity: int) -> MessageQueue | None:
    return MessageQueue(pool.queue_memory(), capacity, ELEMENT_SIZE) if pool.is_shared else None
