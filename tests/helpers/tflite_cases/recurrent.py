"""Operators with variable tensors."""

from __future__ import annotations

from tflite_files import NONE, Graph

from tflite_cases.common import Make, weights


def recurrent(graph: Graph, name: str) -> int:
    """An RNN or a sequence of them, with 2 units."""
    shape = (2, 3) if name == "RNN" else (2, 4, 3)
    parts = [graph.constant("FLOAT32", weights(*size)) for size in ((2, 3), (2, 2), (2,))]
    state = graph.tensor("FLOAT32", (2, 2), variable=True)
    kind = "RNN" if name == "RNN" else "SequenceRNN"
    given = graph.input("FLOAT32", shape)
    result = ("FLOAT32", (*shape[:-1], 2))
    return graph.operator(name, [given, *parts, state], result, kind, fusedActivationFunction=4)


def lstm(graph: Graph, name: str) -> int:
    """An LSTM of 2 units without peepholes, projection and layer normalisation."""
    shape = (2, 3) if name == "LSTM" else (2, 4, 3)
    given = graph.input("FLOAT32", shape)
    weighted = [graph.constant("FLOAT32", weights(2, size, seed=9 + i)) for i, size in enumerate([3] * 4 + [2] * 4)]
    biases = [graph.constant("FLOAT32", weights(2, seed=20 + i)) for i in range(4)]
    states = [graph.tensor("FLOAT32", (2, 2), variable=True) for _ in range(2)]
    inputs = [given, *weighted, *[NONE] * 3, *biases, NONE, NONE, *states, *[NONE] * 4]
    options = {"fusedActivationFunction": 4, "cellClip": 0.9, "projClip": 0.0}
    kind = "LSTM" if name == "LSTM" else "UnidirectionalSequenceLSTM"
    return graph.operator(name, inputs, ("FLOAT32", (*shape[:-1], 2)), kind, **options)


def svdf(graph: Graph) -> int:
    parts = [graph.constant("FLOAT32", weights(*size)) for size in ((4, 3), (4, 5), (2,))]
    state = graph.tensor("FLOAT32", (2, 20), variable=True)
    given = [graph.input("FLOAT32", (2, 3)), *parts, state]
    return graph.operator("SVDF", given, ("FLOAT32", (2, 2)), "SVDF", rank=2, fusedActivationFunction=1)


def bidirectional_rnn(graph: Graph, merges: bool) -> list[int]:
    """With 2 units in each direction."""
    halves = []
    for seed in (7, 17):
        parts = [graph.constant("FLOAT32", weights(*size, seed=seed)) for size in ((2, 3), (2, 2), (2,))]
        halves += [*parts, graph.tensor("FLOAT32", (2, 2), variable=True)]
    outputs = [graph.tensor("FLOAT32", (2, 4, 4 if merges else 2)) for _ in range(1 if merges else 2)]
    inputs = [graph.input("FLOAT32", (2, 4, 3)), *halves, NONE, NONE, NONE]
    options = {"fusedActivationFunction": 4, "mergeOutputs": merges}
    graph.apply("BIDIRECTIONAL_SEQUENCE_RNN", inputs, outputs, "BidirectionalSequenceRNN", **options)
    return outputs


def bidirectional_lstm(graph: Graph) -> list[int]:
    """With 2 units in each direction, whose outputs are apart."""
    given, halves = graph.input("FLOAT32", (2, 4, 3)), []
    for seed in (7, 47):
        sizes = enumerate([3] * 4 + [2] * 4)
        weighted = [graph.constant("FLOAT32", weights(2, size, seed=seed + i)) for i, size in sizes]
        biases = [graph.constant("FLOAT32", weights(2, seed=seed + 20 + i)) for i in range(4)]
        halves += [*weighted, *[NONE] * 3, *biases, NONE, NONE]
    states = [graph.tensor("FLOAT32", (2, 2), variable=True) for _ in range(4)]
    outputs = [graph.tensor("FLOAT32", (2, 4, 2)) for _ in range(2)]
    options = {"fusedActivationFunction": 4, "cellClip": 0.0, "projClip": 0.0, "timeMajor": False}
    inputs = [given, *halves, *states, *[NONE] * 9]
    graph.apply("BIDIRECTIONAL_SEQUENCE_LSTM", inputs, outputs, "BidirectionalSequenceLSTM", **options)
    return outputs


STATEFUL: dict[str, Make] = {
    "BIDIRECTIONAL_SEQUENCE_RNN": lambda graph: bidirectional_rnn(graph, merges=False),
    "BIDIRECTIONAL_SEQUENCE_RNN.merged": lambda graph: bidirectional_rnn(graph, merges=True),
    "BIDIRECTIONAL_SEQUENCE_LSTM": bidirectional_lstm,
    "RNN": lambda graph: recurrent(graph, "RNN"),
    "UNIDIRECTIONAL_SEQUENCE_RNN": lambda graph: recurrent(graph, "UNIDIRECTIONAL_SEQUENCE_RNN"),
    "LSTM": lambda graph: lstm(graph, "LSTM"),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": lambda graph: lstm(graph, "UNIDIRECTIONAL_SEQUENCE_LSTM"),
    "SVDF": svdf,
}
