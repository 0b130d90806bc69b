"""Arguments of a part as the request of a driver, and its answer as an outcome."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.reference.device.executor import agrees
from npu_conformance.reference.runtime.backend import Argument, Outcome
from npu_conformance.reference.runtime.planning.memory_domains import DeviceMemory, SharedBuffer
from npu_conformance.reference.runtime.planning.parts import NO_TIMING, failure
from npu_conformance.reference.runtime.planning.version import memory_for
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, element_count
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode, result_of_status
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Memory,
    Operand,
    OutputShape,
    Request,
    RequestArgument,
    RequestMemoryPool,
    Timing,
)
from npu_conformance.specs.versions import Version

_OMITTED = RequestArgument(has_no_value=True)
_LARGEST_SIZE = 0xFFFFFFFF


def request_of(version: Version, inputs: Sequence[Argument], outputs: Sequence[Argument]) -> Request:
    """The request. Raises ServiceError(GENERAL_FAILURE) for a driver's buffer before 1.3."""
    pools = _Pools(version)
    return Request(tuple(map(pools.argument, inputs)), tuple(map(pools.argument, outputs)), tuple(pools.found))


class _Pools:
    """The pools of a request, each once."""

    def __init__(self, version: Version) -> None:
        self._version = version
        self.found: list[RequestMemoryPool] = []
        self._places: dict[tuple[str, int], int] = {}

    def argument(self, argument: Argument) -> RequestArgument:
        if argument.has_no_value:
            return _OMITTED
        buffer = argument.buffer
        if isinstance(buffer, DeviceMemory):
            return RequestArgument(location=DataLocation(self._token(buffer)), dimensions=argument.dimensions)
        if isinstance(buffer, SharedBuffer):
            place = DataLocation(self._memory(buffer.memory), 0, buffer.memory.size)
            return RequestArgument(location=place, dimensions=argument.dimensions)
        assert argument.memory is not None
        padding = argument.padding if self._version.is_aidl else 0
        place = DataLocation(self._memory(argument.memory), argument.offset, argument.length, padding)
        return RequestArgument(location=place, dimensions=argument.dimensions)

    def _memory(self, memory: Memory) -> int:
        key = ("memory", memory.token)
        if key not in self._places:
            self._places[key] = len(self.found)
            self.found.append(RequestMemoryPool(memory_for(self._version, memory)))
        return self._places[key]

    def _token(self, buffer: DeviceMemory) -> int:
        if self._version < Version.V1_3:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, f"HAL {self._version} has no driver-managed buffers")
        key = ("token", buffer.token)
        if key not in self._places:
            self._places[key] = len(self.found)
            self.found.append(RequestMemoryPool(token=buffer.token))
        return self._places[key]


def outcome_of(
    status: int,
    shapes: Sequence[OutputShape],
    timing: Timing,
    arguments: Sequence[Argument],
    operands: Sequence[Operand],
    *,
    is_strict: bool,
) -> Outcome:
    """The outcome of an execution. arguments, operands: of its outputs. is_strict: profile T (FW-VER-008)."""
    result = result_of_status(status)
    if result not in (ResultCode.NO_ERROR, ResultCode.OUTPUT_INSUFFICIENT_SIZE):
        return failure(result)
    if not shapes:
        return _without_shapes(result, timing, arguments, is_strict=is_strict)
    if not _agree(shapes, arguments, operands) or (is_strict and not _fits_result(result, shapes, operands)):
        return failure(ResultCode.OP_FAILED)
    timing = timing if result == ResultCode.NO_ERROR else NO_TIMING
    return Outcome(result, tuple(shapes), timing, NO_TIMING)


def _without_shapes(result: ResultCode, timing: Timing, arguments: Sequence[Argument], *, is_strict: bool) -> Outcome:
    """The outcome where the driver says no shape: those of the app hold. Profile T: too small is what one is."""
    if result != ResultCode.NO_ERROR:
        return failure(ResultCode.OP_FAILED if is_strict else result)
    return Outcome(result, tuple(OutputShape(one.dimensions, True) for one in arguments), timing, NO_TIMING)


def _agree(shapes: Sequence[OutputShape], arguments: Sequence[Argument], operands: Sequence[Operand]) -> bool:
    """Whether there are as many shapes as outputs, and none contradicts what is known or is too large."""
    return len(shapes) == len(arguments) and all(
        agrees(argument.dimensions, shape.dimensions) and _byte_size(operand, shape) <= _LARGEST_SIZE
        for shape, argument, operand in zip(shapes, arguments, operands, strict=True)
    )


def _byte_size(operand: Operand, shape: OutputShape) -> int:
    info = OPERAND_TYPES.get(operand.type)
    return element_count(shape.dimensions) * (info.size if info else 1)


def _fits_result(result: ResultCode, shapes: Sequence[OutputShape], operands: Sequence[Operand]) -> bool:
    """Profile T: success has no output that was too small and no tensor without rank; the other has one too small."""
    if result == ResultCode.OUTPUT_INSUFFICIENT_SIZE:
        return not all(shape.is_sufficient for shape in shapes)
    kinds = [OPERAND_TYPES.get(operand.type) for operand in operands]
    has_ranks = all(
        shape.dimensions or (kind is not None and not kind.is_tensor) for shape, kind in zip(shapes, kinds, strict=True)
    )
    return has_ranks and all(shape.is_sufficient for shape in shapes)
