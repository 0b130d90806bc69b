"""Recipes of recurrent operations; a cell's operands are those of the generators."""

from typing import Any

from npu_conformance.corpus.generators import _lstm, bidirectional_sequence_lstm, quantized_lstm
from npu_conformance.corpus.generators import lstm as lstm_generator
from npu_conformance.corpus.generators import unidirectional_sequence_lstm as sequence_lstm
from npu_conformance.corpus.generators.operands import OperandSpec, boolean, int32, omitted
from npu_conformance.corpus.strategies.calls import Arguments, Call, Recipe
from npu_conformance.specs.versions import Version

_ACTIVATIONS = tuple(_lstm.ACTIVATIONS)
_CLIPS = ((0.0, 0.0), (0.5, 0.0), (0.75, 0.25))
_NORMS_FROM = 27
"""Inputs of an LSTM with layer normalisation."""


def _cell(call: Call, *, norms: bool = True) -> _lstm.Cell:
    kind = "float16" if call.form.types["T"] == "TENSOR_FLOAT16" else "float32"
    output = call.between(1, 3) if call.flag() else None
    return _lstm.Cell(
        kind,
        call.decisions.below(1000),
        batch=call.between(1, 3),
        size=call.size(),
        units=call.size(2),
        output=output,
        coupled=call.flag(),
        peepholes=call.flag(),
        projection_bias=output is not None and call.flag(),
        norm=norms and call.flag(),
    )


def _lstm_call(call: Call) -> Arguments:
    with_norms = call.count == _NORMS_FROM
    cell = _cell(call, norms=with_norms)
    activation, clips = call.decisions.pick(_ACTIVATIONS), call.decisions.pick(_CLIPS)
    return lstm_generator.operands(cell, activation, clips, norms=with_norms)[0]


def _run(call: Call) -> dict[str, Any]:
    return {
        "time": call.size(),
        "time_major": call.flag(),
        "activation": call.decisions.pick(_ACTIVATIONS),
        "clips": call.decisions.pick(_CLIPS),
    }


def _sequence_lstm(call: Call) -> Arguments:
    states = call.version >= Version.V1_3 and call.flag()
    call.result_count = 3 if states else 1
    return sequence_lstm.operands(_cell(call), sequence_lstm.Sequence(states=states, **_run(call)))[0]


def _bidirectional_lstm(call: Call) -> Arguments:
    states, merge = call.version >= Version.V1_3 and call.flag(), call.flag()
    call.result_count = (1 if merge else 2) + (4 if states else 0)
    cell = _cell(call)
    fewer = call.decisions.below(2) if cell.output != 1 else 0
    link = call.decisions.pick(("", "parallel", "cross"))
    run = bidirectional_sequence_lstm.Run(link, merge, states=states, fewer=fewer, **_run(call))
    return bidirectional_sequence_lstm.operands(cell, run)[0]


def _quantized_lstm(call: Call) -> Arguments:
    norm = call.flag()
    cell = quantized_lstm.Cell(
        call.decisions.below(1000),
        batch=call.between(1, 3),
        size=call.size(),
        units=call.size(2),
        output=call.between(1, 3) if call.flag() else None,
        coupled=call.flag(),
        norm=norm,
        exponent=-9 if norm else -11,
    )
    inputs, outputs = quantized_lstm.operands(cell)
    call.results.update({name: (spec.operand.scale, spec.operand.zero_point) for name, spec in outputs.items()})
    names = (argument.name for argument in call.form.signature.inputs)
    return dict(zip(names, inputs.values(), strict=True))


def _weights(call: Call, prefix: str, size: int, units: int) -> dict[str, OperandSpec]:
    shapes = {"weights": (units, size), "recurrent_weights": (units, units), "bias": (units,)}
    return {prefix + name: call.tensor(prefix + name, shape, constant=True) for name, shape in shapes.items()}


def _rnn(call: Call) -> Arguments:
    batch, size, units = call.size(), call.size(), call.size()
    return {
        "input": call.tensor("input", (batch, size)),
        **_weights(call, "", size, units),
        "hidden_state_in": call.tensor("hidden_state_in", (batch, units)),
        "activation": _bounded(call),
    }


def _bounded(call: Call) -> OperandSpec:
    """An activation that keeps states small, whatever the weights."""
    return int32(call.decisions.pick((3, 4, 6)))


def _sequence_rnn(call: Call) -> Arguments:
    batch, time, size, units, major = call.size(), call.size(), call.size(), call.size(), call.flag()
    call.result_count = 2 if call.version >= Version.V1_3 and call.flag() else 1
    return {
        "input": call.tensor("input", (time, batch, size) if major else (batch, time, size)),
        **_weights(call, "", size, units),
        "hidden_state": call.tensor("hidden_state", (batch, units)),
        "activation": _bounded(call),
        "time_major": int32(int(major)),
    }


def _bidirectional_rnn(call: Call) -> Arguments:
    batch, time, size, major, merge = call.size(), call.size(), call.size(), call.flag(), call.flag()
    units = {"fw_": call.size(), "bw_": call.size()}
    states = call.version >= Version.V1_3 and call.flag()
    call.result_count = (1 if merge else 2) + (2 if states else 0)
    shape = (time, batch, size) if major else (batch, time, size)
    found: dict[str, OperandSpec] = {
        "input": call.tensor("input", shape),
        "aux_input": omitted(call.kind("input"), shape),
    }
    for prefix, count in units.items():
        found |= _weights(call, prefix, size, count)
        found[f"{prefix}hidden_state"] = call.tensor(f"{prefix}hidden_state", (batch, count))
        found[f"{prefix}aux_weights"] = omitted(call.kind("input"), (count, size))
    link = call.decisions.pick(("", "parallel", "cross"))
    if link:
        found["aux_input"] = call.tensor("aux_input", shape)
    if link == "cross":
        for prefix, count in units.items():
            found[f"{prefix}aux_weights"] = call.tensor(f"{prefix}aux_weights", (count, size), constant=True)
    return {
        **found,
        "activation": _bounded(call),
        "time_major": boolean(major),
        "merge_outputs": boolean(merge),
    }


def _svdf(call: Call) -> Arguments:
    batch, size, memory, rank, units = call.size(), call.size(), call.size(), call.between(1, 2), call.size()
    filters = rank * units
    return {
        "input": call.tensor("input", (batch, size)),
        "feature_weights": call.tensor("feature_weights", (filters, size), constant=True),
        "time_weights": call.tensor("time_weights", (filters, memory), constant=True),
        "bias": call.tensor("bias", (units,), constant=True) if call.flag() else omitted(call.kind("bias"), (units,)),
        "state_in": call.tensor("state_in", (batch, memory * filters)),
        "rank": int32(rank),
    }


RECIPES: dict[str, Recipe] = {
    "LSTM": _lstm_call,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _sequence_lstm,
    "BIDIRECTIONAL_SEQUENCE_LSTM": _bidirectional_lstm,
    "QUANTIZED_LSTM": _quantized_lstm,
    "RNN": _rnn,
    "UNIDIRECTIONAL_SEQUENCE_RNN": _sequence_rnn,
    "BIDIRECTIONAL_SEQUENCE_RNN": _bidirectional_rnn,
    "SVDF": _svdf,
}
