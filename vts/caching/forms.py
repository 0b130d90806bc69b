"""Models of every form that are restored from a cache: orders, open sizes, small constants, several graphs."""

from __future__ import annotations

import struct
from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.caching import TOKEN, outcome
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import execute
from npu_conformance.harness.run.preparation import model_of
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Model,
    Operation,
    Request,
    RequestArgument,
    RequestMemoryPool,
    Subgraph,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.addition import FLOAT32, SIZE
from npu_conformance.vts.lib.caching.client import client
from npu_conformance.vts.lib.preparing import prepared_or_unsupported
from npu_conformance.vts.lib.structure_models import INPUT, OUTPUT, constant, graph, reference, tensor

cases = CaseGroup("vts.caching.forms", group=Group.EXECUTION)

_STEP = 16
_X, _Y = (1.5, -2.0), (0.25, 4.0)
_ADD, _SUB = OperationType.ADD, OperationType.SUB


class _Form(msgspec.Struct, frozen=True):
    """A model, and what comes of inputs: of tensors of two floats, behind a boolean where the model begins with one."""

    model: Model
    inputs: tuple[tuple[float, float], ...]
    expected: tuple[tuple[float, float], ...]
    flag: bool | None = None


@cases.case("standard", "NNHAL-CACHE-010", since=Version.V1_2)
def standard(context: CaseContext) -> None:
    """Restored models keep the order of inputs, outputs and operations, and what is open."""
    _all_restored(context, _standard())


@cases.case("graphs", "NNHAL-CACHE-010", "NNHAL-CONTROLFLOW-016", since=Version.V1_3)
def graphs(context: CaseContext) -> None:
    """Restored models keep each of several graphs, which differ in constants alone, where it belongs."""
    _all_restored(context, _of_graphs())


def _all_restored(context: CaseContext, forms: Mapping[str, _Form]) -> None:
    caching = client(context)
    for name, form in forms.items():
        with context.configuration(name):
            _executed(context, form, prepared_or_unsupported(context, form.model), "a model without cache files")
            cache = caching.cache()
            saved = model_of(caching.save(form.model, cache.handles()), "prepareModel with cache files")
            _executed(context, form, saved, "a saved model")
            restored = caching.restored(cache.handles(), TOKEN)
            if outcome(restored) == ErrorStatus.GENERAL_FAILURE:
                raise NotApplicable("the device does not cache this model")
            _executed(context, form, model_of(restored, "prepareModelFromCache of what was saved"), "a restored model")


def _executed(context: CaseContext, form: _Form, prepared_model: PreparedModel, what: str) -> None:
    """Execute, and see that the outputs are right."""
    flag = [] if form.flag is None else [bytes([form.flag])]
    inputs = [*flag, *(struct.pack("<2f", *values) for values in form.inputs)]
    pool = context.pool(_STEP * (len(inputs) + len(form.expected)))
    pool.write(0, b"".join(data.ljust(_STEP, bytes([FILL])) for data in inputs))
    places = [DataLocation(0, number * _STEP, len(data)) for number, data in enumerate(inputs)]
    outputs = [DataLocation(0, (len(inputs) + number) * _STEP, SIZE) for number in range(len(form.expected))]
    given, taken = (tuple(map(_argument, locations)) for locations in (places, outputs))
    request = Request(given, taken, (RequestMemoryPool(pool=pool.memory),))
    execution = execute(context, prepared_model, request, measure=False)
    checks.status(execution.status, {ErrorStatus.NONE}, f"execution of {what}")
    for number, (place, expected) in enumerate(zip(outputs, form.expected, strict=True)):
        FLOAT32.check(bytes(pool.read(place.offset, SIZE)), expected, f"output {number} of {what}")


def _argument(location: DataLocation) -> RequestArgument:
    """Of two elements, which it says where the model may leave it open."""
    return RequestArgument(location=location, dimensions=(2,) if location.length == SIZE else ())


