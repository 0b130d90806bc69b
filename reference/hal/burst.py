"""Bursts of the reference: AIDL's calls, and HIDL's packets over fast message queues."""

from __future__ import annotations

import contextlib
import threading
import traceback
import weakref

from npu_conformance.reference.extensions import hints
from npu_conformance.reference.hal import timing
from npu_conformance.reference.hal.burst_packets import PacketRequest, read_request, result_elements
from npu_conformance.reference.hal.execution import Execution, Prepared, Terms
from npu_conformance.reference.hal.memory_cache import MemoryCache
from npu_conformance.specs.diagnostics import vlog
from npu_conformance.specs.errors import InterfaceError, ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.burst_packets import ELEMENT_SIZE, MalformedPacketError, ResultElement, pack
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.message_queue import CorruptQueueError, MessageQueue
from npu_conformance.specs.neuralnetworks.types import NO_IDENTITY

POLLING_SECONDS = 0.00005
"""How long the reader looks for the next packet before it sleeps: longer pays on a quiet machine only."""

_NAP_SECONDS = 0.1


class ReferenceBurst(hal.Burst):
    """AIDL's burst: the executions of a prepared model, with memory that stays mapped under the client's tokens."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared
        self._cache = MemoryCache(prepared.context.memory, prepared.context.clock)
        self._running = threading.Lock()
        weakref.finalize(self, self._cache.close)

    def execute_synchronously(
        self,
        request: types.Request,
        memory_identifier_tokens: tuple[int, ...],
        measure_timing: bool,
        deadline_ns: int,
        loop_timeout_duration_ns: int,
    ) -> types.ExecutionResult:
        """Execute. Order of errors: tokens (NNHAL-BURST-013, -014), then those of an execution outside of a burst."""
        _check_tokens(request, memory_identifier_tokens)
        if not self._running.acquire(blocking=False):
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, "the burst is executing already (NNHAL-BURST-016)")
        try:
            terms = Terms(measure_timing, deadline_ns, loop_timeout_duration_ns)
            execution = Execution(self._prepared, request, terms, memory=self._cache)
            for pool, token in zip(request.pools, memory_identifier_tokens, strict=True):
                if pool.pool is not None and token != NO_IDENTITY:
                    self._cache.keep(token, pool.pool)
            return execution.run()
        finally:
            self._running.release()

    def execute_synchronously_with_config(
        self,
        request: types.Request,
        memory_identifier_tokens: tuple[int, ...],
        config: types.ExecutionConfig,
        deadline_ns: int,
    ) -> types.ExecutionResult:
        """As execute_synchronously, whatever the hints are (NNHAL-EXECUTE-013)."""
        hints.take("execution", config.execution_hints, config.extension_name_to_prefix)
        terms = (config.measure_timing, deadline_ns, config.loop_timeout_duration_ns)
        return self.execute_synchronously(request, memory_identifier_tokens, *terms)

    def release_memory_resource(self, memory_identifier_token: int) -> None:
        """Unmap the memory of a token; an unknown token has no effect (NNHAL-BURST-015)."""
        _check_token(memory_identifier_token)
        self._cache.forget(memory_identifier_token)


def _check_tokens(request: types.Request, tokens: tuple[int, ...]) -> None:
    if len(tokens) != len(request.pools):
        text = f"{len(tokens)} memory identifier tokens for {len(request.pools)} pools"
        raise ServiceError(ErrorStatus.INVALID_ARGUMENT, text)
    for token in tokens:
        _check_token(token)


def _check_token(token: int) -> None:
    if token < NO_IDENTITY:
        raise ServiceError(ErrorStatus.INVALID_ARGUMENT, f"memory identifier token {token}")


class PacketServer:
    """Answers HIDL's packets one after the other, whatever they hold (NNHAL-BURST-004, -005)."""

    def __init__(self, prepared: Prepared, callback: hal.BurstCallback) -> None:
        """callback: where the memory of slots is asked for."""
        self._prepared, self._callback = prepared, callback
        self.cache = MemoryCache(prepared.context.memory, prepared.context.clock)
        self._unavailable = timing.unavailable_timing(prepared.version)

    def answer(self, packet: bytes, room: int) -> bytes:
        """The result packet of a request packet; GENERAL_FAILURE where it has more than `room` elements (BURST-006)."""
        try:
            result = pack(self._executed(read_request(packet)))
        except MalformedPacketError as error:
            malformed = str(error)
            vlog.log("execution", lambda: f"burst: {malformed}")
            result = self._failure(ErrorStatus.GENERAL_FAILURE)
        except ServiceError as error:
            result = self._failure(error.status)
        except InterfaceError:
            result = self._failure(ErrorStatus.GENERAL_FAILURE)  # the client's callback is gone, or not what it should
        fits = len(result) <= room * ELEMENT_SIZE
        return result if fits else self._failure(ErrorStatus.GENERAL_FAILURE)

    def failure(self) -> bytes:
        """The answer to bytes that are no packet at all."""
        return self._failure(ErrorStatus.GENERAL_FAILURE)

    def _executed(self, packet: PacketRequest) -> list[ResultElement]:
        pools = tuple(types.RequestMemoryPool(pool=memory) for memory in self._memories(packet.slots))
        request = types.Request(packet.inputs, packet.outputs, pools)
        none = self._prepared.version.unavailable_time
        result = Execution(self._prepared, request, Terms(packet.measure_timing, none, none), memory=self.cache).run()
        return result_elements(result.status, result.output_shapes, result.timing)

    def _memories(self, slots: tuple[int, ...]) -> list[types.Memory]:
        """The memory of each slot; the client is asked for those that are not known, each once (NNHAL-BURST-009)."""
        known = {slot: self.cache.memory(slot) for slot in slots}
        unknown = tuple(slot for slot, memory in known.items() if memory is None)
        fetched = self._callback.get_memories(unknown) if unknown else ()
        if len(fetched) != len(unknown):
            text = f"the client gave {len(fetched)} memories for {len(unknown)} slots"
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, text)
        found = {slot: memory for slot, memory in known.items() if memory is not None}
        found.update(zip(unknown, fetched, strict=True))
        return [self.cache.keep(slot, found[slot]) for slot in slots]

    def _failure(self, status: int) -> bytes:
        return pack(result_elements(status, (), self._unavailable))


