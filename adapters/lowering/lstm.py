"""LSTM, UNIDIRECTIONAL_SEQUENCE_LSTM, BIDIRECTIONAL_SEQUENCE_LSTM.

LiteRT's operators take the operands in NNAPI's order, but keep the states in variable tensors that they write over:
each run copies the states that NNAPI gives into them before, and reads the new ones out of them after.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from npu_conformance.adapters.litert_runtime import schema
from npu_conformance.adapters.lowering.context import Step
from npu_conformance.adapters.lowering.operands import LoweringError, graph_dtype
from npu_conformance.specs.neuralnetworks.enums import OperationType
from npu_conformance.specs.neuralnetworks.types import Operation

OMITTED = -1
"""Stands for the number of a tensor that is left out."""

_ACTIVATIONS = {1: "RELU", 3: "RELU6", 4: "TANH"}
"""The activations by NNAPI's codes.

LiteRT's operators have no SIGMOID, and with NONE they take the candidate for the cell state.
"""

_STATES = (18, 19)
_STATES_OUT = {
    OperationType.LSTM: (1, 2),
    OperationType.UNIDIRECTIONAL_SEQUENCE_LSTM: (1, 2),
    OperationType.BIDIRECTIONAL_SEQUENCE_LSTM: (-4, -3, -2, -1),
}
_LEAST_OUTPUTS = 3
"""The fewest outputs of an operation that gives its states."""


def states_of(operation: Operation) -> set[int]:
    """The operands into which an operation writes the states that a cell leaves; none for other operations."""
    outputs = operation.outputs if len(operation.outputs) >= _LEAST_OUTPUTS else ()
    return {outputs[position] for position in _STATES_OUT.get(operation.type, ()) if outputs}  # type: ignore[call-overload]


def lstm(step: Step) -> None:
    """LSTM. The scratch buffer, which no one may look into, is a constant."""
    states = _states(step, _STATES)
    inputs = [*_optional(step, range(18)), *states, *_optional(step, range(23, 27))]
    output = step.output(3)
    step.graph.emit("LSTM", inputs, output, "LSTM", **_settings(step, 20))
    gates = 3 if step.is_omitted(1) else 4
    batch, units = step.dimensions(19)
    step.bind(step.graph.constant(np.zeros((batch, gates * units), graph_dtype(step.result()))))
    for position, state in enumerate(states, 1):
        step.bind(state, position)


def unidirectional_sequence_lstm(step: Step) -> None:
    """UNIDIRECTIONAL_SEQUENCE_LSTM."""
    states = _states(step, _STATES)
    inputs = [*_optional(step, range(18)), *states, *_optional(step, range(24, 28))]
    settings = _settings(step, 20) | {"timeMajor": bool(step.scalar(23))}
    step.graph.emit("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, step.output(), "UnidirectionalSequenceLSTM", **settings)
    for position, state in list(enumerate(states, 1))[: step.output_count - 1]:
        step.bind(state, position)


def bidirectional_sequence_lstm(step: Step) -> None:
    """BIDIRECTIONAL_SEQUENCE_LSTM, which LiteRT has without layer normalisation.

    The outputs are merged here: where LiteRT merges them and the batch comes first, it takes the merged length for that
    of the output state, and so reads the states of all samples but the first from elsewhere.
    """
    if any(not step.is_omitted(position) for position in range(53, 61)):
        raise LoweringError("LiteRT normalises no layer of a bidirectional LSTM")
    states = _states(step, range(35, 39))
    inputs = [*_optional(step, range(35)), *states, *_optional(step, range(39, 48))]
    settings = _settings(step, 48) | {"mergeOutputs": False, "timeMajor": bool(step.scalar(52))}
    outputs = [step.like(step.tensor(0)) for _ in range(2)]
    step.graph.emit("BIDIRECTIONAL_SEQUENCE_LSTM", inputs, outputs, "BidirectionalSequenceLSTM", **settings)
    if step.scalar(51):
        merged = step.output()
        step.graph.emit("CONCATENATION", outputs, merged, "Concatenation", axis=2)
        outputs = [merged]
    for position, number in enumerate((outputs + states)[: step.output_count]):
        step.bind(number, position)


def _settings(step: Step, first: int) -> dict[str, Any]:
    code = step.scalar(first)
    if code not in _ACTIVATIONS:
        raise LoweringError(f"activation {code}, which LiteRT's cells do not have")
    activation = getattr(schema().ActivationFunctionType, _ACTIVATIONS[code])
    clips = float(step.scalar(first + 1)), float(step.scalar(first + 2))
    return {"fusedActivationFunction": activation, "cellClip": clips[0], "projClip": clips[1]}


def _optional(step: Step, positions: Iterable[int]) -> list[int]:
    return [OMITTED if step.is_omitted(position) else step.tensor(position) for position in positions]


def _states(step: Step, positions: Iterable[int]) -> list[int]:
    """Make variable tensors into which each run copies the states it starts with."""
    return [_variable(step, position) for position in positions]


def _variable(step: Step, position: int) -> int:
    """Make one of these. MAXIMUM copies: LiteRT would run an operator of constants only in the first run."""
    given = step.tensor(position)
    variable = step.graph.add(replace(step.kind(given), variable=True))
    step.graph.emit("MAXIMUM", [given, given], variable, "MaximumMinimum")
    return variable
