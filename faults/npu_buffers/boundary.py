"""The boundary between apps and the reference's allocators, at which faulty ones change what crosses it."""

from __future__ import annotations

import dataclasses
import functools
import weakref
from typing import Any, ClassVar

from npu_conformance.faults.factories import fault
from npu_conformance.faults.fault import Fault, FaultySubject, Variant
from npu_conformance.faults.source_edits import DetectedAs
from npu_conformance.faults.wrapper import Relay, Wrapper, forwarding
from npu_conformance.reference.clock import VirtualClock
from npu_conformance.reference.manager import service
from npu_conformance.reference.manager.manager import NpuManager
from npu_conformance.reference.npu_buffers.allocator import ClientAllocator
from npu_conformance.reference.npu_buffers.buffer import Buffer
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.npu.buffers import Allocator, AllocatorCallback, NpuBuffer
from npu_conformance.specs.npu.manager import Manager
from npu_conformance.specs.plugin import Context, Files, Subject
from npu_conformance.specs.versions import Version


@forwarding(Manager)
class AllocatingManager(Wrapper, Manager):
    """The reference manager, whose allocators are of a faulty kind. allocators: the living ones."""

    inner: NpuManager

    def __init__(self, context: Context, kind: type[FaultyAllocator]) -> None:
        self.clock = VirtualClock()
        options = {**context.options, **({"heaps": kind.heaps} if kind.heaps else {})}
        self.context = dataclasses.replace(context, clock=self.clock, files=kind.files(context), options=options)
        manager, self.control = service.create(self.context, real_time=kind.real_time)
        super().__init__(manager)
        self.allocators: weakref.WeakSet[FaultyAllocator] = weakref.WeakSet()
        self.kept: list[object] = []
        self._kind = kind

    def create_allocator(self, callback: AllocatorCallback) -> Allocator:
        """An allocator behind the boundary."""
        allocator = self._kind(self, callback)
        self.allocators.add(allocator)
        return allocator


@forwarding(Allocator)
class FaultyAllocator(Wrapper, Allocator):
    """An allocator behind the boundary. inner: the reference's; client: its client's callback.

    Calls of the callback and of buffers pass through the methods of their names.
    """

    inner: ClientAllocator
    real_time: ClassVar[bool] = False
    heaps: ClassVar[str] = ""

    def __init__(self, service: AllocatingManager, client: AllocatorCallback) -> None:
        self.service = service
        self.client = client
        super().__init__(service.inner.create_allocator(_Callback(client, weakref.ref(self))))

    @staticmethod
    def files(context: Context) -> Files:
        """The files that the reference is given."""
        return context.files

    def on_get_buffer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        """Deliver the answer to a request."""
        self.client.on_get_buffer(id, buffer, errno, message)

    def on_load(self, id: int, errno: int, message: str | None) -> None:
        """Deliver the answer to a load."""
        self.client.on_load(id, errno, message)

    def on_notify_preempted(self, id: int) -> None:
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


@forwarding(NpuBuffer)
class FaultyBuffer(Relay, NpuBuffer):
    """A buffer as the client sees it. inner: the reference's."""

    inner: Buffer


@forwarding(AllocatorCallback)
class _Callback(Relay, AllocatorCallback):
    """The client's callback as the reference sees it."""

    def call(self, name: str, *arguments: Any) -> Any:
        """Let the allocator make the call: it has this callback only. A dead one calls nobody."""
        allocator = self.boundary()
        return None if allocator is None else getattr(allocator, name)(*arguments)

    def given(self, interface: type, value: Any) -> Any:
        """The client gets buffers that pass the boundary."""
        return FaultyBuffer(value, self.boundary)


def faulty_allocator(kind: type[FaultyAllocator]) -> FaultySubject:
    """The reference manager with this kind of allocators."""

    def create(context: Context, _: Version) -> Subject:
        manager = AllocatingManager(context, kind)
        return Subject(manager=manager, manager_control=manager.control)

    clock = {"virtual_clock": not kind.real_time}
    return FaultySubject(create, ("manager", "manager_control"), manifest=lambda: clock)


_fault = functools.partial(fault, family="npu-buffers", area="cts.npu_buffers")


def buffer_fault(
    name: str,
    description: str,
    breaks: str,
    caught_by: str,
    kind: type[FaultyAllocator],
    detected_as: DetectedAs = "red",
) -> Fault:
    """A fault of an allocator behind the boundary, as a row of a table."""
    return _fault(name, description, breaks, caught_by, faulty_allocator(kind), detected_as=detected_as)


def buffer_variant(name: str, description: str, kind: type[FaultyAllocator]) -> Variant:
    """An allocator that differs and conforms, as a row of a table."""
    return Variant(f"npu-buffers-{name}", description, faulty_allocator(kind))
