"""The runtime's own device, nnapi-reference: the kernels of the reference, without a HAL in between."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from npu_conformance.reference.device.executor import Executor, Limits, agrees
from npu_conformance.reference.device.tensors import Array, element_type
from npu_conformance.reference.hal.capabilities import capabilities
from npu_conformance.reference.hal.memory import mapped, writable
from npu_conformance.reference.hal.timing import loop_limit
from npu_conformance.reference.runtime.backend import Argument, Outcome, Pools, RuntimeFailure
from npu_conformance.reference.runtime.planning.memory_domains import SharedBuffer
from npu_conformance.reference.runtime.planning.parts import NO_TIMING, PartBurst, Terms, failure, operations_of
from npu_conformance.specs.diagnostics import vlog
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import BASE_TYPE_MAX, DeviceType, ErrorStatus, OperationType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, element_count
from npu_conformance.specs.neuralnetworks.runtime.devices import CPU
from npu_conformance.specs.neuralnetworks.runtime.result_codes import (
    DEFAULT_LOOP_TIMEOUT_NS,
    ResultCode,
    result_of_status,
)
from npu_conformance.specs.plugin import Clock
from npu_conformance.specs.versions import NEWEST, Version


class CpuDevice:
    """Every operation but those of vendors; no caching, no memory of its own (FW-PRT-017). See partition.Candidate.

    capabilities: 1.0 for everything, by definition (FW-PRT-003).
    """

    name = CPU
    version_string = "npu-conformance-reference-1"
    type = int(DeviceType.CPU)
    extensions: tuple[types.Extension, ...] = ()
    is_cpu = True

    def __init__(self, pools: Pools, clock: Clock, feature_level: Version) -> None:
        self.feature_level = feature_level
        self.capabilities = capabilities(NEWEST)
        self.executed: set[int] = set()
        self._pools, self._clock = pools, clock

    def supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        """All but operations of extensions and OEMs."""
        return tuple(not is_of_vendor(operation.type) for operation in model.main.operations)

    def wait(self) -> ResultCode:
        """Return NO_ERROR at once: the CPU is always there."""
        return ResultCode.NO_ERROR

    def prepare(self, model: types.Model, deadline_ns: int | None = None) -> CpuPart:
        """Copy the constants; whether the kernels can compute is found out by the executions."""
        if deadline_ns is not None and deadline_ns <= self._clock.now_ns():
            raise RuntimeFailure(ResultCode.MISSED_DEADLINE_PERSISTENT, "the deadline has passed")  # FW-QOS-002
        try:
            with mapped(self._pools, model.pools) as views:
                executor = Executor(model, self.feature_level, views)
        except ServiceError as error:
            raise RuntimeFailure(result_of_status(error.status), str(error)) from error
        return CpuPart(self, model, executor, self._pools, self._clock)


class CpuPart:
    """A model or a step that the CPU computes."""

    prepared_model = None

    def __init__(self, device: CpuDevice, model: types.Model, executor: Executor, pools: Pools, clock: Clock) -> None:
        self.device = device
        self._executor, self._pools, self._clock = executor, pools, clock
        self._operations = operations_of(model)
        self._inputs = [model.main.operands[index].type for index in model.main.input_indexes]

    def execute(
        self, inputs: Sequence[Argument], outputs: Sequence[Argument], terms: Terms, burst: PartBurst | None = None
    ) -> Outcome:
        """Compute in this thread."""
        try:
            self._check_deadline(terms)
            with mapped(self._pools, [_memory(one) for one in (*inputs, *outputs) if not one.has_no_value]) as views:
                return self._run(inputs, outputs, terms, views)
        except ServiceError as error:
            reason = str(error)
            vlog.log("execution", lambda: f"CPU: {reason}")
            return failure(result_of_status(error.status))

    def _run(
        self, inputs: Sequence[Argument], outputs: Sequence[Argument], terms: Terms, views: Sequence[memoryview]
    ) -> Outcome:
        left = iter(views)
        given = [
            None if one.has_no_value else _read(kind, one, next(left))
            for kind, one in zip(self._inputs, inputs, strict=True)
        ]
        results = self._executor.run(given, self._limits(terms))
        places = [None if one.has_no_value else next(left) for one in outputs]
        for number, (one, result) in enumerate(zip(outputs, results, strict=True)):
            _check_shape(number, one, result)
        shapes = tuple(
            types.OutputShape(result.shape, place is None or result.nbytes <= length_of(one))
            for one, result, place in zip(outputs, results, places, strict=True)
        )
        if not all(shape.is_sufficient for shape in shapes):
            return Outcome(ResultCode.OUTPUT_INSUFFICIENT_SIZE, shapes, NO_TIMING, NO_TIMING)
        for one, result, place in zip(outputs, results, places, strict=True):
            if place is not None:
                _write(one, result, place)
        self.device.executed.update(self._operations)
        return Outcome(ResultCode.NO_ERROR, shapes, NO_TIMING, NO_TIMING)

    def _limits(self, terms: Terms) -> Limits:
        timeout = terms.loop_timeout_ns or DEFAULT_LOOP_TIMEOUT_NS
        return Limits(
            lambda: self._check_deadline(terms),
            lambda: loop_limit(self.device.feature_level, timeout, self._clock.now_ns),
        )

    def _check_deadline(self, terms: Terms) -> None:
        """Raise MISSED_DEADLINE_PERSISTENT once the deadline has passed (FW-QOS-002)."""
        if terms.deadline_ns is not None and terms.deadline_ns <= self._clock.now_ns():
            raise ServiceError(ErrorStatus.MISSED_DEADLINE_PERSISTENT, "the deadline has passed")


def is_of_vendor(operation_type: int) -> bool:
    """True for operations of extensions and OEMs, which nothing but their driver can compute."""
    return operation_type > BASE_TYPE_MAX or operation_type == OperationType.OEM_OPERATION


def _memory(argument: Argument) -> types.Memory:
    """Where an argument lies; a driver's buffer is not for the CPU (fallback.py copies it)."""
    if argument.memory is not None:
        return argument.memory
    if isinstance(argument.buffer, SharedBuffer):
        return argument.buffer.memory
    raise ServiceError(ErrorStatus.GENERAL_FAILURE, "the CPU cannot reach a driver's buffer")


