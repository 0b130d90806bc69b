"""A driver from scratch: ADD of float32, executed in the call, for HAL 1.2 and later. docs/adapters.md shows it."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy

from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import (
    DeviceStatus,
    DeviceType,
    ErrorStatus,
    ExecutionPreference,
    OperandLifeTime,
    OperandType,
    OperationType,
    Priority,
)
from npu_conformance.specs.neuralnetworks.validate import validate_model, validate_request
from npu_conformance.specs.plugin import Context, Plugin, Subject
from npu_conformance.specs.versions import Version, parse

ACTIVATIONS = {0: (-numpy.inf, numpy.inf), 1: (0, numpy.inf), 2: (-1, 1), 3: (0, 6)}  # by FusedActivation


class Driver(hal.Device):
    def __init__(self, context: Context, version: Version) -> None:
        self.context, self.version = context, version

    def get_capabilities(self) -> types.Capabilities:
        fast = types.PerformanceInfo(exec_time=0.5, power_usage=0.5)
        since_1_3 = fast if self.version >= Version.V1_3 else None
        return types.Capabilities(
            relaxed_float32_to_float16_performance_scalar=fast,
            relaxed_float32_to_float16_performance_tensor=fast,
            operand_performance=(types.OperandPerformance(OperandType.TENSOR_FLOAT32, fast),),
            if_performance=since_1_3,
            while_performance=since_1_3,
        )

    def get_status(self) -> int:
        return DeviceStatus.AVAILABLE

    def get_type(self) -> int:
        return DeviceType.ACCELERATOR

    def get_version_string(self) -> str:
        return "0.1"

    def get_supported_extensions(self) -> tuple[types.Extension, ...]:
        return ()

    def get_number_of_cache_files_needed(self) -> types.NumberOfCacheFiles:
        return types.NumberOfCacheFiles(0, 0)  # does not cache

    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        if validate_model(model, self.version):
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT)
        return tuple(self._supports(model, operation) for operation in model.main.operations)

    def _supports(self, model: types.Model, operation: types.Operation) -> bool:
        kinds = {model.main.operands[index].type for index in (*operation.inputs[:2], *operation.outputs)}
        return operation.type == OperationType.ADD and kinds == {OperandType.TENSOR_FLOAT32}

    def prepare_model(
        self,
        model: types.Model,
        preference: int,
        priority: int,
        deadline_ns: int,
        model_cache: tuple[types.CacheHandle, ...],
        data_cache: tuple[types.CacheHandle, ...],
        token: bytes,
        callback: hal.PreparedModelCallback | None,
    ) -> None:
        if callback is None:
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT)
        try:
            prepared = self._prepared(model, preference, priority)
        except ServiceError as error:
            callback.notify(error.status, None)
            if error.status == ErrorStatus.INVALID_ARGUMENT:
                raise  # what is wrong with the arguments goes to the caller as well, behind the callback
        else:
            callback.notify(ErrorStatus.NONE, prepared)

    def _prepared(self, model: types.Model, preference: int, priority: int) -> Prepared:
        are_known = preference in set(ExecutionPreference) and (
            self.version < Version.V1_3 or priority in set(Priority)
        )
        if validate_model(model, self.version) or not are_known:
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT)
        if not all(self._supports(model, operation) for operation in model.main.operations):
            raise ServiceError(ErrorStatus.GENERAL_FAILURE)  # valid, and not supported
        return Prepared(self, model)


class Prepared(hal.PreparedModel):
    def __init__(self, driver: Driver, model: types.Model) -> None:
        self.driver, self.model = driver, model
        pools = [self._mapped(memory) for memory in model.pools]
        self.constants = {}  # copied: the client may free its memory now
        for index, operand in enumerate(model.main.operands):
            if operand.lifetime == OperandLifeTime.CONSTANT_COPY:
                self.constants[index] = read(model.operand_values, operand.location, operand, operand.dimensions)
            elif operand.lifetime == OperandLifeTime.CONSTANT_POOL:
                pool = pools[operand.location.pool_index]
                self.constants[index] = read(pool, operand.location, operand, operand.dimensions)

    def execute_synchronously(
        self, request: types.Request, measure_timing: bool, deadline_ns: int, loop_timeout_duration_ns: int
    ) -> types.ExecutionResult:
        return self._executed(request)

    def execute(
        self,
        request: types.Request,
        measure_timing: bool,
        deadline_ns: int,
        loop_timeout_duration_ns: int,
        callback: hal.ExecutionCallback | None,
    ) -> None:
        """HIDL's other way. The outcome may come before this returns."""
        if callback is None:
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT)
        try:
            result = self._executed(request)
        except ServiceError as error:
            callback.notify(error.status, (), self._no_timing())
            raise
        callback.notify(result.status, result.output_shapes, result.timing)

    def _executed(self, request: types.Request) -> types.ExecutionResult:
        is_invalid = validate_request(request, self.model, self.driver.version)
        if is_invalid or any(pool.pool is None for pool in request.pools):  # tokens: no buffer was ever allocated
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT)
        pools = [self._mapped(pool.pool) for pool in request.pools if pool.pool]
        main = self.model.main
        values = dict(self.constants)
        for index, given in zip(main.input_indexes, request.inputs, strict=True):
            operand = main.operands[index]
            pool = pools[given.location.pool_index]
            values[index] = read(pool, given.location, operand, given.dimensions or operand.dimensions)
        for operation in main.operations:
            (output,) = operation.outputs
            values[output] = add(*(values[index] for index in operation.inputs))
            require_shape(main.operands[output].dimensions, values[output].shape)
        outputs = zip(main.output_indexes, request.outputs, strict=True)
        shapes = tuple(self._written(values[index], wanted, pools) for index, wanted in outputs)
        return types.ExecutionResult(all(shape.is_sufficient for shape in shapes), shapes, self._no_timing())

    def _written(
        self, value: numpy.ndarray, wanted: types.RequestArgument, pools: list[memoryview]
    ) -> types.OutputShape:
        """Write an output where it fits, and say its shape in any case."""
        place, data = wanted.location, value.tobytes()
        pool = pools[place.pool_index]
        if pool.readonly or place.offset + place.length > len(pool):
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT)
        if len(data) <= place.length:
            pool[place.offset : place.offset + len(data)] = data
        return types.OutputShape(value.shape, len(data) <= place.length)

    def _mapped(self, memory: types.Memory) -> memoryview:
        is_blob = memory.kind == "hardware_buffer_blob" and memory.description is None
        if memory.description is not None:
            is_blob = memory.description.format == types.BLOB_FORMAT
        if memory.kind.lower().startswith("hardware") and not is_blob:  # of a layout that only its vendor knows
            raise ServiceError(ErrorStatus.GENERAL_FAILURE)
        return self.driver.context.memory.map(memory)

    def _no_timing(self) -> types.Timing:
        return types.Timing(self.driver.version.unavailable_time, self.driver.version.unavailable_time)


