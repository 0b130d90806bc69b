"""Judging random graphs: what is wrong is found, what nobody can decide is not, and earlier errors count."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from msgspec.structs import replace

from npu_conformance.corpus import oracles, vectors
from npu_conformance.corpus.generators import quantized_lstm
from npu_conformance.corpus.generators.data import Array
from npu_conformance.corpus.model_builder import ModelBuilder
from npu_conformance.corpus.random_graphs.accuracy import (
    CONVOLUTION,
    LARGE_GRAPH,
    MEDIUM,
    SMALL_GRAPH,
    STRICT,
    criterion,
)
from npu_conformance.corpus.vectors import Example, Graph, Vector, VectorOperand
from npu_conformance.harness.judge.graphs import aosp_verdict, decided, judge, judgement
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.versions import Version

FLOAT32, FLOAT16, BOOL8 = OperandType.TENSOR_FLOAT32, OperandType.TENSOR_FLOAT16, OperandType.TENSOR_BOOL8
QUANT8 = OperandType.TENSOR_QUANT8_ASYMM
_FIRST_UNIT = numpy.array([[1], [0]], "int8")


class Net:
    """A graph of a few operations on vectors."""

    def __init__(self) -> None:
        self.builder = ModelBuilder(Version.V1_3)

    def given(self, kind: OperandType, *numbers: float, scale: float = 0.0) -> str:
        array = numpy.array(numbers, {FLOAT32: "float32", FLOAT16: "float16", QUANT8: "uint8"}[kind])
        return self.builder.input(VectorOperand(kind, array.shape, scale), array)

    def add(self, operation: str, *names: str, result: VectorOperand, activation: bool = False) -> str:
        more = [self.builder.constant(VectorOperand(OperandType.INT32), numpy.array(0, "int32"))] if activation else []
        return self.builder.apply(operation, [*names, *more], [result])[0]

    def vector(self, *outputs: str) -> Vector:
        made = self.builder.vector("net", "ADD", outputs)
        inputs = made.examples[0].inputs
        return replace(made, examples=(Example(inputs, oracles.evaluate(made.main, inputs)),))


def difference_of_sums(kind: OperandType = FLOAT32) -> Vector:
    """a + b, then the comparison of the sum with c: equal, nearly equal, and far apart."""
    net = Net()
    a, b, c = net.given(kind, 1, 1, 1), net.given(kind, 0.1, 0.1, 0.1), net.given(kind, 1.1, 1.1000001, 5)
    total = net.add("ADD", a, b, result=VectorOperand(kind), activation=True)
    return net.vector(net.add("GREATER", total, c, result=VectorOperand(BOOL8)), total)


def outputs(vector: Vector) -> dict[str, Array]:
    return {name: array.copy() for name, array in vector.examples[0].outputs.items()}


def test_what_is_expected_is_right() -> None:
    vector = difference_of_sums()
    assert judge(vector, outputs(vector)) == []


def test_a_comparison_of_nearly_equal_values_is_not_decided() -> None:
    vector = difference_of_sums()
    compared = vector.outputs[0]
    found = outputs(vector)
    found[compared][:2] ^= 1
    result = judgement(vector, found)
    assert (result.findings, result.undecided, result.elements) == ([], 2, 6)
    assert decided(vector) == (4, 6)


def test_a_comparison_of_values_far_apart_is_decided() -> None:
    vector = difference_of_sums()
    found = outputs(vector)
    found[vector.outputs[0]][2] ^= 1
    (finding,) = judge(vector, found)
    assert finding.output == vector.outputs[0]
    assert "1 of 3 elements" in finding.message


@pytest.mark.parametrize(("kind", "off"), [(FLOAT32, 1e-3), (FLOAT16, 0.05)])
def test_floats_beyond_the_tolerance_are_wrong(kind: OperandType, off: float) -> None:
    vector = difference_of_sums(kind)
    found = outputs(vector)
    found[vector.outputs[1]][0] += off
    (finding,) = judge(vector, found)
    assert finding.output == vector.outputs[1]


def test_large_values_and_float16_are_compared_where_aosp_looks_away() -> None:
    net = Net()
    a, b = net.given(FLOAT32, 3000, 4), net.given(FLOAT32, 1, 1)
    vector = net.vector(net.add("ADD", a, b, result=VectorOperand(FLOAT32), activation=True))
    found = outputs(vector)
    found[vector.outputs[0]][0] = 3002
    (finding,) = judge(vector, found)
    assert finding.aosp_fails == "no"
    assert "AOSP's own test would fail too: no" in finding.told


def quantized_chain() -> Vector:
    """Two products in quanta: a step of the first is four of the second."""
    net = Net()
    a, b = net.given(QUANT8, 10, 20, 30, scale=0.5), net.given(QUANT8, 4, 4, 4, scale=1.0)
    inner = net.add("MUL", a, b, result=VectorOperand(QUANT8, scale=1.0), activation=True)
    return net.vector(net.add("MUL", inner, b, result=VectorOperand(QUANT8, scale=1.5), activation=True))


def test_steps_of_earlier_operations_count() -> None:
    vector = quantized_chain()
    (name,) = vector.outputs
    for step, findings in ((3, 0), (-3, 0), (9, 1)):
        found = outputs(vector)
        found[name] = (found[name].astype(int) + step).astype("uint8")
        assert len(judge(vector, found)) == findings, step


def test_what_each_round_of_a_loop_may_be_off_by_counts() -> None:
    vector = vectors.load("WHILE", "matrix_3_rounds")
    for off, findings in ((1.2e-4, 0), (-1.2e-4, 0), (1e-2, 1)):
        found = outputs(vector)
        found["scaled"] = found["scaled"].copy()
        found["scaled"].reshape(-1)[0] += off
        assert len(judge(vector, found)) == findings, off


def test_a_single_operation_gets_no_more_than_its_tolerance() -> None:
    net = Net()
    a, b = net.given(QUANT8, 10, 20, scale=0.5), net.given(QUANT8, 4, 4, scale=1.0)
    vector = net.vector(net.add("MUL", a, b, result=VectorOperand(QUANT8, scale=1.0), activation=True))
    (name,) = vector.outputs
    for step, findings in ((1, 0), (3, 1)):
        found = outputs(vector)
        found[name] = found[name] + numpy.uint8(step)
        assert len(judge(vector, found)) == findings


@pytest.mark.parametrize("wrong", [numpy.nan, numpy.inf, -numpy.inf])
def test_what_is_not_finite_is_wrong_where_a_number_is_expected(wrong: float) -> None:
    vector = difference_of_sums()
    found = outputs(vector)
    found[vector.outputs[1]][1] = wrong
    assert len(judge(vector, found)) == 1


def test_shapes_and_types_are_compared_first() -> None:
    vector = difference_of_sums()
    found = outputs(vector)
    found[vector.outputs[1]] = found[vector.outputs[1]][:2]
    (finding,) = judge(vector, found)
    assert finding.message == "expected float32[3], found float32[2]"


def test_one_operation_has_the_class_of_its_own_and_a_graph_that_of_its_size() -> None:
    vector = difference_of_sums()
    first = vector.operations[0]
    alone = [replace(vector, operations=(replace(first, type=name),)) for name in ("GATHER", "ADD", "CONV_2D")]
    assert [criterion(one) for one in alone] == [STRICT, MEDIUM, CONVOLUTION]
    assert criterion(vector) is SMALL_GRAPH
    assert criterion(replace(vector, operations=(first,) * 6)) is LARGE_GRAPH


def test_aosp_tolerates_a_tenth_of_the_booleans() -> None:
    vector = difference_of_sums()
    found = outputs(vector)
    found[vector.outputs[0]][2] ^= 1
    assert aosp_verdict(vector, vector.outputs[0], found[vector.outputs[0]]) == "no"


def test_aosp_looks_at_bias_from_ten_elements_on() -> None:
    net = Net()
    a, b = net.given(FLOAT32, *range(12)), net.given(FLOAT32, *range(12))
    vector = net.vector(net.add("ADD", a, b, result=VectorOperand(FLOAT32), activation=True))
    (name,) = vector.outputs
    slightly = vector.examples[0].outputs[name] + numpy.float32(5e-6)
    assert aosp_verdict(vector, name, slightly) == "yes"


def _cell_near_a_tie(element: int) -> Vector:
    """A quantised LSTM that normalises 0 and element / 128: alike once rounded, or as unlike as can be."""
    inputs, results = quantized_lstm.operands(quantized_lstm.Cell(batch=1, size=1, units=2, norm=True, exponent=-9))
    builder, names = ModelBuilder(Version.V1_3), []
    for name, spec in inputs.items():
        if not isinstance(spec.data, numpy.ndarray):
            names.append(builder.omitted(spec.operand, name))
        elif spec.constant:
            value = spec.data if "norm" in name or "scale" in name else numpy.zeros_like(spec.data)
            names.append(builder.constant(spec.operand, _FIRST_UNIT if name == "input_to_cell" else value, name))
        else:
            value = numpy.full_like(spec.data, element if name == "input" else 0)
            names.append(builder.input(spec.operand, value, name))
    kinds = [replace(spec.operand, dimensions=()) for spec in results.values()]
    made = builder.vector("cell", "QUANTIZED_LSTM", builder.apply("QUANTIZED_LSTM", names, kinds))
    given = made.examples[0].inputs
    return replace(made, examples=(Example(given, oracles.evaluate(made.main, given)),))


def test_a_sum_that_an_lstm_normalises_may_be_rounded_in_two_steps() -> None:
    vector, rounded_up = _cell_near_a_tie(63), outputs(_cell_near_a_tie(64))
    assert max(numpy.abs(array.astype(int)).max() for array in rounded_up.values()) > 1
    assert judge(vector, rounded_up) == []
    wrong = {name: array + array.dtype.type(100) for name, array in rounded_up.items()}
    # The state of the cell has finer units, so that nothing of it is decided.
    hidden, _, output = vector.outputs
    assert {finding.output for finding in judge(vector, wrong)} == {hidden, output}


def test_an_output_beside_one_without_a_result_is_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    """The logarithm of what may be less than 0 has none; the sum and what else is made of it do."""
    net = Net()
    a, b = net.given(FLOAT32, 1, 2), net.given(FLOAT32, 3, 4)
    total = net.add("ADD", a, b, result=VectorOperand(FLOAT32), activation=True)
    vector = net.vector(
        net.add("LOG", total, result=VectorOperand(FLOAT32)), net.add("NEG", total, result=VectorOperand(FLOAT32))
    )
    evaluate = oracles.evaluate

    def evaluated(graph: Graph, *rest: Any) -> dict[str, Array]:
        if graph.operations[0].type == "LOG":
            raise ValueError("less than 0")
        return evaluate(graph, *rest)

    monkeypatch.setattr(oracles, "evaluate", evaluated)
    assert decided(vector) == (2, 4)
