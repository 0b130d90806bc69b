"""The boundary between apps and the reference's allocators, at which the faults bend what crosses it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar, Literal

from npu_conformance.faults.boundary import forwarding
from npu_conformance.reference.clock import VirtualClock
from npu_conformance.reference.manager import service
from npu_conformance.reference.npu_buffers.allocator import ClientAllocator
from npu_conformance.reference.npu_buffers.buffer import Buffer
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.npu.buffers import Allocator, AllocatorCallback, AllocRequest, FileSegment, NpuBuffer
from npu_conformance.specs.npu.manager import Manager
from npu_conformance.specs.plugin import Context, Files, Subject


@forwarding(Manager)
class BentManager(Manager):
    """The reference manager, whose allocators are of a bent kind. allocators: those that live."""

    def __init__(self, context: Context, kind: type[Conforming]) -> None:
        self.clock = VirtualClock()
        options = {**context.options, **({"heaps": kind.heaps} if kind.heaps else {})}
        self.context = replace(context, clock=self.clock, files=kind.files(context), options=options)
        self.inner, self.control = service.create(self.context, real_time=kind.real_time)
        self.allocators: weakref.WeakSet[Conforming] = weakref.WeakSet()
        self.kept: list[object] = []
        self._kind = kind

    def create_allocator(self, callback: AllocatorCallback) -> Allocator:
        """An allocator behind the boundary."""
        allocator = self._kind(self, callback)
        self.allocators.add(allocator)
        return allocator


class Conforming(Allocator):
    """Forwards everything unbent: the boundary itself, which every case has to let pass. inner: the reference's."""

    breaks: ClassVar[tuple[str, ...]] = ()
    caught_by: ClassVar[str] = ""
    noticed_as: ClassVar[Literal["red", "quality-warning"]] = "red"
    real_time: ClassVar[bool] = False
    heaps: ClassVar[str] = ""

    def __init__(self, service: BentManager, client: AllocatorCallback) -> None:
        self.service, self.client = service, client
        made = service.inner.create_allocator(Callback(self))
        assert isinstance(made, ClientAllocator)
        self.inner: ClientAllocator = made

    @staticmethod
    def files(context: Context) -> Files:
        """The files that the reference is given."""
        return context.files

    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        """Forward."""
        self.inner.get_buffers(requests)

    def is_supported(self, requests: tuple[AllocRequest, ...]) -> tuple[bool, ...]:
        """Forward."""
        return self.inner.is_supported(requests)

    def put_buffers(self, ids: tuple[int, ...]) -> None:
        """Forward."""
        self.inner.put_buffers(ids)

    def set_priority(self, id: int, priority: int) -> None:
        """Forward."""
        self.inner.set_priority(id, priority)

    def load_file_segment_to_buffer(self, id: int, segment: FileSegment) -> None:
        """Forward."""
        self.inner.load_file_segment_to_buffer(id, segment)

    def answer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        """Deliver the answer to a request."""
        self.client.on_get_buffer(id, buffer, errno, message)

    def loaded(self, id: int, errno: int, message: str | None) -> None:
        """Deliver the answer to a load."""
        self.client.on_load(id, errno, message)

    def preempted(self, id: int) -> None:
        """Deliver a preemption."""
        self.client.on_notify_preempted(id)

    def map(self, buffer: FaultyBuffer, length: int, protection: int, offset: int) -> Memory:
        """Forward a mapping."""
        return buffer.inner.map(length, protection, offset)

    def unmap(self, buffer: FaultyBuffer, token: int) -> None:
        """Forward the end of a mapping."""
        buffer.inner.unmap(token)

    def live(self, id: int) -> Buffer | None:
        """The reference's buffer of an id."""
        return self.inner.client.buffers.get(id)


class FaultyBuffer(NpuBuffer):
    """A buffer as the client sees it."""

    def __init__(self, inner: Buffer, allocator: Conforming) -> None:
        self.inner, self._allocator = inner, weakref.ref(allocator)

    def map(self, length: int, protection: int, offset: int) -> Memory:
        """Pass through the boundary."""
        allocator = self._allocator()
        assert allocator is not None
        return allocator.map(self, length, protection, offset)

    def unmap(self, token: int) -> None:
        """Pass through the boundary."""
        allocator = self._allocator()
        assert allocator is not None
        allocator.unmap(self, token)


class Callback(AllocatorCallback):
    """A client's callback as the reference sees it. It holds nobody: a client's death frees the allocator."""

    def __init__(self, allocator: Conforming) -> None:
        self._allocator = weakref.ref(allocator)

    def on_get_buffer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        """Pass through the boundary."""
        allocator = self._allocator()
        if allocator is not None:
            wrapped = FaultyBuffer(buffer, allocator) if isinstance(buffer, Buffer) else None
            allocator.answer(id, wrapped, errno, message)

    def on_load(self, id: int, errno: int, message: str | None) -> None:
        """Pass through the boundary."""
        allocator = self._allocator()
        if allocator is not None:
            allocator.loaded(id, errno, message)

    def on_notify_preempted(self, id: int) -> None:
        """Pass through the boundary."""
        allocator = self._allocator()
        if allocator is not None:
            allocator.preempted(id)


def maker(kind: type[Conforming]) -> Callable[[Context, object], Subject]:
    """What makes the subject of a bent kind."""

    def create(context: Context, _: object) -> Subject:
        manager = BentManager(context, kind)
        return Subject(manager=manager, manager_control=manager.control)

    return create
