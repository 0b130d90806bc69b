"""Copying between memory objects (FW-MEM-005, -006)."""

from __future__ import annotations

from npu_conformance.reference.runtime.app_memory import OwnedPool, bytes_at
from npu_conformance.reference.runtime.backend import RuntimeFailure
from npu_conformance.reference.runtime.objects.environment import Environment
from npu_conformance.reference.runtime.objects.memory import (
    DescribedMemoryObject,
    MemoryObject,
    OpaqueMemoryObject,
    combined,
)
from npu_conformance.reference.runtime.objects.operands import bad_data
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.types import Operand


def copy(environment: Environment, source: MemoryObject, destination: MemoryObject) -> None:
    """ANeuralNetworksMemory_copy (FW-MEM-006). Raises RuntimeFailure; a refused copy is a failed one (FW-MEM-005)."""
    if source is destination:
        return
    done = False
    try:
        check_copy(source, destination)
        _copy_bytes(environment, source, destination)
        done = True
    finally:
        if isinstance(destination, DescribedMemoryObject):
            destination.written(destination.buffer.dimensions if done else None)


def check_copy(source: MemoryObject, destination: MemoryObject) -> None:
    """Raise BAD_DATA where a copy cannot be meant; gives the destination the source's shape where it can."""
    if isinstance(source, DescribedMemoryObject) and not source.buffer.is_initialized:
        raise bad_data("the source has not been written")
    if isinstance(destination, DescribedMemoryObject):
        _check_into_described(source, destination)
    elif _size(source) != _size(destination):
        raise bad_data(f"{_size(source)} bytes to {_size(destination)} bytes")


def _check_into_described(source: MemoryObject, destination: DescribedMemoryObject) -> None:
    shape: tuple[int, ...] | None = destination.description.dimensions
    if isinstance(source, DescribedMemoryObject):
        if not same_type(source.description.operand, destination.description.operand):
            raise bad_data("the two were made for operands of different types")
        shape = combined(source.buffer.dimensions, destination.description.dimensions)
        if shape is None:
            raise bad_data(f"shape {source.buffer.dimensions}, expected {destination.description.dimensions}")
    destination.buffer.dimensions = shape or ()
    if _size(source) != destination.size:
        raise bad_data(f"{_size(source)} bytes to {destination.size} bytes")


def _size(memory: MemoryObject) -> int:
    if isinstance(memory, DescribedMemoryObject):
        return memory.size
    return 0 if memory.memory is None or isinstance(memory, OpaqueMemoryObject) else memory.memory.size


def _copy_bytes(environment: Environment, source: MemoryObject, destination: MemoryObject) -> None:
    maker = environment.memories
    if source.buffer is None and destination.buffer is None:
        _copy_shared(environment, source, destination)
    elif source.buffer is None and source.memory is not None and destination.buffer is not None:
        maker.copy_from(source.memory, destination.buffer)
    elif source.buffer is not None and destination.memory is not None:
        maker.copy_to(source.buffer, destination.memory)
    elif source.buffer is not None and destination.buffer is not None:
        between = OwnedPool(environment.pools, _size(source))
        maker.copy_to(source.buffer, between.memory)
        maker.copy_from(between.memory, destination.buffer)


def _copy_shared(environment: Environment, source: MemoryObject, destination: MemoryObject) -> None:
    assert source.memory is not None
    assert destination.memory is not None
    content = bytes_at(environment.pools, source.memory, 0, source.memory.size)
    target = bytes_at(environment.pools, destination.memory, 0, destination.memory.size)
    if target.readonly or isinstance(source, OpaqueMemoryObject) or isinstance(destination, OpaqueMemoryObject):
        raise RuntimeFailure(ResultCode.UNMAPPABLE, "the memory cannot be written, or not be mapped at all")
    target[:] = content


def same_type(one: Operand, other: Operand) -> bool:
    """Whether two operands have the same type and quantisation."""
    parts = [(operand.type, operand.scale, operand.zero_point, operand.extra_params) for operand in (one, other)]
    return parts[0] == parts[1]
