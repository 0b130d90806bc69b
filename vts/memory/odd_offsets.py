"""Values that lie at no multiple of their element's size: what goes wrong there is a quality warning.

A constant or an argument has to lie inside its pool, and no document says at which multiples: its owner may pack values
as it likes. But AOSP's runtime and its VTS place values at multiples of 4 bytes, or of 2, so that no driver has met
any other, and one that can only load whole words from whole addresses fails no app.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.judge.verdicts import Failed, NotSupported
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import execute
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandLifeTime, OperandType
from npu_conformance.specs.neuralnetworks.types import DataLocation, Model, RequestArgument
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import Addition
from npu_conformance.vts.lib.preparing import prepared_or_unsupported

cases = CaseGroup("vts.memory", group=Group.MEMORY)

_FOREIGN = bytes([FILL])
_ACTIVATION = 4
"""Bytes of the constant that the model of an addition has in any case, in front of the copied summand."""
_Adds = Callable[[Addition, int], None]
"""Adds in a type with one of the three tensors at this offset, and sees the sum."""


@cases.case("odd_offsets.pooled_constant", "NNHAL-MEMORY-014", "NNHAL-EXECUTE-001")
def pooled_constant(context: CaseContext) -> None:
    """A constant may begin at any byte of its pool."""

    def adds(chosen: Addition, offset: int) -> None:
        constant = context.filled_pool(_around(chosen.packed(addition.B), offset))
        model = chosen.model_with_constant(constant, location=DataLocation(0, offset, addition.SIZE))
        _adds(context, chosen, model, inputs=1)

    _at_odd_offsets(context, adds)


@cases.case("odd_offsets.copied_constant", "NNHAL-MEMORY-014", "NNHAL-EXECUTE-001")
def copied_constant(context: CaseContext) -> None:
    """A constant that is copied into the model may begin at any byte of the model's values."""
    _at_odd_offsets(context, lambda chosen, offset: _adds(context, chosen, _with_copied(chosen, offset), inputs=1))


@cases.case("odd_offsets.input", "NNHAL-MEMORY-014", "NNHAL-EXECUTE-001")
def first_input(context: CaseContext) -> None:
    """An input may begin at any byte of its pool."""
    _at_odd_offsets(context, lambda chosen, offset: _adds(context, chosen, chosen.model(), input_at=offset))


@cases.case("odd_offsets.output", "NNHAL-MEMORY-014", "NNHAL-EXECUTE-001")
def output(context: CaseContext) -> None:
    """An output may begin at any byte of its pool."""
    _at_odd_offsets(context, lambda chosen, offset: _adds(context, chosen, chosen.model(), output_at=offset))


def _at_odd_offsets(context: CaseContext, adds: _Adds) -> None:
    """Add in each type of several bytes: at offset 0, which has to succeed, then up to the next element."""
    wide = [chosen for chosen in addition.all_supported(context) if chosen.elements < addition.SIZE]
    if not wide:
        raise NotSupported("ADD is supported of no type whose elements have several bytes")
    for chosen in wide:
        with context.configuration(OperandType(chosen.operand_type).name.lower()):
            with checks.about("NNHAL-EXECUTE-001"):
                adds(chosen, 0)
            for offset in range(1, addition.SIZE // chosen.elements):
                _adds_or_warns(context, adds, chosen, offset)


def _adds_or_warns(context: CaseContext, adds: _Adds, chosen: Addition, offset: int) -> None:
    try:
        adds(chosen, offset)
    except (Failed, NotSupported, ServiceError) as problem:
        size = addition.SIZE // chosen.elements
        context.warn_quality(f"at offset {offset}, no multiple of the element's {size} bytes: {problem}")


def _adds(
    context: CaseContext, chosen: Addition, model: Model, *, inputs: int = 2, input_at: int = 0, output_at: int = 0
) -> None:
    """Execute with the first summand and the sum so many bytes behind their usual places."""
    prepared_model = prepared_or_unsupported(context, model)
    pool = context.pool(addition.POOL)
    pool.write(0, _FOREIGN * addition.POOL)
    usual = addition.request(pool.memory, inputs)
    request = replace(
        usual, inputs=_first_moved(usual.inputs, input_at), outputs=_first_moved(usual.outputs, output_at)
    )
    for argument, values in zip(request.inputs, (addition.A, addition.B), strict=False):
        pool.write(argument.location.offset, chosen.packed(values))
    execution = execute(context, prepared_model, request, measure=False)
    checks.status(execution.status, {ErrorStatus.NONE}, "execution")
    chosen.check(bytes(pool.read(addition.OUTPUT + output_at, addition.SIZE)), addition.SUM, "sum")


def _first_moved(arguments: tuple[RequestArgument, ...], distance: int) -> tuple[RequestArgument, ...]:
    first, *others = arguments
    location = replace(first.location, offset=first.location.offset + distance)
    return replace(first, location=location), *others


def _with_copied(chosen: Addition, offset: int) -> Model:
    """The model whose second summand is copied into it, this many bytes behind the activation."""
    place = DataLocation(0, _ACTIVATION + offset, addition.SIZE)
    model = chosen.model_with_constant(location=place)
    operands = list(model.main.operands)
    operands[1] = replace(operands[1], lifetime=OperandLifeTime.CONSTANT_COPY)
    values = bytes(_ACTIVATION) + _around(chosen.packed(addition.B), offset)
    return replace(model, main=replace(model.main, operands=tuple(operands)), operand_values=values)


def _around(data: bytes, offset: int) -> bytes:
    """The data between foreign bytes, so that each neighbouring place has other values."""
    return _FOREIGN * offset + data + _FOREIGN * addition.SIZE
