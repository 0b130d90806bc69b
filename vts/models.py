"""What comes with a model: data that stays as it is, sizes that overflow, tokens."""

from __future__ import annotations

import itertools
import struct
from contextlib import suppress

from msgspec.structs import replace

from npu_conformance.corpus import vectors
from npu_conformance.corpus.constant_layouts import POOLED
from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import execute, executors
from npu_conformance.harness.run.preparation import NO_TOKEN, model_of
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import (
    DECLINED,
    ErrorStatus,
    ExecutionPreference,
    OperandLifeTime,
    OperandType,
    OperationType,
    Priority,
)
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import (
    NO_DEADLINE,
    DataLocation,
    Memory,
    Model,
    Operation,
    PrepareModelConfig,
    Request,
    RequestArgument,
    RequestMemoryPool,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.aosp_verdict import with_aosp_verdict
from npu_conformance.vts.lib.rejection import expect_rejected_at_prepare
from npu_conformance.vts.lib.structure_cases import answered
from npu_conformance.vts.lib.structure_models import (
    ADD,
    BRANCHES,
    INPUT,
    OUTPUT,
    SIZE,
    constant,
    graph,
    pooled,
    tensor,
    unary,
    within,
)

cases = CaseGroup("vts.models", group=Group.VALIDATION)

_INVALID, _NONE = ErrorStatus.INVALID_ARGUMENT, ErrorStatus.NONE
_AXES_SIZE, _MATRIX_SIZE = 8, 16
_LEGAL_AXES, _ILLEGAL_AXES = ((1, 0), (0, 1)), (0, 0)
_HUGE = {
    "2_32_elements": (2**16, 2**16),
    "2_32_bytes": (2**15, 2**15),
    "2_64_elements": (2**16,) * 4,
    "2_64_and_some": (2**31 - 1,) * 4,
    "wraps_to_1": (641, 6700417),
}
"""Numbers of elements that do not fit into 32 or 64 bits: counted so, 0 or 1 is left of most of them."""


@cases.case("data.untouched", "NNHAL-MODEL-057", "NNHAL-PREPARE-013")
def data_untouched(context: CaseContext) -> None:
    """Two preparations leave the pool of constants and the model itself as they were."""
    chosen, pool = addition.supported(context), context.pool(3 * addition.SIZE)
    content = bytes(range(addition.SIZE)) + chosen.packed(addition.B) + bytes(range(addition.SIZE, 0, -1))
    pool.write(0, content)
    model = chosen.model_with_constant(pool.memory)
    index = next(place for place, one in enumerate(model.main.operands) if one.location.length == addition.SIZE)
    operands = list(model.main.operands)
    operands[index] = replace(operands[index], location=DataLocation(0, addition.SIZE, addition.SIZE))
    model = replace(model, main=replace(model.main, operands=tuple(operands)))
    copy = replace(model, main=replace(model.main))
    for _ in range(2):
        context.supported_operations(model)
        context.prepare(model)
        checks.equal(bytes(pool.read(0, len(content))), content, "pool of constants after a preparation")
        checks.equal(model == copy, True, "whether the model is what was handed in")


@cases.case("capacity.answers", "NNHAL-ROBUST-002", "NNHAL-ROBUST-003")
def capacity(context: CaseContext) -> None:
    """A valid model whose tensors are too large for anybody is rejected, declined or prepared, and never a crash."""
    for name, dimensions in _HUGE.items():
        with context.configuration(name), with_aosp_verdict("no"):
            model = unary(OperationType.RELU, dimensions=dimensions)
            _answered(context, model)


@cases.case("capacity.execution", "NNHAL-ROBUST-002", "NNHAL-ROBUST-003")
def capacity_execution(context: CaseContext) -> None:
    """A prepared model of such tensors is not executed in a pool of 64 bytes, whichever way."""
    for name, dimensions in _HUGE.items():
        for executor in executors(context.version):
            with context.configuration(f"{name}.{executor}"), with_aosp_verdict("no"):
                _not_executed(context, unary(OperationType.RELU, dimensions=dimensions), executor)


def _answered(context: CaseContext, model: Model) -> None:
    try:
        context.supported_operations(model)
    except ServiceError as error:
        checks.status(error.status, {_INVALID, *DECLINED}, "getSupportedOperations of a huge model")
    preparation = context.prepare(model)
    launched, notified = preparation.launch_status, preparation.status
    checks.status(launched, {_NONE, _INVALID, *DECLINED}, "prepareModel of a huge model, returned")
    expected = {_NONE, _INVALID, *DECLINED} if launched == _NONE else {launched}
    with checks.about(*(("NNHAL-PREPARE-002",) if notified is None or launched != _NONE else ())):
        checks.status(notified, expected, "prepareModel of a huge model, notified")
    with checks.about("NNHAL-PREPARE-007"):
        checks.equal(preparation.prepared_model is not None, notified == _NONE, "a prepared model of a huge model")


def _not_executed(context: CaseContext, model: Model, executor: str) -> None:
    prepared_model = context.prepare(model).prepared_model
    if prepared_model is None:
        return
    pool = RequestMemoryPool(pool=context.pool(64).memory)
    small = [RequestArgument(location=DataLocation(0, offset, 32)) for offset in (0, 32)]
    request = Request((small[0],), (small[1],), (pool,))
    execution = execute(context, prepared_model, request, measure=False, executor=executor)
    too_small = {_INVALID, ErrorStatus.OUTPUT_INSUFFICIENT_SIZE, *DECLINED}
    checks.status(execution.status, too_small, "execution of a huge model in a small pool")


@cases.case("verdicts.of_one_main_graph", "NNHAL-SUPPORT-003", "NNHAL-PREPARE-001", "NNHAL-MODEL-031")
def of_one_main_graph(context: CaseContext) -> None:
    """Of models with the same main graph those are rejected whose values, pools or referenced graphs are wrong."""
    memory = context.pool(SIZE).memory
    pairs = {
        "values": (ADD, replace(ADD, operand_values=ADD.operand_values[:-1])),
        "pools": (pooled(memory), pooled(replace(memory, size=SIZE - 1))),
    }
    if context.version >= Version.V1_3:
        pairs["graphs"] = (BRANCHES, within(BRANCHES, 1, 0, type=OperandType.TENSOR_INT32))
    for name, (right, wrong) in pairs.items():
        with context.configuration(name):
            for _ in range(2):
                answered(context, right)
                expect_rejected_at_prepare(context, wrong)


@cases.case(
    "support.of_another_asked_before", "NNHAL-SUPPORT-004", "NNHAL-SUPPORT-005", "NNHAL-PREPARE-001", since=Version.V1_1
)
def of_another_asked_before(context: CaseContext) -> None:
    """A supported model is prepared whatever was said meanwhile of one that differs in a constant, which is illegal."""
    right, wrong = (_transposing(*axes) for axes in ((1, 0), (0, 0)))
    if not all(context.supported_operations(right)):
        raise NotSupported("a transposition is not supported")
    for _ in range(2):
        with suppress(ServiceError):  # a device may find the axes illegal, or deny to support them
            context.supported_operations(wrong, is_valid=False)
        model_of(context.prepare(right))
        checks.that(all(context.supported_operations(right)), "a transposition that was supported is no longer so")


@cases.case(
    "support.of_rewritten_constants", "NNHAL-SUPPORT-005", "NNHAL-SUPPORT-004", "NNHAL-EXECUTE-001",
    "NNHAL-PREPARE-013", since=Version.V1_1,
)  # fmt: skip
def of_rewritten_constants(context: CaseContext) -> None:
    """What a device was asked of a model counts for what its pool held then: it prepares what the pool holds now.

    Legal axes, which it supports, are prepared behind other legal ones and behind illegal ones.
    """
    pool = context.pool(_AXES_SIZE)
    model = _transposing(pool=pool.memory)
    for axes in _LEGAL_AXES:
        pool.write(0, _packed(axes))
        if not all(context.supported_operations(model)):
            raise NotSupported("a transposition by axes in a pool is not supported")
    for asked, axes in itertools.permutations((*_LEGAL_AXES, _ILLEGAL_AXES), 2):
        with context.configuration(f"{_name(asked)}_then_{_name(axes)}"):
            pool.write(0, _packed(asked))
            _asked_of_axes(context, model, is_legal=asked != _ILLEGAL_AXES)
            pool.write(0, _packed(axes))
            if axes == _ILLEGAL_AXES:
                _is_certain(context, model, "a transposition")
            else:
                # None is kept for the next configuration: there need not be room beside it.
                what = f"prepareModel of a supported model, axes {axes}"
                _transposes(context, model_of(context.prepare(model), what), axes)


def _asked_of_axes(context: CaseContext, model: Model, *, is_legal: bool) -> None:
    if is_legal:
        context.supported_operations(model)
        return
    with suppress(ServiceError):
        context.supported_operations(model, is_valid=False)


def _transposes(context: CaseContext, prepared_model: PreparedModel, axes: tuple[int, ...]) -> None:
    """See a matrix be transposed by the axes."""
    matrix, pool = (1.0, 2.0, 3.0, 4.0), context.pool(2 * _MATRIX_SIZE)
    pool.write(0, struct.pack("<4f", *matrix))
    source, target = (RequestArgument(location=DataLocation(0, at * _MATRIX_SIZE, _MATRIX_SIZE)) for at in range(2))
    request = Request((source,), (target,), (RequestMemoryPool(pool=pool.memory),))
    execution = execute(context, prepared_model, request, measure=False)
    checks.status(execution.status, {_NONE}, "execution of a transposition")
    found = struct.unpack("<4f", pool.read(_MATRIX_SIZE, _MATRIX_SIZE))
    expected = matrix if axes == (0, 1) else (1.0, 3.0, 2.0, 4.0)
    checks.equal(found, expected, f"matrix transposed by the axes {axes} that the pool held at the preparation")


def _name(axes: tuple[int, ...]) -> str:
    return "axes_" + "".join(map(str, axes))


def _packed(axes: tuple[int, ...]) -> bytes:
    return struct.pack("<2i", *axes)


def _transposing(*axes: int, pool: Memory | None = None) -> Model:
    """TRANSPOSE of a matrix by constant axes, or by those in the pool."""
    second = constant(OperandType.TENSOR_INT32, (2,), 0, _AXES_SIZE)
    if pool is not None:
        second = replace(second, lifetime=OperandLifeTime.CONSTANT_POOL)
    operands = [tensor(dimensions=(2, 2), lifetime=INPUT), second, tensor(dimensions=(2, 2), lifetime=OUTPUT)]
    main = graph(operands, [Operation(OperationType.TRANSPOSE, (0, 1), (2,))])
    return Model(main, pools=(pool,)) if pool is not None else Model(main, operand_values=_packed(axes))


@cases.case("support.of_pooled_parameters", "NNHAL-SUPPORT-005", "NNHAL-SUPPORT-004")
def of_pooled_parameters(context: CaseContext) -> None:
    """Where parameters in a pool are illegal, a device that says that it supports the model and fails gets a warning.

    It may see that later, when the model is executed; but what it doubts it has to deny.
    """
    for operation in vectors.operations():
        for header in vectors.headers(operation):
            rejected = header.rejected
            is_known = rejected is not None and header.since <= context.version <= rejected.until
            if rejected is not None and is_known and rejected.phase == "execution":
                with context.configuration(f"{operation}.{header.name}"):
                    _certain_of(context, vectors.load(operation, header.name))
                break


def _certain_of(context: CaseContext, vector: Vector) -> None:
    model = build_model(vector, context.version, create_pool=context.filled_pool, constants=POOLED).model
    _is_certain(context, model, vector.operation)


def _is_certain(context: CaseContext, model: Model, what: str) -> None:
    """See that an illegal model whose preparation fails was not called supported before; a warning where it was."""
    try:
        answers = context.supported_operations(model, is_valid=False)
    except ServiceError as error:
        checks.status(error.status, {_INVALID}, "getSupportedOperations of a model with illegal parameters")
        return
    status = context.prepare(model).status
    if answers and all(answers) and status == ErrorStatus.GENERAL_FAILURE:
        context.warn_quality(f"all of {what} with illegal parameters is supported, and cannot be prepared")


@cases.case("arguments.token_length", "NNHAL-PREPARE-023", since=Version.FL5)
def token_length(context: CaseContext) -> None:
    """A token that does not have 32 bytes is rejected; to ignore it, without cache files, is a quality warning."""
    for length in (0, 31, 33):
        with context.configuration(f"bytes_{length}"), with_aosp_verdict("no"):
            preparation = context.prepare(addition.model(), token=bytes(length))
            launched = preparation.launch_status
            checks.status(launched, {_NONE, _INVALID}, f"prepareModel with a token of {length} bytes, returned")
            if launched == _INVALID:
                checks.status(preparation.status, {_INVALID}, "the same, notified")
                checks.that(preparation.prepared_model is None, "the same: expected no prepared model, found one")
            else:
                context.warn_quality(f"a cache token of {length} bytes is taken; AIDL's have 32")


@cases.case("config.callback_null", "NNHAL-PREPARE-022", "NNHAL-PREPARE-018", since=Version.FL8)
def config_callback_null(context: CaseContext) -> None:
    """A null callback is rejected with INVALID_ARGUMENT by prepareModelWithConfig, too."""
    config = PrepareModelConfig(ExecutionPreference.FAST_SINGLE_ANSWER, Priority.MEDIUM, NO_DEADLINE, (), (), NO_TOKEN)

    def call() -> None:
        context.device.prepare_model_with_config(addition.model(), config, None)

    checks.raises_status(call, {_INVALID}, "prepareModelWithConfig with a null callback")