class QueueReader:
    """The thread that answers packets of a queue. Once `stop` has returned it takes and writes no more packets."""

    def __init__(self, server: PacketServer, requests: MessageQueue, results: MessageQueue) -> None:
        self._server, self._requests, self._results = server, requests, results
        self._stopped = False
        # Reentrant: the reader's own thread may collect the context, which stops the reader.
        self._touching = threading.RLock()
        self.thread = threading.Thread(target=self._run, name="burst", daemon=True)

    def stop(self) -> None:
        """End the thread, at the latest after the execution that is going on."""
        with self._touching:
            self._stopped = True
        self._requests.wake()
        self._server.cache.close()

    def _run(self) -> None:
        while not self._stopped:
            if self._requests.wait(_NAP_SECONDS, polling=POLLING_SECONDS):
                self._serve_one()

    def _serve_one(self) -> None:
        with self._touching:
            if self._stopped:
                return
            packet, room = self._taken()
        result = self._server.failure() if packet is None else self._answered(packet, room)
        with self._touching, contextlib.suppress(CorruptQueueError):  # a client that corrupts the queue gets no result
            if not self._stopped:
                self._results.write(result)

    def _answered(self, packet: bytes, room: int) -> bytes:
        """The result of a packet. The client waits for one, also where an engine breaks in a way of its own."""
        try:
            return self._server.answer(packet, room)
        except Exception:
            traceback.print_exc()
            return self._server.failure()

    def _taken(self) -> tuple[bytes | None, int]:
        """The next packet, and the room that its result may take; None for a corrupted queue."""
        try:
            return self._requests.read(), self._results.space()
        except CorruptQueueError:
            return None, 0


class ReferenceBurstContext(hal.BurstContext):
    """HIDL's burst. It ends when the client lets go of this object, or dies: then nothing refers to it any more."""

    def __init__(self, server: PacketServer, result_capacity: int) -> None:
        """result_capacity: elements of the longest result."""
        self._server, self._result_capacity = server, result_capacity
        self._running = threading.Lock()

    def free_memory(self, slot: int) -> None:
        """Unmap the memory of a slot."""
        self._server.cache.forget(slot)

    def execute_packet(self, packet: bytes) -> bytes:
        """Answer a packet that came as a message."""
        with self._running:
            return self._server.answer(packet, self._result_capacity)


def open_on_queues(
    prepared: Prepared,
    callback: hal.BurstCallback | None,
    requests: types.QueueDescriptor,
    results: types.QueueDescriptor,
) -> ReferenceBurstContext:
    """Open HIDL's burst. Raises INVALID_ARGUMENT for a null callback or a queue that is not inside its memory."""
    if callback is None:
        raise ServiceError(ErrorStatus.INVALID_ARGUMENT, "the callback is null")
    if requests.capacity <= 0 or results.capacity <= 0 or (requests.memory is None) != (results.memory is None):
        raise ServiceError(ErrorStatus.INVALID_ARGUMENT, "two queues with room, or two without memory, are expected")
    server = PacketServer(prepared, callback)
    context = ReferenceBurstContext(server, results.capacity)
    if requests.memory is None or results.memory is None:
        weakref.finalize(context, server.cache.close)
        return context
    reader = QueueReader(server, _queue(prepared, requests, requests.memory), _queue(prepared, results, results.memory))
    weakref.finalize(context, reader.stop)
    reader.thread.start()
    return context


def _queue(prepared: Prepared, descriptor: types.QueueDescriptor, memory: types.Memory) -> MessageQueue:
    try:
        return MessageQueue(prepared.context.memory.map(memory), descriptor.capacity, ELEMENT_SIZE)
    except ValueError as error:
        raise ServiceError(ErrorStatus.INVALID_ARGUMENT, str(error)) from None
