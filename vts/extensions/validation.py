"""The driver alone can judge operands and operations of its extensions, and has to (NNHAL-EXTENSION-006).

Each model breaks the definition of FIBONACCI or of ECHO_PARAMETERS (docs/extensions.md) once. A vendor's own catalogue
asks for the same by its rejected vectors.
"""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import Case, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import execute
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Model,
    OperandExtraParams,
    Operation,
    SymmPerChannelQuantParams,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.extensions import models
from npu_conformance.vts.lib.extensions.models import ECHO, FIBONACCI
from npu_conformance.vts.lib.rejection import expect_rejected_at_prepare
from npu_conformance.vts.lib.structure_models import (
    COPY,
    INPUT,
    beside,
    graph,
    reference,
    tensor,
    with_operand,
    with_operations,
)

_PREFIX, _LENGTH = 7, 4
_COUNT, _NUMBERS = 0, 1
"""Operands of FIBONACCI."""

_VALIDATION = ("NNHAL-EXTENSION-006",)


def cases() -> Iterator[Case]:
    """One case for each part of a definition, with a configuration for each way to break it."""
    parts = {
        "parameters": (_parameters(), "Data of the wrong length or content is rejected, and so is none at all."),
        "signatures": (_signatures(), "Operands that are too many, too few or of another type are rejected."),
        "numbers": (_numbers(), "Local numbers that the extension does not define are rejected."),
        "operands": (_operands(), "Scale, zero point, dimensions and kinds that its types do not have are rejected."),
    }
    for name, (broken, description) in parts.items():
        yield _case(name, description, functools.partial(_expect_all_rejected, broken))
    yield _case(
        "branches", "What a definition forbids is rejected in the branches of IF, too.", _branches, Version.V1_3
    )
    yield _case("counts", "A count out of range is rejected when the model is executed at the latest.", _counts)
    yield _case("echo", "An operand without data is rejected; one with 0 bytes is not.", _echo)


def _case(name: str, description: str, run: Callable[[CaseContext], None], since: Version = Version.V1_2) -> Case:
    return Case(f"vts.extensions.validation.{name}", run, _VALIDATION, description, since=since, group=Group.VALIDATION)


def _expect_all_rejected(broken: dict[str, Model], context: CaseContext) -> None:
    models.need(context, FIBONACCI)
    models.prepared(context, _sound())
    for name, model in broken.items():
        quantised = name.startswith(("scale", "zero_point"))
        with context.configuration(name), checks.about(*(("NNHAL-MODEL-027",) if quantised else ())):
            expect_rejected_at_prepare(context, model)


def _branches(context: CaseContext) -> None:
    models.need(context, FIBONACCI)
    models.prepared(context, _in_branches(_sound()))
    for name, model in _parameters().items():
        with context.configuration(name):
            expect_rejected_at_prepare(context, _in_branches(model))


def _in_branches(model: Model) -> Model:
    """IF that computes the same in both branches, whose operands are those of the model, right or wrong."""
    count, numbers = model.main.operands
    condition = tensor(OperandType.TENSOR_BOOL8, (1,), INPUT)
    operands = [condition, reference(0), reference(1), count, numbers]
    main = graph(operands, [Operation(OperationType.IF, (0, 1, 2, 3), (4,))])
    return replace(model, main=main, referenced=(model.main, model.main))


def _counts(context: CaseContext) -> None:
    models.need(context, FIBONACCI)
    for count in (0, -1, 80, 1 << 40):
        with context.configuration(f"minus_{-count}" if count < 0 else f"count_{count}"):
            prepared_model = models.prepared(context, with_operand(_sound(), _NUMBERS, dimensions=(0,)))
            memory = models.RequestMemory(context, [models.packed_count(count)], [8 * 80])
            status = execute(context, prepared_model, memory.request, measure=False).status
            checks.that(status != ErrorStatus.NONE, f"FIBONACCI of {count} numbers: expected a rejection, found NONE")


def _echo(context: CaseContext) -> None:
    models.need(context, ECHO)
    model = models.echo(_PREFIX, b"")
    models.prepared(context, model)
    expect_rejected_at_prepare(context, with_operand(model, 0, extra_params=None))


def _sound() -> Model:
    return models.fibonacci(_PREFIX, _LENGTH)


def _parameters() -> dict[str, Model]:
    lengths = {f"bytes_{length}": (models.PARAMETERS * 2)[:length] for length in (0, 1, 8, 15, 17, 32)}
    scales = {"zero": 0.0, "minus_zero": -0.0, "negative": -1.0, "infinite": math.inf, "nan": math.nan}
    contents = {
        **lengths,
        **{f"scale_{name}": struct.pack("<dq", scale, 0) for name, scale in scales.items()},
        "zero_point_2_31": struct.pack("<dq", 1.0, 1 << 31),
        "zero_point_below": struct.pack("<dq", 1.0, -(1 << 31) - 1),
    }
    found = {name: models.fibonacci(_PREFIX, _LENGTH, content) for name, content in contents.items()}
    return {**found, "none": with_operand(_sound(), _NUMBERS, extra_params=None)}


def _signatures() -> dict[str, Model]:
    model = _sound()
    count, numbers = model.main.operands
    code = model.main.operations[0].type
    other = replace(numbers, type=OperandType.TENSOR_FLOAT32, extra_params=None)
    return {
        "no_inputs": with_operations(model, Operation(code, (), (1,))),
        "input_twice": with_operations(model, Operation(code, (0, 0), (1,))),
        "output_too_many": replace(model, main=graph([count, numbers, numbers], [Operation(code, (0,), (1, 2))])),
        "no_outputs": replace(model, main=graph([count], [Operation(code, (0,), ())])),
        "count_of_int32": with_operand(model, _COUNT, type=OperandType.INT32),
        "count_of_the_tensor_type": replace(
            model, main=graph([models.numbers_operand(_PREFIX, 1, INPUT), numbers], model.main.operations)
        ),
        "numbers_of_float32": replace(model, main=graph([count, other], model.main.operations)),
        "numbers_of_rank_2": with_operand(model, _NUMBERS, dimensions=(2, 2)),
    }


def _numbers() -> dict[str, Model]:
    model = _sound()
    operations = {f"operation_{local}": models.code(_PREFIX, local) for local in (2, 0xFF, 0x100, 0xFFFF)}
    coded = {name: with_operations(model, Operation(code, (0,), (1,))) for name, code in operations.items()}
    typed = {
        f"type_{local}": with_operand(model, _NUMBERS, type=models.code(_PREFIX, local)) for local in (2, 0x101, 0xFFFF)
    }
    return {**coded, **typed}


def _operands() -> dict[str, Model]:
    model = _sound()
    channels = OperandExtraParams(channel_quant=SymmPerChannelQuantParams((1.0,) * _LENGTH, 0))
    stored = replace(models.count_operand(_PREFIX), lifetime=COPY, location=DataLocation(length=4))
    return {
        "scale": with_operand(model, _NUMBERS, scale=1.0),
        "scale_of_the_scalar": with_operand(model, _COUNT, scale=0.5),
        "zero_point": with_operand(model, _NUMBERS, zero_point=1),
        "zero_point_of_the_scalar": with_operand(model, _COUNT, zero_point=-1),
        "channel_parameters": with_operand(model, _NUMBERS, extra_params=channels),
        "scalar_with_a_dimension": with_operand(model, _COUNT, dimensions=(1,)),
        "constant_of_half_its_size": replace(beside(stored, model), operand_values=bytes(8)),
    }
