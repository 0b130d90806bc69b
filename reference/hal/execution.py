"""One execution: a request that was checked, run on the device, and its outputs written back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy
from msgspec.structs import replace

from npu_conformance.reference.device.compute_unit import Checkpoint, ComputeUnit, QueueFullError
from npu_conformance.reference.device.executor import Limits, Runnable, agrees
from npu_conformance.reference.device.shortage import shortage
from npu_conformance.reference.device.tensors import Array, element_type
from npu_conformance.reference.hal import timing
from npu_conformance.reference.hal.buffers import Buffers, ReferenceBuffer
from npu_conformance.reference.hal.memory import mapped, writable
from npu_conformance.reference.hal.used_buffers import Pool, UsedBuffers
from npu_conformance.specs.diagnostics import trace, vlog
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, element_count
from npu_conformance.specs.neuralnetworks.validate import validate_request
from npu_conformance.specs.plugin import Context, MemoryMap
from npu_conformance.specs.versions import Version


class Terms(msgspec.Struct, frozen=True):
    """What a client asks of one execution, beside the request. Times are in the form of the version."""

    measure_timing: bool
    deadline_ns: int
    loop_timeout_duration_ns: int


@dataclass(frozen=True, eq=False)
class Prepared:
    """What all executions of one prepared model share; the roles of buffers know the model by it.

    model: valid and supported. executor: runs it; safe to call from several threads. buffers: the device's. unit: where
    it runs. owner: uid of the app that had it prepared, or that loaded it from a cache. priority: among the models of
    this app.
    """

    model: types.Model
    version: Version
    context: Context
    executor: Runnable
    buffers: Buffers
    unit: ComputeUnit
    owner: int
    priority: int


class Execution:
    """One execution of a prepared model, from its launch on. Made in the call that launches it, run anywhere."""

    def __init__(
        self,
        prepared: Prepared,
        request: types.Request,
        terms: Terms,
        *,
        memory: MemoryMap | None = None,
        fenced: bool = False,
    ) -> None:
        """Check the arguments. Raises ServiceError(INVALID_ARGUMENT).

        memory: None for the context's. fenced: every output's size has to be known.
        """
        self._prepared, self._request, self._terms = prepared, request, terms
        self._memory = prepared.context.memory if memory is None else memory
        self._started = prepared.context.clock.now_ns()
        self._check(fenced)
        self._buffers = UsedBuffers(prepared, prepared.buffers, request)
        deadline_ns = timing.deadline(prepared.version, terms.deadline_ns)
        self._job = prepared.unit.job(prepared.owner, prepared.priority, deadline_ns)

    def age_ns(self) -> int:
        """The nanoseconds since the launch."""
        return self._prepared.context.clock.now_ns() - self._started

    def check_deadline(self) -> None:
        """Raise MISSED_DEADLINE_PERSISTENT once the deadline has passed."""
        timing.check_deadline(self._prepared.version, self._terms.deadline_ns, self._prepared.context.clock)

    def abandon(self) -> None:
        """Fail without having run: outputs in buffers of the driver have no content any more (NNHAL-MEMDOMAIN-016)."""
        self._buffers.invalidate_outputs()

    def limit(self, duration_ns: int) -> None:
        """Let the execution take no longer than this from now on; its deadline stays where it is earlier."""
        version, clock = self._prepared.version, self._prepared.context.clock
        end = timing.earlier_deadline(version, self._terms.deadline_ns, duration_ns, clock)
        self._terms = replace(self._terms, deadline_ns=end)
        self._job.deadline_ns = timing.deadline(version, end)

    def run(self) -> types.ExecutionResult:
        """Run. Order of errors, as in AOSP's sample driver: deadline, pools, then those of the run."""
        request = self._request
        self._buffers.invalidate_outputs()
        self.check_deadline()
        pools_of_memory = [pool.pool for pool in request.pools if pool.pool is not None]
        with mapped(self._memory, pools_of_memory) as views:
            pools = self._buffers.among(views)
            inputs = self._read_inputs(pools)
            with trace.span("driver", "run", inputs=len(inputs)):
                outputs, device_ns = self._run_on_unit(inputs)
            shapes = self._write_outputs(pools, outputs)
        vlog.log("execution", lambda: f"executed: outputs {[shape.dimensions for shape in shapes]}, {device_ns} ns")
        sufficient = all(shape.is_sufficient for shape in shapes)
        return types.ExecutionResult(sufficient, shapes, self._timing(sufficient, device_ns))

    def _check(self, fenced: bool) -> None:
        prepared, terms = self._prepared, self._terms
        violations = validate_request(self._request, prepared.model, prepared.version, fenced=fenced)
        if violations:
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, str(violations[0]))
        if prepared.version >= Version.V1_3:
            timing.check_deadline_form(prepared.version, terms.deadline_ns)
            timing.check_loop_timeout_form(prepared.version, terms.loop_timeout_duration_ns)

    def _run_on_unit(self, inputs: Sequence[Array | None]) -> tuple[list[Array], int]:
        """Return the outputs, and the time from the first operation to the last, suspension included (TIMING-007)."""
        prepared, job = self._prepared, self._job

        def work(checkpoint: Checkpoint) -> tuple[list[Array], int]:
            outputs = prepared.executor.run(inputs, Limits(checkpoint, self._begin_loop))
            return outputs, prepared.context.clock.now_ns() - job.began_ns

        try:
            return prepared.unit.execute(job, work)
        except QueueFullError as error:
            raise shortage(prepared.version, ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT, str(error)) from error

    def _begin_loop(self) -> Checkpoint:
        """Start the time of one loop, in which waiting for other executions does not count (NNHAL-QOS-014)."""
        prepared, job = self._prepared, self._job
        return timing.loop_limit(
            prepared.version,
            self._terms.loop_timeout_duration_ns,
            lambda: prepared.context.clock.now_ns() - job.waited_ns,
        )

    def _timing(self, sufficient: bool, device_ns: int) -> types.Timing:
        version = self._prepared.version
        if not self._terms.measure_timing or not sufficient:
            return timing.unavailable_timing(version)
        return timing.measured_timing(version, device_ns, self.age_ns())

    def _read_inputs(self, pools: Sequence[Pool]) -> list[Array | None]:
        """Copy the inputs, so that a client who writes to them meanwhile cannot confuse the kernels."""
        graph = self._prepared.model.main
        operands = [graph.operands[index] for index in graph.input_indexes]
        return [
            None if argument.has_no_value else _read(operand, argument, pools)
            for operand, argument in zip(operands, self._request.inputs, strict=True)
        ]

    def _write_outputs(self, pools: Sequence[Pool], outputs: Sequence[Array]) -> tuple[types.OutputShape, ...]:
        """Write the outputs, unless one does not fit: then the shapes say how large the buffers must be."""
        arguments = list(zip(self._request.outputs, outputs, strict=True))
        for position, (argument, output) in enumerate(arguments):
            if not agrees(argument.dimensions, output.shape) or not _takes(argument, output, pools):
                raise ServiceError(
                    ErrorStatus.GENERAL_FAILURE, f"output {position} of the request: found {output.shape}"
                )
        shapes = tuple(
            types.OutputShape(output.shape, _fits(argument, output, pools)) for argument, output in arguments
        )
        if all(shape.is_sufficient for shape in shapes):
            for argument, output in arguments:
                _write(argument, output, pools)
        return shapes


