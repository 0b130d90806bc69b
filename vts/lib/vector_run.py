"""Runs one vector: support, preparation, and each configuration of execution with its comparison."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from npu_conformance.corpus.constant_layouts import BESIDE_INPUTS, COPIED
from npu_conformance.corpus.vectors import Example, Rejected, Vector
from npu_conformance.corpus.wire_model import BuiltRequest, build_request
from npu_conformance.harness.judge import checks, quantization_coupling
from npu_conformance.harness.judge.outputs import FILL, untouched_outside
from npu_conformance.harness.judge.shape_count import check_shape_count
from npu_conformance.harness.judge.verdicts import NoRoom, NotApplicable, NotSupported
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import (
    Execution,
    ExecutionOptions,
    request_of,
    shape_rules,
    timing_rules,
)
from npu_conformance.harness.run.executing.executors import bind, execute, executors
from npu_conformance.harness.run.vector_cases import attach
from npu_conformance.harness.run.vector_verdicts import Found, Verdicts
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import READ_ONLY, Memory, OutputShape, Request, RequestMemoryPool
from npu_conformance.specs.requirements import result_requirement
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.configurations import DEVICE, Configuration, configurations
from npu_conformance.vts.lib.constant_pools import PooledConstants
from npu_conformance.vts.lib.deadlines import MILLISECOND
from npu_conformance.vts.lib.loops import expect_aborted, longest_timeout
from npu_conformance.vts.lib.memory_domains.buffered_requests import BufferedRequest, request_in_buffers
from npu_conformance.vts.lib.preparing import prepared
from npu_conformance.vts.lib.rejection import REJECTION, expect_vector_rejected
from npu_conformance.vts.lib.support import supports

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array


_OTHER_BITS = "the results differ in some bits from those of another way to execute the model"
_OTHER_SAMPLES = "equal seeds gave other samples than in an execution before"


def run(context: CaseContext, vector: Vector) -> None:
    """Execute the vector in every configuration, or see it rejected."""
    attach(context, vector)
    if _has_open_loop(vector):
        # Legal above the HAL; AOSP runs such vectors in CTS, not in VTS. Nothing is computed that could be right.
        context.is_evidence_for("NNHAL-CONTROLFLOW-010", *REJECTION)
        vector = replace(vector, rejected=Rejected("MODEL.P8", "model"))
    if vector.kind == "infinite_loop_timeout":
        context.is_evidence_for("NNHAL-CONTROLFLOW-011", "NNHAL-SUPPORT-002", "NNHAL-PREPARE-004")
        _aborted(context, vector)
        return
    if vector.rejected is not None:
        expect_vector_rejected(context, vector)
        return
    counterpart = quantization_coupling.unsigned_counterpart(vector)
    try:
        runner = _Runner(context, vector)
    except NoRoom:
        raise
    except NotSupported:
        if counterpart is not None:
            quantization_coupling.supported_alike(False, supports(context, counterpart))
        raise
    for configuration in configurations(vector, context.case.id, context.version, context.scope):
        if context.wants(configuration.name):
            with context.configuration(configuration.name, requirements=configuration.requirements(context.version)):
                runner.execute(configuration)
    if counterpart is not None and context.wants(quantization_coupling.CONFIGURATION):
        _coupled(context, vector, counterpart, runner)


def _coupled(context: CaseContext, vector: Vector, counterpart: Vector, runner: _Runner) -> None:
    """The unsigned counterpart of a signed vector is supported as well, and has the same results."""
    requirements = quantization_coupling.REQUIREMENTS
    with context.configuration(quantization_coupling.CONFIGURATION, requirements=requirements):
        quantization_coupling.supported_alike(True, supports(context, counterpart))
        others = _Runner(context, counterpart)
        quantization_coupling.same_results(context, vector, runner.outputs(), others.outputs())


def _aborted(context: CaseContext, vector: Vector) -> None:
    """A loop without end is aborted after its timeout of a millisecond (NNHAL-CONTROLFLOW-011)."""
    prepared_model = prepared(context, vector)
    request = request_of(context, build_request(vector, vector.examples[0], context.version))
    for executor in executors(context.version, loop_timeout=True):
        with context.configuration(executor):
            execution = execute(
                context, prepared_model, request, measure=False, executor=executor, loop_timeout=MILLISECOND
            )
            expect_aborted(execution)


def _has_open_loop(vector: Vector) -> bool:
    """True where WHILE carries operands of unknown rank or size."""
    if not vector.has_loops:
        return False
    borders = ((graph, name) for graph in vector.referenced for name in (*graph.inputs, *graph.outputs))
    operands = [graph.operands[name] for graph, name in borders]
    return any(operand.is_open for operand in operands)


class _InPools(msgspec.Struct, frozen=True):
    """A request whose outputs lie in the shared memory where they are compared."""

    request: Request

    def collect(self) -> None:
        """Do nothing: there is nothing to copy."""


class _Runner:
    """Prepared models and pools of one vector, made when first needed and again after a restart of the subject."""

    def __init__(self, context: CaseContext, vector: Vector) -> None:
        self._context = context
        self._vector = vector
        self._prepared: dict[tuple[str, str, str, int], PreparedModel] = {}
        self._made: dict[tuple[str, str, int, int], Pool] = {}
        self._shared: dict[tuple[str, int], Pool] = {}
        """Pools that hold inputs and constants, by kind and restarts."""
        self._built: dict[tuple[int, bool, bool, bool], BuiltRequest] = {}
        self._verdicts = Verdicts(context, vector)
        self._first: dict[int, Found] = {}
        self._prepare(Configuration(executors(context.version)[0]))

    def execute(self, configuration: Configuration) -> None:
        """Execute, once or twice, and check everything that the outcome promises."""
        built = self._request(configuration)
        if configuration.shape == "insufficient" and _first_output_size(built) < 1:
            raise NotApplicable("output 0 has one byte at most: it cannot be made too small")
        prepared_model = self._prepare(configuration)
        inputs, outputs = self._pools(configuration, built)
        placed = self._placed(configuration, built, prepared_model, inputs, outputs)
        options = ExecutionOptions(configuration.measured, longest_timeout(self._vector))
        run = bind(self._context, prepared_model, placed.request, options, configuration.executor)
        results = []
        for _ in range(2 if configuration.repeated else 1):
            outputs.write(0, bytes([FILL]) * built.output_size)
            execution = run()
            if execution.status == ErrorStatus.NONE:
                placed.collect()
            results.append(self._check(configuration, built, execution, outputs))
        with checks.about("NNHAL-EXECUTE-018"):
            self._verdicts.same_again(results)
        with checks.about("NNHAL-EXECUTE-002"):
            after = bytes(inputs.read(0, len(built.input_data)))
            checks.that(after == built.input_data, "the execution modified its input memory")
        with checks.about("NNHAL-REQUEST-013"):
            checks.that(not outputs.take_overrun(), "the execution wrote past the end of its output memory")

    def outputs(self) -> dict[str, Array]:
        """Execute the first example in the usual way; returns the stored elements of the outputs by name."""
        usual = Configuration(executors(self._context.version)[0])
        built = self._request(usual)
        prepared_model = self._prepare(usual)
        inputs, outputs = self._pools(usual, built)
        request = built.request(RequestMemoryPool(pool=inputs.memory), RequestMemoryPool(pool=outputs.memory))
        execution = execute(
            self._context, prepared_model, request, measure=False, loop_timeout=longest_timeout(self._vector)
        )
        self._may_decline(execution, "specified")
        self._succeeded(execution)
        return self._verdicts.outputs(0, built, outputs.read(0, built.output_size))

    def _placed(
        self,
        configuration: Configuration,
        built: BuiltRequest,
        prepared_model: PreparedModel,
        inputs: Pool,
        outputs: Pool,
    ) -> _InPools | BufferedRequest:
        """The request, with its arguments in the kind of memory that is wanted."""
        if configuration.memory == DEVICE:
            example = self._vector.examples[configuration.example]
            return request_in_buffers(self._context, prepared_model, built, example, inputs, outputs)
        input_memory = replace(inputs.memory, prot=READ_ONLY) if configuration.read_only else inputs.memory
        return _InPools(built.request(RequestMemoryPool(pool=input_memory), RequestMemoryPool(pool=outputs.memory)))

    def _prepare(self, configuration: Configuration) -> PreparedModel:
        shape, constants = configuration.shape, configuration.constants
        outputs = "unspecified" if shape == "insufficient" else shape
        memory = configuration.memory if constants == BESIDE_INPUTS else ""
        key = (outputs, constants, memory, self._context.restarts)
        if key not in self._prepared:
            prepare = partial(
                prepared,
                self._context,
                self._vector,
                unspecified=outputs == "unspecified",
                unranked=outputs == "unranked",
                constants=self._constants(configuration),
            )
            self._prepared[key] = self._beside_others_or_alone(prepare)
        return self._prepared[key]

    def _beside_others_or_alone(self, prepare: Callable[[], PreparedModel]) -> PreparedModel:
        """A device may have no room for one more model; where it has none for this one alone, it is no want of room."""
        try:
            return prepare()
        except NoRoom:
            if not self._prepared:
                raise
        self._prepared.clear()
        return prepare()

    def _constants(self, configuration: Configuration) -> PooledConstants | None:
        """How constants get into pools; None where they are in the model."""
        if configuration.constants == COPIED:
            return None
        if configuration.constants != BESIDE_INPUTS:
            return PooledConstants(configuration.constants, self._context.filled_pool)
        inputs = self._request(replace(configuration, compact=False)).input_data
        return PooledConstants(BESIDE_INPUTS, lambda data: self._share(configuration.memory, data), len(inputs))

    def _share(self, memory: str, data: bytes) -> Memory:
        pool = self._pool("both", memory, len(data))
        pool.write(0, data)
        self._shared[memory, self._context.restarts] = pool
        return pool.memory

    def _request(self, configuration: Configuration) -> BuiltRequest:
        insufficient = configuration.shape == "insufficient"
        # AIDL lets a device write into padding as it works in chunks: every other configuration offers it none.
        padded = insufficient or configuration.measured
        key = (configuration.example, insufficient, padded, configuration.compact)
        if key not in self._built:
            self._built[key] = build_request(
                self._vector,
                self._vector.examples[configuration.example],
                self._context.version,
                insufficient_output=insufficient,
                padded_outputs=padded,
                compact=configuration.compact,
            )
        return self._built[key]

    def _pool(self, role: str, memory: str, size: int) -> Pool:
        key = (role, memory, size, self._context.restarts)
        if key not in self._made:
            self._made[key] = self._context.pool(size, memory)
        return self._made[key]

    def _pools(self, configuration: Configuration, built: BuiltRequest) -> tuple[Pool, Pool]:
        """Pools with the inputs, and with outputs that nothing has been written to yet."""
        memory = "ashmem" if configuration.memory == DEVICE else configuration.memory
        if configuration.constants == BESIDE_INPUTS:
            inputs = self._shared[memory, self._context.restarts]
        else:
            inputs = self._pool("input", memory, len(built.input_data) or 1)
        outputs = self._pool("output", memory, built.output_size)
        inputs.write(0, built.input_data)
        outputs.write(0, bytes([FILL]) * built.output_size)
        return inputs, outputs

    def _check(self, configuration: Configuration, built: BuiltRequest, execution: Execution, pool: Pool) -> Found:
        """Check what came back; returns the bytes of the outputs that are compared, none where one did not fit."""
        timing_rules(self._context, execution, measured=configuration.measured)
        shape_rules(execution)
        if not self._must_reject(configuration):
            self._may_decline(execution, configuration.shape)
        example = self._vector.examples[configuration.example]
        content = pool.read(0, built.output_size)
        with checks.about(*self._outside(configuration)):
            untouched_outside(built, content, with_padding=configuration.shape == "insufficient")
        if self._must_reject(configuration):
            with checks.about("NNHAL-FENCED-002"):
                expected = {ErrorStatus.INVALID_ARGUMENT}
                checks.status(execution.status, expected, "execution with outputs of unknown shape")
            return ()
        if configuration.shape == "insufficient":
            with checks.about("NNHAL-SHAPE-004", "NNHAL-ERROR-007"):
                expected = {ErrorStatus.OUTPUT_INSUFFICIENT_SIZE}
                checks.status(execution.status, expected, "execution with output 0 too small")
                _insufficient_shapes(self._vector, example, execution.output_shapes)
            return ()
        self._succeeded(execution)
        _exact_shapes(self._context, self._vector, example, execution.output_shapes, configuration.shape)
        return self._judge(configuration.example, built, content)

    def _succeeded(self, execution: Execution) -> None:
        with checks.about("NNHAL-EXECUTE-001", result_requirement(self._vector.operation)):
            checks.status(execution.status, {ErrorStatus.NONE}, "execution")

    def _outside(self, configuration: Configuration) -> tuple[str, ...]:
        """What is broken where bytes outside of the outputs are written; before AIDL's padding that has no name."""
        if not self._context.version.is_aidl:
            return (result_requirement(self._vector.operation),)
        insufficient = configuration.shape == "insufficient"
        return ("NNHAL-SHAPE-008", "NNHAL-REQUEST-013") if insufficient else ("NNHAL-REQUEST-013",)

    def _must_reject(self, configuration: Configuration) -> bool:
        """True where the executor needs the shapes of all outputs, and the model leaves one open (FENCED-002)."""
        if configuration.executor in executors(self._context.version, finding_shapes=True):
            return False
        is_open = any(self._vector.operands[name].is_open for name in self._vector.outputs)
        return is_open or configuration.shape != "specified"

    def _may_decline(self, execution: Execution, shape: str) -> None:
        """NotSupported where a device says that it does not find out the shapes of outputs, as it may (SHAPE-009)."""
        outputs = "unspecified" if _leaves_only_outputs_open(self._vector) else shape
        if outputs != "specified" and execution.status == ErrorStatus.GENERAL_FAILURE:
            raise NotSupported(f"the device does not execute with {outputs} outputs")

    def _judge(self, number: int, built: BuiltRequest, content: bytes) -> Found:
        """Judge the outputs, which should not depend on the way to execute the model."""
        found = self._verdicts.judge(number, built, content)
        if self._first.setdefault(number, found) != found:
            self._context.warn_quality(_OTHER_SAMPLES if self._vector.kind == "multinomial" else _OTHER_BITS)
        return found


