"""Where the values of a graph lie while its steps run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from npu_conformance.reference.runtime.backend import Argument, Pools, RuntimeDevice
from npu_conformance.reference.runtime.planning.memory_domains import DeviceMemory, SharedBuffer
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import EXTENSION_TYPE_LOW_BITS, ErrorStatus
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.types import Memory, Model, Operand

_ALIGNMENT = 64
"""Of temporaries, in bytes: what drivers of feature level 5 prefer."""


class Scratch:
    """Memory for the temporaries of one execution; free gives all of it back.

    sizes: bytes of an element of each operand type of an extension.
    """

    def __init__(self, pools: Pools, sizes: Mapping[int, int] | None = None) -> None:
        self.pools, self._sizes = pools, sizes or {}
        self._made: list[Memory] = []

    def place(self, operands: Sequence[Operand]) -> list[Argument]:
        """Places for operands, in one pool. An unknown size counts as 1: such a place may turn out too small."""
        lengths = [self.size_of(operand, [size or 1 for size in operand.dimensions]) for operand in operands]
        offsets, end = [], 0
        for length in lengths:
            offsets.append(end)
            end += -(-length // _ALIGNMENT) * _ALIGNMENT
        memory = self._make(end)
        return [
            Argument(operand.dimensions, memory, offset, length)
            for operand, offset, length in zip(operands, offsets, lengths, strict=True)
        ]

    def size_of(self, operand: Operand, dimensions: Sequence[int]) -> int:
        """Bytes of an operand in this shape."""
        return size_of(operand, dimensions) * self._sizes.get(operand.type, 1)

    def larger(self, place: Argument, length: int) -> Argument:
        """A new place of more bytes for a value whose size was not known."""
        return replace(place, memory=self._make(length), offset=0, length=length)

    def hold(self, content: bytes, dimensions: tuple[int, ...]) -> Argument:
        """A place with a value."""
        memory = self._make(len(content))
        self.pools.map(memory)[: len(content)] = content
        return Argument(dimensions, memory, 0, len(content))

    def free(self) -> None:
        """Give the memory back."""
        while self._made:
            self.pools.free(self._made.pop())

    def _make(self, size: int) -> Memory:
        memory = self.pools.make(size)
        self._made.append(memory)
        return memory


def extension_sizes(model: Model, devices: Iterable[RuntimeDevice]) -> dict[int, int]:
    """Bytes of an element of the operand types that extensions bring, by the codes that they have in a model."""
    prefixes = {entry.name: entry.prefix << EXTENSION_TYPE_LOW_BITS for entry in model.extension_name_to_prefix}
    known = [one for device in devices for one in device.extensions if one.name in prefixes]
    return {prefixes[one.name] | kind.type: kind.byte_size for one in known for kind in one.operand_types}


def size_of(operand: Operand, dimensions: Sequence[int]) -> int:
    """Bytes of an operand in this shape; elements where its type is an extension's."""
    size = _one(operand)
    for dimension in dimensions:
        size *= dimension
    return size


def _one(operand: Operand) -> int:
    info = OPERAND_TYPES.get(operand.type)
    return info.size if info else 1


def read_bytes(pools: Pools, place: Argument) -> bytes:
    """The content of a place. Raises ServiceError."""
    if isinstance(place.buffer, DeviceMemory):
        return _read_device_memory(pools, place.buffer)
    if isinstance(place.buffer, SharedBuffer):
        return bytes(pools.map(place.buffer.memory))
    if place.memory is None:
        raise ServiceError(ErrorStatus.GENERAL_FAILURE, "a value is omitted")
    return bytes(pools.map(place.memory)[place.offset : place.offset + place.length])


def write_bytes(pools: Pools, place: Argument, content: bytes) -> None:
    """Fill a place. Raises ServiceError."""
    if isinstance(place.buffer, DeviceMemory):
        _write_device_memory(pools, place.buffer, content, place.dimensions)
    elif isinstance(place.buffer, SharedBuffer):
        pools.map(place.buffer.memory)[: len(content)] = content
    elif place.memory is not None:
        pools.map(place.memory)[place.offset : place.offset + len(content)] = content


def _read_device_memory(pools: Pools, memory: DeviceMemory) -> bytes:
    through = pools.make(size_of(memory.operand, memory.dimensions))
    try:
        memory.buffer.copy_to(through)
        return bytes(pools.map(through))
    finally:
        pools.free(through)


def _write_device_memory(pools: Pools, memory: DeviceMemory, content: bytes, dimensions: tuple[int, ...]) -> None:
    through = pools.make(len(content))
    try:
        pools.map(through)[:] = content
        memory.buffer.copy_from(through, dimensions)
    finally:
        pools.free(through)
