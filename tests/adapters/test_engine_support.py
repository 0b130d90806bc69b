"""Which operations an engine is tried with, and what it is given for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy
import pytest
from msgspec.structs import replace

from npu_conformance.adapters.engine_interface import (
    NO_CALLEES,
    Array,
    Callees,
    Engine,
    EngineError,
    Lowered,
    Run,
    Shape,
)
from npu_conformance.adapters.engine_support import obstacles
from npu_conformance.adapters.litert_engine import LiteRtEngine
from npu_conformance.adapters.onnx_engine import OnnxEngine
from npu_conformance.adapters.tflm_engine import TflmEngine
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import Model, Operand, Operation, Subgraph
from npu_conformance.specs.versions import Version

INPUT, OUTPUT = OperandLifeTime.SUBGRAPH_INPUT, OperandLifeTime.SUBGRAPH_OUTPUT
TEMPORARY = OperandLifeTime.TEMPORARY_VARIABLE


@dataclass(frozen=True)
class LoweredTanh:
    """Every operand has the shape of the inputs."""

    shapes: Mapping[int, Shape]

    def load(self) -> Run:
        return lambda inputs, _: [array for array in inputs if array is not None]


@dataclass(frozen=True)
class TanhEngine(Engine):
    """Lowers TANH where it knows the shape of what is read."""

    name = "tanh"

    def version(self) -> str:
        return "1"

    def has(self, operation_type: int) -> bool:
        return operation_type == OperationType.TANH

    def lower(
        self,
        graph: Subgraph,
        known: Mapping[int, Array],
        shapes: Mapping[int, Shape],
        omitted: frozenset[int] = frozenset(),
        callees: Callees = NO_CALLEES,
    ) -> Lowered:
        (operation,) = graph.operations
        if operation.inputs[0] not in shapes:
            raise EngineError(f"operand {operation.inputs[0]} has no shape")
        return LoweredTanh(dict.fromkeys(range(len(graph.operands)), shapes[operation.inputs[0]]))


def chain(lifetimes: Sequence[OperandLifeTime]) -> Model:
    """One TANH behind the other: operand i is read by operation i, which computes operand i + 1."""
    operands = tuple(Operand(OperandType.TENSOR_FLOAT32, (2, 3), lifetime=lifetime) for lifetime in lifetimes)
    operations = tuple(Operation(OperationType.TANH, (index,), (index + 1,)) for index in range(len(operands) - 1))
    outputs = tuple(index for index, lifetime in enumerate(lifetimes) if lifetime == OUTPUT)
    return Model(Subgraph(operands, operations, (0,), outputs))


@pytest.mark.parametrize("between", [TEMPORARY, OUTPUT])
def test_a_result_that_another_operation_reads_is_an_input_of_its_trial(between: OperandLifeTime) -> None:
    assert obstacles(chain([INPUT, between, OUTPUT]), Version.V1_3, (), TanhEngine()) == [None, None]


@pytest.mark.parametrize(
    ("package", "engine"),
    [("ai_edge_litert", LiteRtEngine("optimized")), ("tflite_micro", TflmEngine()), ("onnx", OnnxEngine())],
    ids=["litert", "tflm", "onnx"],
)
def test_what_no_operation_uses_may_be_as_no_engine_takes_it(package: str, engine: Engine) -> None:
    pytest.importorskip(package)
    chained = chain([INPUT, OUTPUT]).main
    unread = Operand(OperandType.TENSOR_QUANT8_SYMM, (1,), 1e30, 0, INPUT)
    unmade = Operand(OperandType.TENSOR_FLOAT32, (2**32 - 1,), lifetime=TEMPORARY)
    graph = replace(chained, operands=(*chained.operands, unread, unmade), input_indexes=(0, 2))
    values = numpy.zeros((2, 3), numpy.float32)
    run = engine.lower(graph, {}, {0: (2, 3), 2: (1,)}).load()
    (result,) = run([values, numpy.zeros(1, numpy.int8)], lambda: None)
    assert result.tolist() == values.tolist()