def _standard() -> dict[str, _Form]:
    none = constant(OperandType.INT32, [], 0, 4)
    first, second = tensor(lifetime=INPUT), tensor(lifetime=INPUT)
    difference = Operation(_SUB, (0, 1, 2), (3,))
    one = graph([first, second, none, tensor(lifetime=OUTPUT)], [difference])
    two = graph([first, second, none, *[tensor(lifetime=OUTPUT)] * 2], [difference, Operation(_ADD, (0, 1, 2), (4,))])
    late = graph(
        [first, second, none, tensor(lifetime=OUTPUT), tensor()],
        [Operation(_ADD, (0, 1, 2), (4,)), Operation(_SUB, (4, 0, 2), (3,))],
    )
    opened = [tensor(dimensions=(0,), lifetime=lifetime) for lifetime in (INPUT, INPUT, OUTPUT)]
    open_sizes = graph([*opened[:2], none, opened[2]], [difference])
    x_minus_y, y_minus_x = (1.25, -6.0), (-1.25, 6.0)
    return {
        "inputs_out_of_order": _Form(_model(replace(one, input_indexes=(1, 0))), (_X, _Y), (y_minus_x,)),
        "outputs_out_of_order": _Form(_model(replace(two, output_indexes=(4, 3))), (_X, _Y), ((1.75, 2.0), x_minus_y)),
        "results_out_of_order": _Form(_model(late), (_X, _Y), (_Y,)),
        "sizes_left_open": _Form(_model(open_sizes), (_X, _Y), (x_minus_y,)),
        "small_constants": _Form(_with_small_constant(), (_X,), ((2.0, -1.5),)),
    }


def _of_graphs() -> dict[str, _Form]:
    """Two IFs, one behind the other, over four graphs that add 1, 10, 100 and 1000."""
    one = tensor(dimensions=(1,), lifetime=OperandLifeTime.CONSTANT_COPY)
    branches = [
        graph(
            [
                tensor(lifetime=INPUT),
                replace(one, location=DataLocation(0, 4 * number, 4)),
                constant(OperandType.INT32, [], 0, 4),
                tensor(lifetime=OUTPUT),
            ],
            [Operation(_ADD, (0, 1, 2), (3,))],
        )
        for number in range(1, 5)
    ]
    main = graph(
        [
            tensor(OperandType.TENSOR_BOOL8, [1], INPUT),
            *map(reference, range(4)),
            tensor(lifetime=INPUT),
            tensor(),
            tensor(lifetime=OUTPUT),
        ],
        [Operation(OperationType.IF, (0, 1, 2, 5), (6,)), Operation(OperationType.IF, (0, 3, 4, 6), (7,))],
    )
    model = Model(main, tuple(branches), operand_values=bytes(4) + struct.pack("<4f", 1, 10, 100, 1000))
    sums = {True: 101.0, False: 1010.0}
    return {
        f"condition_{flag}".lower(): _Form(model, (_X,), ((_X[0] + more, _X[1] + more),), flag)
        for flag, more in sums.items()
    }


def _model(main: Subgraph) -> Model:
    """The graph; its one constant is an activation, of none."""
    return Model(main, operand_values=bytes(4))


def _with_small_constant() -> Model:
    """A sum in eight bits with a constant of one byte, which lies at an odd place, between conversions."""
    quarters = tensor(OperandType.TENSOR_QUANT8_ASYMM, scale=0.25, zero_point=128)
    place = DataLocation(0, 5, 1)
    half = replace(quarters, dimensions=(1,), lifetime=OperandLifeTime.CONSTANT_COPY, location=place)
    operands = [tensor(lifetime=INPUT), quarters, half, constant(OperandType.INT32, [], 0, 4)]
    operations = [
        Operation(OperationType.QUANTIZE, (0,), (1,)),
        Operation(_ADD, (1, 2, 3), (4,)),
        Operation(OperationType.DEQUANTIZE, (4,), (5,)),
    ]
    main = graph([*operands, quarters, tensor(lifetime=OUTPUT)], operations)
    return Model(main, operand_values=bytes(4) + bytes([FILL, 130, FILL, FILL]))