def read(
    data: bytes | memoryview, place: types.DataLocation, operand: types.Operand, shape: tuple[int, ...]
) -> numpy.ndarray:
    """A tensor of float32, or the scalar that names an activation."""
    kind = numpy.float32 if operand.type == OperandType.TENSOR_FLOAT32 else numpy.int32
    content = bytes(data[place.offset : place.offset + place.length])
    if len(content) != 4 * math.prod(shape):  # as of memory that only a device could read
        raise ServiceError(ErrorStatus.INVALID_ARGUMENT)
    return numpy.frombuffer(content, kind).reshape(shape)


def add(one: numpy.ndarray, other: numpy.ndarray, activation: numpy.ndarray) -> numpy.ndarray:
    try:
        result: numpy.ndarray = numpy.clip(one + other, *ACTIVATIONS[int(activation)]).astype(numpy.float32)
    except (ValueError, KeyError):  # shapes that do not go together, or no such activation: known only now
        raise ServiceError(ErrorStatus.INVALID_ARGUMENT) from None
    return result


def require_shape(declared: tuple[int, ...], shape: tuple[int, ...]) -> None:
    """What the model leaves open, 0 or no dimensions at all, is known only now: refuse what does not go together."""
    agrees = len(declared) == len(shape) and all(
        wanted in (0, size) for wanted, size in zip(declared, shape, strict=True)
    )
    if len(shape) > 4 or (declared and not agrees):
        raise ServiceError(ErrorStatus.INVALID_ARGUMENT)


def version_of(options: Mapping[str, str]) -> Version:
    """--hal, or --plugin-option hal=VERSION."""
    return parse(options.get("hal", "1.2"))


def manifest(options: Mapping[str, str]) -> Manifest:
    return Manifest(
        name="python-driver",
        vendor="Example",
        version="0.1",
        hal_version=version_of(options),
        options={"hal": "version of the HAL, from 1.2 (default: 1.2)"},
    )


plugin = Plugin(manifest, lambda context: Subject(device=Driver(context, version_of(context.options))))
