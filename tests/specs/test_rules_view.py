"""The view of an operation: names, defaults, values of constants, and what is found out at execution."""

from __future__ import annotations

import struct

import numpy
import pytest

from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.operation_view import OperationView, constant_value, view_of
from npu_conformance.specs.neuralnetworks.types import DataLocation, Memory, Model, Operand, Operation, Subgraph
from npu_conformance.specs.neuralnetworks.validate import check_operation
from npu_conformance.specs.versions import Version

FLOAT, INT = OperandType.TENSOR_FLOAT32, OperandType.INT32


def constant(kind: int, dimensions: tuple[int, ...], offset: int, length: int, *, pool: bool = False) -> Operand:
    lifetime = OperandLifeTime.CONSTANT_POOL if pool else OperandLifeTime.CONSTANT_COPY
    return Operand(kind, dimensions, lifetime=lifetime, location=DataLocation(0, offset, length))


def softmax(*, with_axis: bool) -> Model:
    operands = (
        Operand(FLOAT, (2, 0), lifetime=OperandLifeTime.SUBGRAPH_INPUT),
        constant(OperandType.FLOAT32, (), 0, 4),
        constant(INT, (), 4, 4, pool=True),
        Operand(FLOAT, (), lifetime=OperandLifeTime.SUBGRAPH_OUTPUT),
    )
    inputs = (0, 1, 2) if with_axis else (0, 1)
    graph = Subgraph(operands, (Operation(OperationType.SOFTMAX, inputs, (3,)),), (0,), (3,))
    return Model(graph, (graph,), struct.pack("<f", 2.5), (Memory("ashmem", 8, token=1),))


def test_a_model_shows_constants_and_declared_shapes() -> None:
    pool = memoryview(struct.pack("<ii", 7, -2))
    view = view_of(softmax(with_axis=True), 0, Version.V1_3, pools=[pool])
    assert (view.name, view.variant, view.input_count) == ("SOFTMAX", "default", 3)
    assert view.dimensions("input") == (2, None)
    assert view.dimensions("beta") == ()
    assert view.output_dimensions(0) is None
    assert view.value("input") is None
    assert view.real("beta") == 2.5
    assert view.integer("axis") == -2


def test_pools_that_can_not_be_read_leave_values_unknown() -> None:
    model = softmax(with_axis=True)
    assert view_of(model, 0, Version.V1_3).integer("axis") is None
    assert view_of(model, 0, Version.V1_3, pools=[None]).integer("axis") is None


def test_defaults_hold_where_the_end_is_left_off() -> None:
    view = view_of(softmax(with_axis=False), 0, Version.V1_3, subgraph=1)
    assert view.integer("axis") == -1
    assert not view.has("axis")
    assert view.index("axis") == -1
    assert view.integer("nothing") is None
    with pytest.raises(KeyError, match="axis"):
        view.operand("axis")


def test_execution_overrides_shapes_values_and_omissions() -> None:
    squeeze = Operation(OperationType.SQUEEZE, (0, 1), (2,))
    inputs = [Operand(FLOAT, (1, 0)), Operand(OperandType.TENSOR_INT32, (0,))]
    values = {1: numpy.array([0], numpy.int32)}
    view = OperationView(squeeze, Version.V1_3, inputs, [Operand(FLOAT)], shapes={0: (1, 0)}, values=values)
    assert view.dimensions(0) == (1, 0)
    assert view.integers("squeeze_dims") == (0,)
    omitted = OperationView(squeeze, Version.V1_3, inputs, [Operand(FLOAT)], values=values, omitted=frozenset({1}))
    assert omitted.dimensions("squeeze_dims") is None
    assert omitted.integers("squeeze_dims") is None
    assert not omitted.has(1)


def test_values_have_the_type_and_shape_of_their_operand() -> None:
    model = Model(Subgraph((), (), (), ()), operand_values=bytes(range(4)))
    array = constant_value(model, constant(OperandType.TENSOR_QUANT8_ASYMM, (2, 2), 0, 4))
    assert array is not None
    assert array.tolist() == [[0, 1], [2, 3]]
    assert constant_value(model, Operand(FLOAT, (1,))) is None
    assert constant_value(model, constant(OperandType.OEM, (), 0, 4)) is None


def test_vendors_operations_have_no_view() -> None:
    with pytest.raises(LookupError):
        OperationView(Operation(0x10001, (), ()), Version.V1_3, [], [])


def test_types_that_fit_no_signature_have_no_variant_and_break_no_clause() -> None:
    view = OperationView(Operation(OperationType.CONV_2D, (0,), ()), Version.V1_3, [Operand(FLOAT, (2,))], [])
    assert (view.signature, view.variant, view.arguments) == (None, "", ())
    assert check_operation(view) == []
