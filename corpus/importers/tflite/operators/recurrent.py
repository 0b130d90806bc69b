"""SVDF, RNN, LSTM and the sequences of them: their variable tensors become inputs and outputs of the model.

LiteRT's operators take the operands in NNAPI's order, where the states are inputs, and outputs behind the results.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from npu_conformance.corpus.importers.tflite.errors import Unsupported
from npu_conformance.corpus.importers.tflite.step import FUSED_IN_NNAPI, Step
from npu_conformance.corpus.vectors import VectorOperand

_CELL_ACTIVATIONS = (0, 1, 3, 4)
"""Activation codes of cells that mean the same to both: NONE, RELU, RELU6, TANH."""


def svdf(step: Step) -> None:
    """SVDF. Its state lies moved on by one step in NNAPI, which is the same where both begin with zeros."""
    state = step.state(4)
    code = step.activation()
    if code not in FUSED_IN_NNAPI:
        raise Unsupported("NNAPI's SVDF has no fused TANH")
    parameters = [step.int32(step.operator.option("Rank")), step.int32(code)]
    after, output = step.translation.emit(
        "SVDF", [*_optional(step, range(4)), state, *parameters], [step.state_operand(4), step.result()]
    )
    step.translation.bind(step.output(), output)
    step.keep(state, after)


def rnn(step: Step) -> None:
    """RNN."""
    state = step.state(4)
    arguments = [*_optional(step, range(4)), state, step.int32(_cell_activation(step))]
    after, output = step.translation.emit("RNN", arguments, [step.state_operand(4), step.result()])
    step.translation.bind(step.output(), output)
    step.keep(state, after)


def unidirectional_sequence_rnn(step: Step) -> None:
    """UNIDIRECTIONAL_SEQUENCE_RNN."""
    state, is_major = step.state(4), bool(step.operator.option("TimeMajor"))
    arguments = [*_optional(step, range(4)), state, step.int32(_cell_activation(step)), step.int32(is_major)]
    _sequence(step, "UNIDIRECTIONAL_SEQUENCE_RNN", arguments, [(4, state)])


def bidirectional_sequence_rnn(step: Step) -> None:
    """BIDIRECTIONAL_SEQUENCE_RNN."""
    forward, backward = step.state(4), step.state(8)
    inputs = [*_optional(step, range(4)), forward, *_optional(step, range(5, 8)), backward]
    option = step.operator.option
    flags = [step.boolean(option(name)) for name in ("TimeMajor", "MergeOutputs")]
    arguments = [*inputs, *_optional(step, range(9, 12)), step.int32(_cell_activation(step)), *flags]
    _sequence(step, "BIDIRECTIONAL_SEQUENCE_RNN", arguments, [(4, forward), (8, backward)])


def lstm(step: Step) -> None:
    """LSTM with a full kernel, whose scratch buffer nobody reads."""
    if step.operator.option("KernelType"):
        raise Unsupported("NNAPI has no basic kernel of floats, and quantised ones with other operands")
    states = [step.state(position) for position in (18, 19)]
    arguments = [*_optional(step, range(18)), *states, *_clips(step), *_layer_norms(step, required=False)]
    cell = step.state_operand(19)
    if len(cell.dimensions) != 2:
        raise Unsupported(f"its cell state has {len(cell.dimensions)} axes, where batch and units are expected")
    batch, units = cell.dimensions
    scratch = replace(cell, dimensions=(batch, units * (4 if step.has(1) else 3)))
    results = [scratch, step.state_operand(18), cell, step.result()]
    _, output_state, cell_state, output = step.translation.emit("LSTM", arguments, results)
    step.translation.bind(step.output(), output)
    step.keep(states[0], output_state)
    step.keep(states[1], cell_state)


def unidirectional_sequence_lstm(step: Step) -> None:
    """UNIDIRECTIONAL_SEQUENCE_LSTM."""
    states = [step.state(position) for position in (18, 19)]
    arguments = [*_optional(step, range(18)), *states, *_clips(step), step.boolean(step.operator.option("TimeMajor"))]
    arguments += _layer_norms(step, required=True)
    _sequence(step, "UNIDIRECTIONAL_SEQUENCE_LSTM", arguments, list(zip((18, 19), states, strict=True)))


def bidirectional_sequence_lstm(step: Step) -> None:
    """BIDIRECTIONAL_SEQUENCE_LSTM, which LiteRT has without layer normalisation."""
    states = [step.state(position) for position in range(35, 39)]
    option = step.operator.option
    flags = [step.boolean(option(name)) for name in ("MergeOutputs", "TimeMajor")]
    norms = [_absent(step) for _ in range(8)]
    arguments = [*_optional(step, range(35)), *states, *_optional(step, range(39, 48)), *_clips(step), *flags, *norms]
    _sequence(step, "BIDIRECTIONAL_SEQUENCE_LSTM", arguments, list(zip(range(35, 39), states, strict=True)))


def _sequence(step: Step, operation: str, arguments: list[str], states: list[tuple[int, str]]) -> None:
    """An operation whose outputs are the operator's, and behind them its states."""
    count = len(step.operator.outputs)
    results = [step.result(position) for position in range(count)]
    results += [step.state_operand(position) for position, _ in states]
    names = step.translation.emit(operation, arguments, results)
    for position, name in enumerate(names[:count]):
        step.translation.bind(step.output(position), name)
    for (_, before), after in zip(states, names[count:], strict=True):
        step.keep(before, after)


def _cell_activation(step: Step) -> int:
    code: int = step.operator.option("FusedActivationFunction")
    if code not in _CELL_ACTIVATIONS:
        raise Unsupported(f"NNAPI has no cell with the activation {code}")
    return code


def _clips(step: Step) -> list[str]:
    option, operand = step.operator.option, step.operand(0)
    clips = [step.real(option(name), operand) for name in ("CellClip", "ProjClip")]
    return [step.int32(_cell_activation(step)), *clips]


def _layer_norms(step: Step, *, required: bool) -> list[str]:
    if not required and not any(step.has(position) for position in range(20, 24)):
        return []
    return _optional(step, range(20, 24))


def _optional(step: Step, positions: Iterable[int]) -> list[str]:
    return [step.name(position) if step.has(position) else _absent(step) for position in positions]


def _absent(step: Step) -> str:
    return step.omitted(VectorOperand(step.operand(0).type, (0,)))
