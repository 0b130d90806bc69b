"""Oracles of the LSTM operations where the result is known without them."""

from __future__ import annotations

import math

import numpy
import pytest

from npu_conformance.specs import vectors
from npu_conformance.specs.oracles._lstm import Cell, Gate, Parameters, sigmoid

FLOATS = {"LSTM": ("cell_state_in", 1), "UNIDIRECTIONAL_SEQUENCE_LSTM": ("cell_state_in", 2)}


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
