"""Memory objects: over the app's memory, over opaque hardware buffers, and made from descriptors."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from npu_conformance.reference.runtime.app_memory import AppMemory
from npu_conformance.reference.runtime.backend import DriverBuffer, MemoryDescription
from npu_conformance.reference.runtime.objects.environment import Environment
from npu_conformance.reference.runtime.objects.operands import bad_data
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription
from npu_conformance.specs.neuralnetworks.types import BLOB_FORMAT, Memory

if TYPE_CHECKING:
    from npu_conformance.reference.runtime.objects.compilation import Compilation

Role = tuple["Compilation", bool, int]
"""A compilation, whether it is an input, and its index."""


class MemoryObject:
    """What all kinds have in common. memory: None where only a device reaches the bytes."""

    memory: Memory | None = None
    buffer: DriverBuffer | None = None

    def check_constant(self, offset: int, length: int) -> None:
        """Raise BAD_DATA where a model's constant cannot lie here."""
        raise NotImplementedError

    def check_argument(self, role: Role, described: OperandDescription | None, offset: int, length: int) -> None:
        """Raise BAD_DATA where an execution's argument cannot lie here."""
        raise NotImplementedError


class AppMemoryObject(MemoryObject):
    """Shared memory of the app, or an AHardwareBuffer of format BLOB: a row of bytes."""

    memory: Memory

    def __init__(self, app_memory: AppMemory, memory: Memory) -> None:
        self.memory = app_memory.keep(memory)
        weakref.finalize(self, app_memory.free, self.memory)

    def check_constant(self, offset: int, length: int) -> None:
        """Raise BAD_DATA for a constant that does not lie inside (FW-MDL-017)."""
        self._check_inside(offset, length)

    def check_argument(self, role: Role, described: OperandDescription | None, offset: int, length: int) -> None:
        """Raise BAD_DATA for an argument that does not lie inside."""
        self._check_inside(offset, length)

    def _check_inside(self, offset: int, length: int) -> None:
        if offset == 0 and length == 0:
            raise bad_data("offset and length must be given for memory that has a size")
        if offset < 0 or length < 0 or offset + length > self.memory.size:
            raise bad_data(f"offset {offset} + length {length} is outside of {self.memory.size} bytes")


class OpaqueMemoryObject(AppMemoryObject):
    """An AHardwareBuffer of another format than BLOB: its layout is the vendor's, so that it is used whole."""

    def check_constant(self, offset: int, length: int) -> None:
        """Raise BAD_DATA: no constant can lie here (FW-MDL-018)."""
        raise bad_data("a hardware buffer that is no BLOB cannot hold a constant")

    def check_argument(self, role: Role, described: OperandDescription | None, offset: int, length: int) -> None:
        """Raise BAD_DATA for an offset or a length (FW-MEM-013)."""
        if offset or length:
            raise bad_data("a hardware buffer that is no BLOB is used whole")


class DescribedMemoryObject(MemoryObject):
    """Memory made from a descriptor. roles: those that were declared."""

    buffer: DriverBuffer

    def __init__(
        self,
        environment: Environment,
        buffer: DriverBuffer,
        description: MemoryDescription,
        roles: frozenset[Role],
    ) -> None:
        self._environment = environment
        self.buffer, self.description, self._roles = buffer, description, roles

    def __del__(self) -> None:
        self._environment.memories.free(self.buffer)

    def check_constant(self, offset: int, length: int) -> None:
        """Raise BAD_DATA: no constant can lie here (FW-MDL-018)."""
        raise bad_data("memory from a descriptor cannot hold a constant")

    def check_argument(self, role: Role, described: OperandDescription | None, offset: int, length: int) -> None:
        """Raise BAD_DATA for another role, for a part, and for a shape that the descriptor excludes (FW-MEM-003)."""
        if role not in self._roles:
            raise bad_data("the memory was not made for this role")
        if offset or length:
            raise bad_data("memory from a descriptor is used whole")
        dimensions = described.dimensions or () if described else ()
        if combined(dimensions, self.description.dimensions) is None:
            raise bad_data(f"dimensions {dimensions}, the descriptor says {self.description.dimensions}")

    @property
    def size(self) -> int:
        """Bytes of the value with the shape at this moment; 0 where that is not known."""
        return self._environment.extensions.byte_size(self.description.operand.type, self.buffer.dimensions)

    def written(self, dimensions: tuple[int, ...] | None) -> None:
        """Note that the memory holds a value of this shape, or none any more (FW-MEM-005)."""
        self.buffer.is_initialized = dimensions is not None
        if dimensions is not None:
            self.buffer.dimensions = dimensions


def combined(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape that both say in part; None where they contradict each other. An empty shape says nothing."""
    if not one or not other:
        return one or other
    if len(one) != len(other) or any(a != b and a != 0 and b != 0 for a, b in zip(one, other, strict=True)):
        return None
    return tuple(a or b for a, b in zip(one, other, strict=True))


def from_descriptor_of_file(
    environment: Environment, size: int, protect: int, fd: Memory | None, offset: int
) -> MemoryObject:
    """ANeuralNetworksMemory_createFromFd."""
    if size <= 0 or fd is None:
        raise bad_data(f"memory of {size} bytes, or without a descriptor")  # FW-MEM-010
    kind = Memory(fd.kind, size, fd.token, protect, offset, fd.description)
    return AppMemoryObject(environment.app_memory, kind)


def from_hardware_buffer(environment: Environment, buffer: Memory) -> MemoryObject:
    """ANeuralNetworksMemory_createFromAHardwareBuffer."""
    kind = AppMemoryObject if is_blob(buffer) else OpaqueMemoryObject
    return kind(environment.app_memory, buffer)


def is_blob(buffer: Memory) -> bool:
    """Whether a hardware buffer is a row of bytes: by its format where it says one."""
    if buffer.description is not None:
        return buffer.description.format == BLOB_FORMAT
    return buffer.kind == "hardware_buffer_blob"
