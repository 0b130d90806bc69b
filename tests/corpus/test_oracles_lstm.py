"""Oracles of the LSTM operations where the result is known without them."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest

from npu_conformance.corpus import oracles, vectors
from npu_conformance.corpus.oracles._lstm import Cell, Gate, Parameters, sigmoid
from npu_conformance.corpus.oracles.base import OracleOperand
from npu_conformance.reference.device.registry import kernel
from npu_conformance.reference.device.tensors import OutputInfo, Tensor
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType

FLOATS = {"LSTM": ("cell_state_in", 1), "UNIDIRECTIONAL_SEQUENCE_LSTM": ("cell_state_in", 2)}
QUANT8, INT32, CELL = OperandType.TENSOR_QUANT8_ASYMM, OperandType.TENSOR_INT32, OperandType.TENSOR_QUANT16_SYMM
AOSP_SCALE, AOSP_POINT = 0.00408021, 100
AOSP_INPUT_WEIGHTS = (
    [[146, 250], [235, 171], [10, 218], [171, 108]],
    [[24, 50], [132, 179], [158, 110], [3, 169]],
    [[133, 34], [29, 49], [206, 109], [54, 183]],
    [[195, 187], [11, 99], [109, 10], [218, 48]],
)
AOSP_RECURRENT_WEIGHTS = (
    [[254, 206, 77, 168], [71, 20, 215, 6], [223, 7, 118, 225], [59, 130, 174, 26]],
    [[137, 240, 103, 52], [68, 51, 237, 112], [0, 220, 89, 23], [69, 4, 207, 253]],
    [[172, 60, 205, 65], [14, 0, 140, 168], [240, 223, 133, 56], [142, 64, 246, 216]],
    [[106, 214, 67, 23], [59, 158, 45, 3], [119, 132, 49, 205], [129, 218, 11, 98]],
)
AOSP_BIASES = (
    [-7876, 13488, -726, 32839],
    [9206, -46884, -11693, -38724],
    [39481, 48624, 48976, -21419],
    [-58999, -17050, -41852, -40538],
)


@pytest.mark.parametrize("operation", FLOATS)
def test_without_weights_each_step_halves_the_cell_state(operation: str) -> None:
    name, steps = FLOATS[operation]
    example = vectors.load(operation, "by_hand").examples[0]
    cell = example.inputs[name].astype(numpy.float64) / 2**steps
    assert example.outputs["cell_state_out"].tolist() == cell.tolist()
    output = example.outputs["output"]
    last = output if output.ndim == 2 else output[-1]
    assert last == pytest.approx(numpy.tanh(cell) / 2, abs=1e-7)


def test_a_backward_cell_ends_at_the_beginning() -> None:
    example = vectors.load("BIDIRECTIONAL_SEQUENCE_LSTM", "by_hand").examples[0]
    after = numpy.tanh(example.outputs["bw_cell_state_out"].astype(numpy.float64)) / 2
    assert example.outputs["bw_output"][0] == pytest.approx(after, abs=1e-7)
    assert example.outputs["bw_activation_state_out"] == pytest.approx(after, abs=1e-7)


def test_without_weights_the_quantized_cell_state_halves() -> None:
    example = vectors.load("QUANTIZED_LSTM", "by_hand").examples[0]
    assert (example.outputs["cell_state_out"] * 2 == example.inputs["prev_cell_state"]).all()
    assert example.outputs["output"][0].tolist() == [62, -30]


def test_the_16_bit_cell_by_hand() -> None:
    """The vector's description has the arithmetic: an input that meets a recurrent column, h1 the input column."""
    outputs = vectors.load("QUANTIZED_16BIT_LSTM", "by_hand").examples[0].outputs
    assert outputs["cell_state_out"].tolist() == [[1497, -2521]]
    assert outputs["output"].tolist() == [[168, 74]]


def test_the_oracle_of_the_16_bit_cell_agrees_with_aosp() -> None:
    operands = [
        OracleOperand(kind, array.shape, scale, point, array=array)
        for kind, array, scale, point in aosp_16_bit_inputs()
    ]
    results = [OracleOperand(CELL, (2, 4), 1 / 2048), OracleOperand(QUANT8, (2, 4), 1 / 128, 128)]
    cell, output = oracles.oracle("QUANTIZED_16BIT_LSTM")(operands, results)
    assert_as_aosp(cell.raw, output.raw)


def test_the_kernel_of_the_16_bit_cell_agrees_with_aosp() -> None:
    tensors = [Tensor(kind, array, scale, point) for kind, array, scale, point in aosp_16_bit_inputs()]
    results = [OutputInfo(CELL, (2, 4), 1 / 2048), OutputInfo(QUANT8, (2, 4), 1 / 128, 128)]
    cell, output = kernel(OperationType.QUANTIZED_16BIT_LSTM)(tensors, results)
    assert_as_aosp(cell.ravel(), output.ravel())


def aosp_16_bit_inputs() -> list[tuple[OperandType, Any, float, int]]:
    """Type, elements, scale and zero point of the inputs of AOSP's V1_2/quantized_lstm.mod.py."""
    weights = [
        (QUANT8, numpy.array(one, numpy.uint8), AOSP_SCALE, AOSP_POINT)
        for one in (*AOSP_INPUT_WEIGHTS, *AOSP_RECURRENT_WEIGHTS)
    ]
    biases = [(INT32, numpy.array(one, numpy.int32), AOSP_SCALE / 128, 0) for one in AOSP_BIASES]
    cell = numpy.array([[876, 1034, 955, -909], [761, 1029, 796, -1036]], numpy.int16)
    output = numpy.array([[136, 150, 140, 115], [135, 152, 138, 112]], numpy.uint8)
    source = numpy.array([[166, 179], [50, 150]], numpy.uint8)
    states = [(CELL, cell, 1 / 2048, 0), (QUANT8, output, 1 / 128, 128)]
    return [(QUANT8, source, 1 / 128, 128), *weights, *biases, *states]


def assert_as_aosp(cell: Any, output: Any) -> None:
    """AOSP's expected values, within the unit by which its fixed-point curves differ from real ones."""
    assert list(cell) == pytest.approx([1485, 1177, 1373, -1023, 1019, 1355, 1097, -1235], abs=1)
    assert list(output) == pytest.approx([140, 151, 146, 112, 136, 156, 142, 112], abs=1)


def test_one_unit_by_hand() -> None:
    """forget and output gate see the bias alone, the candidate 3 x; a coupled input gate lets in the rest."""

    def gate(weight: float, peephole: float | None, bias: float) -> Gate:
        return Gate([[weight]], [[0.0]], None, None if peephole is None else [peephole], None, [bias])

    cell = Cell([None, gate(0, 0.0, 1.0), gate(3, None, 0.0), gate(0, 2.0, 0.0)], None, None, Parameters(0, 5.0, 0.0))
    (h,), (c,) = cell.step([2.0], [], [0.0], [10.0])
    assert c == 5.0  # 10 * sigmoid(1) + 6 * sigmoid(-1) is 8.9, which is clipped.
    assert h == pytest.approx(sigmoid(10.0) * 5.0)


def test_normalised_values_have_no_mean_and_unit_variance_before_the_bias() -> None:
    gate = Gate([[1.0], [2.0], [6.0]], [[0.0]] * 3, None, None, [1.0] * 3, [10.0] * 3)
    values = [value - 10 for value in gate.values([1.0], [], [0.0], [0.0] * 3)]
    assert sum(values) == pytest.approx(0)
    assert math.fsum(value**2 for value in values) == pytest.approx(3)
