"""Random graphs over drivers of random abilities compute what the CPU alone computes (FW-PRT-006)."""

from __future__ import annotations

import random

import numpy
import pytest
from runtime_plans import SHAPE, Graph, Planning

from npu_conformance.reference.runtime.backend import Argument, ExecutionOptions
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript, Misbehaviour, SupportedOperation
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import NEWEST, Version

BINARY = (OperationType.ADD, OperationType.MUL, OperationType.SUB)
UNARY = (OperationType.FLOOR, OperationType.RELU, OperationType.RELU1, OperationType.RELU6)
SIGNATURES = [SupportedOperation(kind, code) for kind in BINARY for code in range(4)]
SIGNATURES += [SupportedOperation(kind) for kind in (*UNARY, OperationType.IF, OperationType.WHILE)]
UNKNOWN: tuple[tuple[int, ...], ...] = ((0, 3), (0, 0), ())
SEEDS = range(40)


class Maker:
    """Makes one random graph, and the drivers that share it. level: of the runtime, of either profile."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.level = NEWEST if self.random.random() < 0.75 else Version.V1_3
        self.has_unknown = self.random.random() < 0.25
        self.inner: list[Graph] = []

    def model(self) -> types.Model:
        graph = Graph()
        self.fill(graph, self.random.randint(1, 4), self.random.randint(1, 30), self.random.random() < 0.4)
        return graph.model(*self.inner)

    def fill(self, graph: Graph, inputs: int, operations: int, has_control_flow: bool) -> None:
        values = [graph.input() for _ in range(inputs)]
        for place in range(operations):
            is_output = place == operations - 1 or self.random.random() < 0.15
            if has_control_flow and self.random.random() < 0.15:
                values.append(self.control_flow(graph, values, is_output))
            else:
                values.append(self.operation(graph, values, is_output))

    def operation(self, graph: Graph, values: list[int], is_output: bool) -> int:
        shape: tuple[int, ...] = SHAPE
        if self.has_unknown and not is_output and self.random.random() < 0.2:
            shape = self.random.choice(UNKNOWN)
        if self.random.random() < 0.3:
            return graph.add(self.random.choice(UNARY), self.value(values), is_output=is_output, shape=shape)
        other = graph.tensor(*self.random.choices((-2, -1, 0.5, 1, 3), k=3))
        other = other if self.random.random() < 0.2 else self.value(values)
        activation = graph.activation(self.random.randrange(4))
        kind = self.random.choice(BINARY)
        return graph.add(kind, self.value(values), other, activation, is_output=is_output, shape=shape)

    def value(self, values: list[int]) -> int:
        return self.random.choice(values[-5:])

    def control_flow(self, graph: Graph, values: list[int], is_output: bool) -> int:
        """An IF over a condition in the graph; its branches have two inputs."""
        known = [value for value in values if graph.operands[value].dimensions == SHAPE]
        zero = graph.constant(numpy.zeros(1, "bool"), OperandType.TENSOR_BOOL8)
        one = graph.constant(numpy.ones(1, "bool"), OperandType.TENSOR_BOOL8)
        kind = self.random.choice((OperationType.LOGICAL_OR, OperationType.LOGICAL_AND))
        condition = graph.add(kind, zero, one, shape=(1,), type=OperandType.TENSOR_BOOL8)
        branches = [self.branch(graph), self.branch(graph)]
        operands = [graph.graph(number) for number in branches]
        arguments = [self.random.choice(known), graph.tensor(1, -1)]
        return graph.add(OperationType.IF, condition, *operands, *arguments, is_output=is_output)

    def branch(self, graph: Graph) -> int:
        inner = graph.inner()
        operations = self.random.randint(1, 4)
        values = [inner.input(), inner.input()]
        for place in range(operations):
            values.append(self.operation(inner, values, is_output=place == operations - 1))
        self.inner.append(inner)
        return len(self.inner) - 1

    def scripts(self) -> list[DriverScript]:
        return [self.script(number) for number in range(self.random.randint(1, 6))]

    def script(self, number: int) -> DriverScript:
        operations = tuple(self.random.sample(SIGNATURES, self.random.randint(1, len(SIGNATURES))))
        misbehaviours: tuple[Misbehaviour, ...] = ()
        if self.random.random() < 0.1:
            misbehaviours = (Misbehaviour("execute", status=ErrorStatus.GENERAL_FAILURE, first=2),)
        return DriverScript(
            f"driver{number}",
            hal=self.random.choice([version for version in Version if version <= self.level]),
            operations=operations,
            exec_time=self.random.choice((0.2, 0.5, 0.9, 1.0)),
            misbehaviours=misbehaviours,
        )


def outputs_of(planning: Planning, model: types.Model, *explicit: str, fenced: bool = False) -> list[list[float]]:
    source = random.Random(7)
    graph = model.main
    inputs = [
        planning.place(numpy.array([source.randint(-3, 3) for _ in range(6)], "float32").reshape(SHAPE))
        for _ in graph.input_indexes
    ]
    outputs: list[Argument] = [planning.room(SHAPE, 24) for _ in graph.output_indexes]
    plan = planning.compile(model, *explicit)
    for _ in range(2):
        if fenced:
            outcome = plan.start(inputs, outputs, ExecutionOptions(), (), 0).wait()
        else:
            outcome = plan.execute(inputs, outputs, ExecutionOptions())
        assert outcome.result == ResultCode.NO_ERROR
        assert [shape.dimensions for shape in outcome.shapes] == [SHAPE] * len(outputs)
    return [planning.read(one, SHAPE).ravel().tolist() for one in outputs]


@pytest.mark.parametrize("seed", SEEDS)
def test_partitions_compute_what_the_cpu_computes(seed: int) -> None:
    maker = Maker(seed)
    model = maker.model()
    planning = Planning(*maker.scripts(), feature_level=maker.level)
    expected = outputs_of(planning, model, "nnapi-reference")
    assert outputs_of(planning, model) == expected
    assert outputs_of(planning, model, fenced=True) == expected