def length_of(argument: Argument) -> int:
    """Bytes that an argument has room for."""
    return argument.buffer.memory.size if isinstance(argument.buffer, SharedBuffer) else argument.length


def _read(operand_type: int, argument: Argument, view: memoryview) -> Array:
    """A copy of an input, so that an output may lie where an input lies."""
    shape = argument.dimensions if OPERAND_TYPES[operand_type].is_tensor else ()
    kind, count = element_type(operand_type), element_count(shape)
    if count * kind.itemsize > length_of(argument):
        raise ServiceError(
            ErrorStatus.GENERAL_FAILURE, f"an input of shape {shape} is longer than {length_of(argument)}"
        )
    return numpy.frombuffer(view, kind, count, argument.offset).reshape(shape).copy()


def _check_shape(number: int, argument: Argument, result: Array) -> None:
    """Raise GENERAL_FAILURE for an output of another shape than the app said."""
    if not agrees(argument.dimensions, result.shape):
        message = f"output {number}: expected {argument.dimensions}, found {result.shape}"
        raise ServiceError(ErrorStatus.GENERAL_FAILURE, message)


def _write(argument: Argument, result: Array, view: memoryview) -> None:
    """Store an output, row-major."""
    if result.size:
        start = argument.offset
        flat = numpy.ascontiguousarray(result).reshape(-1).view(numpy.uint8)
        writable(view)[start : start + result.nbytes] = flat.data
