"""hal.PreparedModel of the reference: requests are validated, run and written back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from npu_conformance.reference.device.executor import Executor, Limits, Runnable, agrees
from npu_conformance.reference.device.tensors import Array, element_type
from npu_conformance.reference.hal import timing
from npu_conformance.reference.hal.memory import mapped
from npu_conformance.specs.diagnostics import trace, vlog
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.validate import validate_request
from npu_conformance.specs.plugin import Context
from npu_conformance.specs.versions import Version


class ReferencePreparedModel(hal.PreparedModel):
    """A prepared model. Holds no reference to the device, nor the device to it (NNHAL-PREPARE-017)."""

    def __init__(self, model: types.Model, version: Version, context: Context, pools: Sequence[memoryview]) -> None:
        """model: valid and supported. pools: contents of its pools, read here for the last time."""
        self.model = model
        self.version = version
        self._context = context
        self._executor: Runnable = Executor(model, version, pools)

    def execute(
        self,
        request: types.Request,
        measure_timing: bool,
        deadline_ns: int,
        loop_timeout_duration_ns: int,
        callback: hal.ExecutionCallback | None,
    ) -> None:
        """HIDL's asynchronous form. This device is quick: it notifies before it returns, which clients must expect."""
        if callback is None:
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, "the callback is null")
        started = self._context.clock.now_ns()
        try:
            self._check_arguments(request, deadline_ns, loop_timeout_duration_ns)
        except ServiceError as error:
            self._notify_failure(callback, error.status)
            raise
        try:
            result = self._execute(
                request, measure_timing, self._limits(deadline_ns, loop_timeout_duration_ns), started
            )
        except ServiceError as error:
            self._notify_failure(callback, error.status)
            return
        sufficient = result.output_sufficient_size
        status = ErrorStatus.NONE if sufficient else ErrorStatus.OUTPUT_INSUFFICIENT_SIZE
        has_result = self.version >= Version.V1_2
        callback.notify(status, result.output_shapes if has_result else (), result.timing if has_result else None)

    def execute_synchronously(
        self, request: types.Request, measure_timing: bool, deadline_ns: int, loop_timeout_duration_ns: int
    ) -> types.ExecutionResult:
        """Order of errors, as in AOSP's sample driver: arguments, deadline, pools, then what the run finds."""
        started = self._context.clock.now_ns()
        self._check_arguments(request, deadline_ns, loop_timeout_duration_ns)
        return self._execute(request, measure_timing, self._limits(deadline_ns, loop_timeout_duration_ns), started)

    def execute_synchronously_with_config(
        self, request: types.Request, config: types.ExecutionConfig, deadline_ns: int
    ) -> types.ExecutionResult:
        """Hints are ignored: the device has no extensions."""
        return self.execute_synchronously(request, config.measure_timing, deadline_ns, config.loop_timeout_duration_ns)

    def _check_arguments(self, request: types.Request, deadline_ns: int, loop_timeout_duration_ns: int) -> None:
        violations = validate_request(request, self.model, self.version)
        if violations:
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, str(violations[0]))
        if any(pool.pool is None for pool in request.pools):
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, "REQUEST.D8: this device has allocated no such buffer")
        if self.version >= Version.V1_3:
            timing.check_deadline_form(self.version, deadline_ns)
            timing.check_loop_timeout_form(self.version, loop_timeout_duration_ns)

    def _limits(self, deadline_ns: int, loop_timeout_duration_ns: int) -> Limits:
        """The deadline of the whole execution, and the time that each of its loops may take."""
        clock, version = self._context.clock, self.version
        return Limits(
            checkpoint=lambda: timing.check_deadline(version, deadline_ns, clock),
            begin_loop=lambda: timing.loop_limit(version, loop_timeout_duration_ns, clock),
        )

    def _execute(
        self, request: types.Request, measure_timing: bool, limits: Limits, started: int
    ) -> types.ExecutionResult:
        clock = self._context.clock
        limits.checkpoint()
        with mapped(self._context.memory, [pool.pool for pool in request.pools if pool.pool is not None]) as pools:
            inputs = self._read_inputs(request, pools)
            on_device = clock.now_ns()
            with trace.span("driver", "run", inputs=len(inputs)):
                outputs = self._executor.run(inputs, limits)
            device_ns = clock.now_ns() - on_device
            shapes = self._write_outputs(request, pools, outputs)
        sufficient = all(shape.is_sufficient for shape in shapes)
        vlog.log("execution", lambda: f"executed: outputs {[shape.dimensions for shape in shapes]}, {device_ns} ns")
        if measure_timing and sufficient:
            times = timing.measured_timing(self.version, device_ns, clock.now_ns() - started)
        else:
            times = timing.unavailable_timing(self.version)
        return types.ExecutionResult(sufficient, shapes, times)

    def _read_inputs(self, request: types.Request, pools: Sequence[memoryview]) -> list[Array | None]:
        """Copy the inputs, so that a client who writes to them meanwhile can not confuse the kernels."""
        graph = self.model.main
        operands = [graph.operands[index] for index in graph.input_indexes]
        return [
            None if argument.has_no_value else _read(operand, argument, pools)
            for operand, argument in zip(operands, request.inputs, strict=True)
        ]

    def _write_outputs(
        self, request: types.Request, pools: Sequence[memoryview], outputs: Sequence[Array]
    ) -> tuple[types.OutputShape, ...]:
        """Write the outputs, unless one does not fit: then the shapes tell how large the buffers must be."""
        arguments = list(zip(request.outputs, outputs, strict=True))
        for position, (argument, output) in enumerate(arguments):
            if not agrees(argument.dimensions, output.shape):
                where = f"output {position} of the request"
                raise ServiceError(
                    ErrorStatus.GENERAL_FAILURE, f"{where}: expected {argument.dimensions}, found {output.shape}"
                )
        # Only `length` counts: padding behind it is not for output data.
        shapes = tuple(
            types.OutputShape(output.shape, output.nbytes <= argument.location.length) for argument, output in arguments
        )
        if all(shape.is_sufficient for shape in shapes):
            for argument, output in arguments:
                _write(argument, output, pools)
        return shapes

    def _notify_failure(self, callback: hal.ExecutionCallback, status: int) -> None:
        has_result = self.version >= Version.V1_2
        callback.notify(status, (), timing.unavailable_timing(self.version) if has_result else None)


def _read(operand: types.Operand, argument: types.RequestArgument, pools: Sequence[memoryview]) -> Array:
    """Return a copy of an input, in the shape that the request or the model gives it."""
    shape = (argument.dimensions or operand.dimensions) if OPERAND_TYPES[operand.type].is_tensor else ()
    location, dtype = argument.location, element_type(operand.type)
    count = int(numpy.prod(shape, dtype=numpy.int64))
    if count * dtype.itemsize > location.length:
        raise ServiceError(ErrorStatus.GENERAL_FAILURE, f"an input of shape {shape} is longer than {location.length}")
    pool = pools[location.pool_index]
    return numpy.frombuffer(pool, dtype, count, location.offset).reshape(shape).copy()


def _write(argument: types.RequestArgument, output: Array, pools: Sequence[memoryview]) -> None:
    """Copy an output, row-major, to its place; one without elements or value has none."""
    if argument.has_no_value or output.size == 0:
        return
    pool = pools[argument.location.pool_index]
    if pool.readonly:
        raise ServiceError(ErrorStatus.GENERAL_FAILURE, "an output lies in memory that is read-only")
    start = argument.location.offset
    pool[start : start + output.nbytes] = numpy.ascontiguousarray(output).reshape(-1).view(numpy.uint8).data