def _read(operand: types.Operand, argument: types.RequestArgument, pools: Sequence[Pool]) -> Array | None:
    """Return a copy of an input, in the shape that the request or the model gives it.

    None for the type of an extension that the device does not have: nothing reads it.
    """
    if operand.type not in OPERAND_TYPES:
        return None
    shape = (argument.dimensions or operand.dimensions) if OPERAND_TYPES[operand.type].is_tensor else ()
    location, dtype = argument.location, element_type(operand.type)
    pool = pools[location.pool_index]
    if isinstance(pool, ReferenceBuffer):
        return _read_buffer(pool, shape)
    count = element_count(shape)
    if count * dtype.itemsize > location.length:
        raise ServiceError(ErrorStatus.GENERAL_FAILURE, f"an input of shape {shape} is longer than {location.length}")
    return numpy.frombuffer(pool, dtype, count, location.offset).reshape(shape).copy()


def _read_buffer(buffer: ReferenceBuffer, shape: tuple[int, ...]) -> Array:
    """The content, which has to have the shape still: another execution may have written it meanwhile."""
    content = buffer.read()
    if content.shape != shape:
        raise ServiceError(ErrorStatus.GENERAL_FAILURE, f"a buffer of shape {content.shape}, expected {shape}")
    return content.copy()


def _pool_of(argument: types.RequestArgument, pools: Sequence[Pool]) -> Pool | None:
    """The pool in which an output lies; None where it is omitted."""
    return None if argument.has_no_value else pools[argument.location.pool_index]


def _takes(argument: types.RequestArgument, output: Array, pools: Sequence[Pool]) -> bool:
    """False for a buffer that was allocated for other shapes (NNHAL-MEMDOMAIN-028)."""
    pool = _pool_of(argument, pools)
    return not isinstance(pool, ReferenceBuffer) or pool.takes(output.shape)


def _fits(argument: types.RequestArgument, output: Array, pools: Sequence[Pool]) -> bool:
    """True where there is room. Only `length` counts: padding behind it is not for output data. Buffers grow."""
    pool = _pool_of(argument, pools)
    return isinstance(pool, ReferenceBuffer) or output.nbytes <= argument.location.length


def _write(argument: types.RequestArgument, output: Array, pools: Sequence[Pool]) -> None:
    """Copy an output, row-major, to its place. Omitted outputs have none, nor have empty ones in shared memory."""
    pool = _pool_of(argument, pools)
    if isinstance(pool, ReferenceBuffer):
        pool.write(output.copy())
    elif pool is not None and output.size:
        pool, start = writable(pool), argument.location.offset
        pool[start : start + output.nbytes] = numpy.ascontiguousarray(output).reshape(-1).view(numpy.uint8).data
