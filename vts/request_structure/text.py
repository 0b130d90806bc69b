"""Requests that only the interface text forbids: AOSP's validator looks neither at lengths (R6) nor at overlaps (R7).

A device may reject such a request or execute it; taking it earns a quality warning. What no device may do is to use
bytes outside the length that it was given (NNHAL-REQUEST-013).
"""

from __future__ import annotations

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import Execution
from npu_conformance.harness.run.executing.executors import execute, executors
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Model,
    Operation,
    Request,
    RequestArgument,
    RequestMemoryPool,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import Addition
from npu_conformance.vts.lib.aosp_verdict import with_aosp_verdict
from npu_conformance.vts.lib.structure_models import INPUT, OUTPUT, graph, tensor

cases = CaseGroup("vts.request_structure", group=Group.VALIDATION)

_SIZE, _POOL = addition.SIZE, 64
_OUTPUT = 32
_DECLINED = {ErrorStatus.INVALID_ARGUMENT, ErrorStatus.GENERAL_FAILURE}


@cases.case("R6.may_refuse_other_length", "NNHAL-REQUEST-012", since=Version.FL5)
def other_length(context: CaseContext) -> None:
    """An argument of another length than its type and dimensions have is rejected, or the sum is right."""
    chosen = addition.supported(context)
    prepared_model = chosen.prepared(context)
    for side in ("input", "output"):
        pool = _filled(context, chosen)
        request = _request(pool, **{f"{side}_length": _SIZE + 4})
        for executor in executors(context.version):
            with context.configuration(f"{side}_longer.{executor}"), with_aosp_verdict("no"):
                execution = execute(context, prepared_model, request, measure=False, executor=executor)
                _declined_or_adds(context, chosen, pool, execution)


@cases.case("R6.may_refuse_input_too_short", "NNHAL-REQUEST-012", since=Version.FL5)
def input_too_short(context: CaseContext) -> None:
    """An input whose last byte lies past the end of its pool is rejected, or executed with any result."""
    chosen = addition.supported(context)
    prepared_model = chosen.prepared(context)
    request = _request(_filled(context, chosen))
    request = replace(request, inputs=(_place(_POOL - _SIZE + 1, _SIZE - 1), request.inputs[1]))
    for executor in executors(context.version):
        with context.configuration(executor), with_aosp_verdict("no"):
            execution = execute(context, prepared_model, request, measure=False, executor=executor)
            _ends(context, execution, "an input that ends before its last byte")


@cases.case("R6.padding_without_data", "NNHAL-REQUEST-013", "NNHAL-SHAPE-008", since=Version.FL5)
def padding_without_data(context: CaseContext) -> None:
    """An output a byte too short, with room in its padding, is rejected or insufficient, and nothing is put there."""
    chosen = addition.supported(context)
    prepared_model = chosen.prepared(context)
    last = chosen.packed(addition.SUM)[-1]
    for executor in executors(context.version):
        with context.configuration(executor), with_aosp_verdict("yes"):
            pool = _filled(context, chosen)
            output = RequestArgument(location=DataLocation(0, _OUTPUT, _SIZE - 1, 9))
            request = replace(_request(pool), outputs=(output,))
            execution = execute(context, prepared_model, request, measure=False, executor=executor)
            allowed = {*_DECLINED, ErrorStatus.OUTPUT_INSUFFICIENT_SIZE}
            checks.status(execution.status, allowed, "execution with an output that needs its padding")
            found = bytes(pool.read(_OUTPUT + _SIZE - 1, 1))[0]
            checks.that(
                found != last, f"padding of the output: expected no output data, found its last byte {found:#x}"
            )


@cases.case("R7.may_refuse_output_over_input", "NNHAL-REQUEST-014")
def output_over_input(context: CaseContext) -> None:
    """An output in the place of an input, wholly or by half, is rejected, or executed with any result."""
    chosen = addition.supported(context)
    prepared_model = chosen.prepared(context)
    for name, offset in {"all": 0, "half": 4}.items():
        for executor in executors(context.version):
            with context.configuration(f"{name}.{executor}"), with_aosp_verdict("no"):
                request = replace(_request(_filled(context, chosen)), outputs=(_place(offset),))
                execution = execute(context, prepared_model, request, measure=False, executor=executor)
                _ends(context, execution, "an output over an input")


@cases.case("R7.may_refuse_output_over_output", "NNHAL-REQUEST-014")
def output_over_output(context: CaseContext) -> None:
    """Two outputs in one place are rejected, or executed with any result."""
    chosen = addition.supported(context)
    model = _twice(chosen)
    prepared_model = context.prepare(model).prepared_model if all(context.supported_operations(model)) else None
    if prepared_model is None:
        raise NotSupported("the device has no model of two outputs here")
    for executor in executors(context.version):
        with context.configuration(executor), with_aosp_verdict("no"):
            pool = _filled(context, chosen)
            request = replace(_request(pool), inputs=(_place(0),), outputs=(_place(_OUTPUT), _place(_OUTPUT)))
            execution = execute(context, prepared_model, request, measure=False, executor=executor)
            _ends(context, execution, "an output over an output")


def _ends(context: CaseContext, execution: Execution, what: str) -> None:
    checks.status(execution.status, {ErrorStatus.NONE, *_DECLINED}, f"execution with {what}")
    if execution.status == ErrorStatus.NONE:
        context.warn_quality(f"{what} is taken; the interface text forbids it")


def _declined_or_adds(context: CaseContext, chosen: Addition, pool: Pool, execution: Execution) -> None:
    checks.status(execution.status, {ErrorStatus.NONE, *_DECLINED}, "execution with an argument of another length")
    if execution.status == ErrorStatus.NONE:
        chosen.check(bytes(pool.read(_OUTPUT, _SIZE)), addition.SUM, "sum")
        context.warn_quality("a length that is not that of type and dimensions is taken; the interface text forbids it")


def _place(offset: int, length: int = _SIZE) -> RequestArgument:
    return RequestArgument(location=DataLocation(0, offset, length))


def _filled(context: CaseContext, chosen: Addition) -> Pool:
    """A pool with both summands, and a pattern everywhere else."""
    pool = context.pool(_POOL)
    pool.write(0, bytes([FILL]) * _POOL)
    pool.write(0, chosen.packed(addition.A))
    pool.write(16, chosen.packed(addition.B))
    return pool


def _request(pool: Pool, input_length: int = _SIZE, output_length: int = _SIZE) -> Request:
    inputs = (_place(0, input_length), _place(16))
    return Request(inputs, (_place(_OUTPUT, output_length),), (RequestMemoryPool(pool=pool.memory),))


def _twice(chosen: Addition) -> Model:
    """RELU of one input, for two outputs, in the addition's type."""
    fields = {"scale": chosen.scale, "zero_point": chosen.zero_point}
    operands = [
        tensor(OperandType(chosen.operand_type), (chosen.elements,), lifetime, **fields)
        for lifetime in (INPUT, OUTPUT, OUTPUT)
    ]
    return Model(graph(operands, [Operation(OperationType.RELU, (0,), (place,)) for place in (1, 2)]))