def _leaves_only_outputs_open(vector: Vector) -> bool:
    """True where ranks or sizes are unknown of outputs alone, whose shapes a device need not find out (SHAPE-009).

    Where those of inputs or of operands inside are unknown too, finding out is what the vector is about.
    """
    is_open = {name for name, operand in vector.operands.items() if operand.is_open}
    return bool(is_open) and is_open <= set(vector.outputs)


def _first_output_size(built: BuiltRequest) -> int:
    return built.outputs[built.vector.outputs[0]].length


def _exact_shapes(
    context: CaseContext, vector: Vector, example: Example, shapes: tuple[OutputShape, ...], shape: str
) -> None:
    if context.version < Version.V1_2:
        return
    specified = shape == "specified"
    with checks.about("NNHAL-SHAPE-001" if specified else "NNHAL-SHAPE-002"):
        check_shape_count(len(shapes), len(vector.outputs), specified=specified)
    for name, found in zip(vector.outputs, shapes, strict=bool(shapes)):
        expected = example.outputs[name].shape
        with checks.about("NNHAL-SHAPE-010" if 0 in expected else "NNHAL-SHAPE-002"):
            checks.equal(found.dimensions, expected, f"dimensions of output {name}")
        with checks.about("NNHAL-SHAPE-003"):
            checks.that(found.is_sufficient, f"output {name} is marked insufficient in a successful execution")


def _insufficient_shapes(vector: Vector, example: Example, shapes: tuple[OutputShape, ...]) -> None:
    check_shape_count(len(shapes), len(vector.outputs), specified=False)
    for position, (name, found) in enumerate(zip(vector.outputs, shapes, strict=True)):
        with checks.about("NNHAL-SHAPE-005"):
            checks.equal(found.is_sufficient, position != 0, f"isSufficient of output {name}")
        with checks.about("NNHAL-SHAPE-006"):
            declared = vector.operands[name].dimensions
            _right_or_unknown(found.dimensions, example.outputs[name].shape, declared, f"output {name}")


def _right_or_unknown(found: tuple[int, ...], expected: tuple[int, ...], declared: tuple[int, ...], what: str) -> None:
    """Sizes may be unknown where an output did not fit, and so may a rank that the model leaves open."""
    if not found and not declared:
        return
    checks.equal(len(found), len(expected), f"rank of {what}")
    for axis, (actual, right) in enumerate(zip(found, expected, strict=True)):
        told = f"dimension {axis} of {what}: expected {right} or 0 for unknown, found {actual}"
        checks.that(actual in (0, right), told)
