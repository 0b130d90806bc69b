"""One buffer: its state, its memory, and its mappings."""

from __future__ import annotations

import mmap

from npu_conformance.reference.npu_buffers.heaps import Heap, Heaps
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.npu.buffers import AllocRequest, BufferState, Errno, FileSegment, NpuBuffer
from npu_conformance.specs.plugin import Exports


class Buffer(NpuBuffer):
    """A buffer of one client. Calls that change it hold the heaps' lock."""

    def __init__(self, request: AllocRequest, heaps: Heaps, exports: Exports) -> None:
        self.request = request
        self.size = request.size
        self.priority = request.priority
        self.state = BufferState.ALLOCATING
        self.heap: Heap | None = heaps.of(request)
        self._heaps = heaps
        self._exports = exports
        self.memory: mmap.mmap | None = None
        self.mappings: set[int] = set()

    def reserve(self) -> bool:
        """Take the memory from the heap; return False where the heap, or the system, is short of it."""
        if self.heap is None or not self.heap.take(self):
            return False
        try:
            # Anonymous and shared: it has no name that could outlive this process.
            self.memory = mmap.mmap(-1, self.size)
        except OSError:
            self.heap.give_back(self)
            return False
        return True

    def store(self, segment: FileSegment, content: bytes) -> None:
        """Copy a file's bytes to their place."""
        assert self.memory is not None
        self.memory[segment.buffer_offset : segment.buffer_offset + len(content)] = content

    def free(self) -> None:
        """Release everything."""
        if self.heap is not None:
            self.heap.give_back(self)
        self._drop(BufferState.FREED)

    def is_mapped(self) -> bool:
        """True while a client has it mapped."""
        return bool(self.mappings)

    def preempt(self) -> None:
        """Lose the memory."""
        interrupted = self.state
        self._drop(BufferState.PREEMPTED)
        self.preempted(interrupted)

    def preempted(self, interrupted: BufferState) -> None:
        """Called after the loss of the memory; an owner overrides this."""

    def map(self, length: int, protection: int, offset: int) -> Memory:
        """Make bytes reachable. See specs.npu.buffers.NpuBuffer."""
        with self._heaps.lock:
            if self.state is BufferState.FREED:
                raise ServiceError(Errno.EINVAL, f"buffer {self.request.id} is freed")
            if protection & ~self.request.protection:
                raise ServiceError(Errno.EACCES, f"protection {protection} exceeds {self.request.protection}")
            if self.state is not BufferState.ALLOCATED or self.memory is None:
                raise ServiceError(Errno.ENOMEM, f"buffer {self.request.id} is {self.state.name}")
            if length <= 0 or offset < 0 or offset + length > self.size:
                raise ServiceError(Errno.EINVAL, f"no bytes {offset} to {offset + length} of {self.size}")
            token = self._exports.export(memoryview(self.memory)[offset : offset + length], protection)
            self.mappings.add(token)
            return Memory("mappableFile", length, token, prot=protection)

    def unmap(self, token: int) -> None:
        """End a mapping."""
        with self._heaps.lock:
            if token not in self.mappings:
                raise ServiceError(Errno.EINVAL, f"{token} is no mapping of buffer {self.request.id}")
            self.mappings.discard(token)
            self._exports.withdraw(token)

    def _drop(self, state: BufferState) -> None:
        self.state = state
        for token in self.mappings:
            self._exports.withdraw(token)
        self.mappings.clear()
        self.memory = None
