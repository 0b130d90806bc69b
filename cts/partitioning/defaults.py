"""Trailing inputs that have their default value are taken away, so that drivers of older HALs can do the operation.

Nothing is executed: what counts is how many inputs the operation has in the model that a driver gets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from npu_conformance.corpus.vector_types import VectorOperand
from npu_conformance.cts.lib.runtime.nets import Net, NetBuilder
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import driver
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType
from npu_conformance.specs.neuralnetworks.types import DataLocation, Memory
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.partitioning.defaults", interface="runtime", since=Version.V1_2)

_CUBE = VectorOperand(OperandType.TENSOR_FLOAT32, (1, 2, 2, 2))
"""The same in both layouts, so that every value of the optional inputs is legal."""

Value = bool | int | float
Required = Callable[[NetBuilder], list[str]]


@dataclass(frozen=True)
class _Row:
    """required: makes the inputs that stay. tail: the optional ones, by default and by another legal value.

    together: how many at the end go together or not at all.
    """

    name: str
    operation: str
    required: Required
    tail: tuple[tuple[Value, Value], ...]
    together: int = 1


def _scalars(*values: Value) -> Callable[[NetBuilder], list[str]]:
    def make(builder: NetBuilder) -> list[str]:
        return [builder.input(_CUBE), *(_scalar(builder, value) for value in values)]

    return make


def _filtered(*values: Value, filter_shape: tuple[int, ...]) -> Callable[[NetBuilder], list[str]]:
    def make(builder: NetBuilder) -> list[str]:
        shapes = (_CUBE.dimensions, filter_shape, (2,))
        tensors = [VectorOperand(OperandType.TENSOR_FLOAT32, shape) for shape in shapes]
        return [
            builder.input(tensors[0]),
            *(builder.constant(one) for one in tensors[1:]),
            *(_scalar(builder, value) for value in values),
        ]

    return make


def _blocks(*matrices: tuple[int, ...]) -> Callable[[NetBuilder], list[str]]:
    def make(builder: NetBuilder) -> list[str]:
        return [builder.input(_CUBE), *(_ints(builder, matrix) for matrix in matrices)]

    return make


def _ints(builder: NetBuilder, values: tuple[int, ...]) -> str:
    """A vector of block sizes, or four paddings in two rows."""
    import numpy

    shape = (2, 2) if len(values) == 4 else (2,)
    operand = VectorOperand(OperandType.TENSOR_INT32, shape)
    return builder.builder.constant(operand, numpy.array(values, numpy.int32).reshape(shape))


def _scalar(builder: NetBuilder, value: Value) -> str:
    kinds = {bool: OperandType.BOOL, int: OperandType.INT32, float: OperandType.FLOAT32}
    return builder.scalar(value, kinds[type(value)])


_LAYOUT = (False, True)
_AXIS = (-1, 1)
_DILATIONS = ((1, 2), (1, 2))
_FLAGS = ((False, True), (False, True))
_POOLS = ("AVERAGE", "L2", "MAX")
_SAME, _PADS = (1,), (0, 0, 0, 0)


def _windows() -> list[_Row]:
    rows = []
    for name, padding in (("implicit", _SAME), ("explicit", _PADS)):
        pool = _scalars(*padding, 1, 1, 1, 1, 0)
        rows += [_Row(f"{kind.lower()}_pool_2d.{name}", f"{kind}_POOL_2D", pool, (_LAYOUT,)) for kind in _POOLS]
        conv = _filtered(*padding, 1, 1, 0, filter_shape=(2, 1, 1, 2))
        rows.append(_Row(f"conv_2d.{name}", "CONV_2D", conv, (_LAYOUT, *_DILATIONS), 2))
        depthwise = _filtered(*padding, 1, 1, 1, 0, filter_shape=(1, 1, 1, 2))
        rows.append(_Row(f"depthwise_conv_2d.{name}", "DEPTHWISE_CONV_2D", depthwise, (_LAYOUT, *_DILATIONS), 2))
    return rows


_ROWS = (
    *_windows(),
    _Row("depth_to_space", "DEPTH_TO_SPACE", _scalars(1), (_LAYOUT,)),
    _Row("space_to_depth", "SPACE_TO_DEPTH", _scalars(1), (_LAYOUT,)),
    _Row("l2_normalization", "L2_NORMALIZATION", _scalars(), (_AXIS,)),
    _Row("local_response_normalization", "LOCAL_RESPONSE_NORMALIZATION", _scalars(1, 1.0, 1.0, 0.5), (_AXIS,)),
    _Row("resize_bilinear", "RESIZE_BILINEAR", _scalars(2, 2), (_LAYOUT, *_FLAGS)),
    _Row("resize_nearest_neighbor", "RESIZE_NEAREST_NEIGHBOR", _scalars(2, 2, False), _FLAGS),
    _Row("softmax", "SOFTMAX", _scalars(1.0), (_AXIS,)),
    _Row("batch_to_space_nd", "BATCH_TO_SPACE_ND", _blocks((1, 1)), (_LAYOUT,)),
    _Row("space_to_batch_nd", "SPACE_TO_BATCH_ND", _blocks((1, 1), (0, 0, 0, 0)), (_LAYOUT,)),
)


def _net(row: _Row, values: tuple[Value, ...]) -> Net:
    builder = NetBuilder()
    arguments = row.required(builder)
    tail = [_scalar(builder, value) for value in values]
    return builder.net(builder.apply(row.operation, *arguments, *tail, result=_CUBE))


def _kept(row: _Row, changed: int) -> int:
    """How many optional inputs stay where the one at this place is not the default: those up to it."""
    is_joined = changed >= len(row.tail) - row.together
    return len(row.tail) if is_joined else changed + 1


def _inputs(app: ScriptedApp, net: Net) -> int:
    """How many inputs the operation has in the model that the driver was given last."""
    app.compiled(net, "one")
    return len(app.prepared("one")[-1].main.operations[0].inputs)


def _declare(row: _Row) -> None:
    @cases.case(row.name, "FW-PRT-014", since=Version.V1_3 if len(row.tail) > 1 else Version.V1_2)
    def stripped(context: CaseContext) -> None:
        """Optional inputs at their defaults are gone; those before another value, and it, are there."""
        app = ScriptedApp(context, driver("one"))
        defaults = tuple(default for default, _ in row.tail)
        net = _net(row, defaults)
        full = len(net.wire.main.operations[0].inputs)
        required = full - len(row.tail)
        checks.equal(_inputs(app, net), required, f"inputs of {row.operation} with defaults only")
        for place, (_, other) in enumerate(row.tail):
            values = (*defaults[:place], other, *defaults[place + 1 :])
            expected = required + _kept(row, place)
            checks.equal(
                _inputs(app, _net(row, values)), expected, f"inputs of {row.operation} with {values} at the end"
            )


for _row in _ROWS:
    _declare(_row)


@cases.case("shorter_form", "FW-PRT-014")
def shorter_form(context: CaseContext) -> None:
    """So it is where only some of the optional inputs are given: CONV_2D with a layout and no dilations."""
    app = ScriptedApp(context, driver("one"))
    row = next(row for row in _ROWS if row.name == "conv_2d.implicit")
    for layout, expected in ((False, 7), (True, 8)):
        checks.equal(_inputs(app, _net(row, (layout,))), expected, f"inputs of CONV_2D with layout {layout}")


@cases.case("from_memory", "FW-PRT-014")
def from_memory(context: CaseContext) -> None:
    """A default that the app gave in a memory object stays: its value may change until the model is used."""
    app = ScriptedApp(context, driver("one"))
    row = next(row for row in _ROWS if row.name == "max_pool_2d.implicit")
    net = _net(row, (False,))
    pool = context.pool(64)
    pool.write(0, bytes(64))
    checks.equal(
        _inputs(app, _in_pool(net, pool.memory)), 8, "inputs of MAX_POOL_2D with the layout in a memory object"
    )


def _in_pool(net: Net, memory: Memory) -> Net:
    """The net with the last input of its operation in a pool."""
    main = net.wire.main
    index = main.operations[0].inputs[-1]
    operands = list(main.operands)
    lifetime = int(OperandLifeTime.CONSTANT_POOL)
    operands[index] = msgspec.structs.replace(operands[index], lifetime=lifetime, location=DataLocation(0, 0, 1))
    graph = msgspec.structs.replace(main, operands=tuple(operands))
    return Net(net.vector, msgspec.structs.replace(net.wire, main=graph, pools=(memory,)))


@cases.case("other_operations", "FW-PRT-014")
def other_operations(context: CaseContext) -> None:
    """Operations that are not in the list keep all of their inputs: LOG_SOFTMAX and its axis."""
    app = ScriptedApp(context, driver("one"))
    row = _Row("", "LOG_SOFTMAX", _scalars(1.0), (_AXIS,))
    checks.equal(_inputs(app, _net(row, (-1,))), 3, "inputs of LOG_SOFTMAX")


@cases.case("two_operations", "FW-PRT-014")
def two_operations(context: CaseContext) -> None:
    """An operand that is default for one operation and needed by another stays for that."""
    app = ScriptedApp(context, driver("one"))
    builder = NetBuilder()
    axis = builder.scalar(-1)
    arguments = [builder.input(_CUBE), builder.scalar(1.0, OperandType.FLOAT32), axis]
    first = builder.apply("SOFTMAX", *arguments, result=_CUBE)
    net = builder.net(builder.apply("LOG_SOFTMAX", first, *arguments[1:], result=_CUBE))
    app.computes_rightly(app.compiled(net, "one"))
    model = app.prepared_once("one")
    checks.equal([len(each.inputs) for each in model.main.operations], [2, 3], "inputs of SOFTMAX and LOG_SOFTMAX")
