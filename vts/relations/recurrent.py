"""Recurrent operations and control flow, written out step by step.

Weights and inputs are multiples of 1/2 in [-1, 1], so that what an activation gets is exact; behind it the errors of
one step go into the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy

from npu_conformance.corpus.vectors import Graph
from npu_conformance.vts.lib.relations.declare import RelationGroup
from npu_conformance.vts.lib.relations.fixture import Lab
from npu_conformance.vts.lib.relations.nets import BOOL8, FLOATS, INT32, WITH_INTEGERS, Net, Tensor, like
from npu_conformance.vts.lib.relations.product_operands import bias, weights

cases = RelationGroup()
_BATCH, _SIZE, _UNITS = 3, 19, 13
_TANH = 4
_GATES = ("input", "forget", "cell", "output")


def _zeros(lab: Lab, *shape: int) -> Tensor:
    return lab.full(0.0, *shape)


def _connected(net: Net, given: str, matrix: Tensor, offsets: Tensor) -> str:
    return net.apply("FULLY_CONNECTED", given, matrix, offsets, 0)


@cases.relation("without_recurrence", "RNN FULLY_CONNECTED TANH", FLOATS)
def rnn(lab: Lab) -> None:
    """Without recurrent weights it is an activated FULLY_CONNECTED, whatever the state."""
    net, matrix, offsets = lab.net(), weights(lab, _UNITS, _SIZE), bias(lab, _UNITS)
    name, state = net.input(lab.steps(_BATCH, _SIZE)), net.input(lab.steps(_BATCH, _UNITS))
    arguments = [name, matrix, _zeros(lab, _UNITS, _UNITS), offsets, state, _TANH]
    hidden, output = net.results("RNN", arguments, [like(lab.kind)] * 2)
    expanded = net.apply("TANH", _connected(net, name, matrix, offsets))
    found = lab.run(net, hidden, output, expanded)
    lab.agree("output", [found[1], found[2]], roundings=3, magnitude=20)
    lab.agree("state", [found[0], found[2]], roundings=3, magnitude=20)


@cases.relation("steps", "UNIDIRECTIONAL_SEQUENCE_RNN RNN", FLOATS)
def sequence_rnn(lab: Lab) -> None:
    """A sequence is one step after the other."""
    net, own = lab.net(), [weights(lab, _UNITS, _SIZE), weights(lab, _UNITS, _UNITS), bias(lab, _UNITS)]
    steps, state = lab.steps(3, _BATCH, _SIZE), net.input(lab.steps(_BATCH, _UNITS))
    whole = net.apply("UNIDIRECTIONAL_SEQUENCE_RNN", net.input(steps), *own, state, 6, 1)
    outputs = []
    for step in steps.array:
        state, output = net.results("RNN", [net.input(steps.of(step)), *own, state, 6], [like(lab.kind)] * 2)
        outputs.append(output)
    found, *expected = lab.run(net, whole, *outputs)
    # A sigmoid passes a quarter of what 13 weights of 1 at most make of the error of the step before.
    lab.agree("steps", [found, numpy.stack(expected)], roundings=2 * (1 + 3.25 + 3.25**2), magnitude=1)


@cases.relation("forward_half", "BIDIRECTIONAL_SEQUENCE_RNN UNIDIRECTIONAL_SEQUENCE_RNN REVERSE", FLOATS)
def bidirectional_rnn(lab: Lab) -> None:
    """One cell runs forward; the other one is a cell that runs forward over the reversed sequence."""
    cells = [[weights(lab, _UNITS, _SIZE), weights(lab, _UNITS, _UNITS), bias(lab, _UNITS)] for _ in range(2)]
    states, given = [lab.steps(_BATCH, _UNITS) for _ in range(2)], lab.steps(_BATCH, 4, _SIZE)
    net, kind = lab.net(), like(lab.kind)
    name, (first, second) = net.input(given), [net.input(state) for state in states]
    nothing = [like(lab.kind)] * 3
    arguments = [name, *cells[0], first, *cells[1], second, *nothing, 6, False, False]
    forward, backward = net.results("BIDIRECTIONAL_SEQUENCE_RNN", arguments, [kind, kind])
    single = net.apply("UNIDIRECTIONAL_SEQUENCE_RNN", name, *cells[0], first, 6, 0)
    turned = net.input(given.of(given.array[:, ::-1]))
    reverse = net.apply("UNIDIRECTIONAL_SEQUENCE_RNN", turned, *cells[1], second, 6, 0)
    found = lab.run(net, forward, single, backward, reverse)
    many = 2 * (1 + 3.25 + 3.25**2 + 3.25**3)
    lab.agree("forward", [found[0], found[1]], roundings=many, magnitude=1)
    lab.agree("backward", [found[2], found[3][:, ::-1]], roundings=many, magnitude=1)


def _lstm_arguments(lab: Lab, given: Any, own: dict[str, Tensor], states: Sequence[Any]) -> list[Any]:
    """The 23 inputs of an LSTM without peepholes, projection and recurrent weights."""
    row, matrix = (replace(like(lab.kind), dimensions=shape) for shape in ((_UNITS,), (_UNITS, _UNITS)))
    arguments: list[Any] = [given, *(own[gate] for gate in _GATES), *[_zeros(lab, _UNITS, _UNITS)] * 4]
    arguments += [row] * 3 + [own[f"{gate}_bias"] for gate in _GATES] + [matrix, row]
    return [*arguments, *states, _TANH, 0.0, 0.0]


def _lstm_cell(lab: Lab) -> dict[str, Tensor]:
    own = {gate: weights(lab, _UNITS, _SIZE) for gate in _GATES}
    return own | {f"{gate}_bias": bias(lab, _UNITS) for gate in _GATES}


@cases.relation("without_recurrence", "LSTM FULLY_CONNECTED LOGISTIC TANH MUL ADD", FLOATS)
def lstm(lab: Lab) -> None:
    """Without recurrent weights: gates are LOGISTIC(FULLY_CONNECTED), and the cell is what they let through."""
    net, own, kind = lab.net(), _lstm_cell(lab), like(lab.kind)
    name = net.input(lab.steps(_BATCH, _SIZE))
    state, cell = (net.input(lab.steps(_BATCH, _UNITS)) for _ in range(2))
    results = net.results("LSTM", _lstm_arguments(lab, name, own, [state, cell]), [kind] * 4)
    sums = {gate: _connected(net, name, own[gate], own[f"{gate}_bias"]) for gate in _GATES}
    gates = {gate: net.apply("TANH" if gate == "cell" else "LOGISTIC", sums[gate]) for gate in _GATES}
    kept, new = net.apply("MUL", gates["forget"], cell, 0), net.apply("MUL", gates["input"], gates["cell"], 0)
    next_cell = net.apply("ADD", kept, new, 0)
    output = net.apply("MUL", gates["output"], net.apply("TANH", next_cell), 0)
    found = lab.run(net, *results[1:], next_cell, output)
    lab.agree("cell state", [found[1], found[3]], roundings=8, magnitude=2)
    lab.agree("output", [found[2], found[4]], roundings=11, magnitude=2)
    lab.agree("output state", [found[0], found[4]], roundings=11, magnitude=2)


@cases.relation("steps", "UNIDIRECTIONAL_SEQUENCE_LSTM LSTM", FLOATS)
def sequence_lstm(lab: Lab) -> None:
    """Without recurrent weights the outputs of a sequence are those of single steps that pass on the cell."""
    net, own, kind = lab.net(), _lstm_cell(lab), like(lab.kind)
    steps = lab.steps(3, _BATCH, _SIZE)
    states: list[Any] = [net.input(lab.steps(_BATCH, _UNITS)) for _ in range(2)]
    arguments = [*_lstm_arguments(lab, net.input(steps), own, states), True, *[like(lab.kind)] * 4]
    (whole,) = net.results("UNIDIRECTIONAL_SEQUENCE_LSTM", arguments, [kind])
    outputs = []
    for step in steps.array:
        given = net.input(steps.of(step))
        _, *states, output = net.results("LSTM", _lstm_arguments(lab, given, own, states), [kind] * 4)
        outputs.append(output)
    found, *expected = lab.run(net, whole, *outputs)
    # Each step adds the roundings of a cell to those of the step before, which the forget gate makes no larger.
    lab.agree("steps", [found, numpy.stack(expected)], roundings=2 * 3 * 8, magnitude=2)


@cases.relation("forward_half", "BIDIRECTIONAL_SEQUENCE_LSTM UNIDIRECTIONAL_SEQUENCE_LSTM", FLOATS)
def bidirectional_lstm(lab: Lab) -> None:
    """One cell runs forward; the other one is a cell that runs forward over the reversed sequence."""
    net, kind, cells = lab.net(), like(lab.kind), [_lstm_cell(lab), _lstm_cell(lab)]
    given, states = lab.steps(3, _BATCH, _SIZE), [net.input(lab.steps(_BATCH, _UNITS)) for _ in range(4)]
    name, turned = net.input(given), net.input(given.of(given.array[::-1]))
    own = [_lstm_arguments(lab, name, cell, [])[1:18] for cell in cells]
    arguments = [name, *own[0], *own[1], *states, *[kind] * 9, _TANH, 0.0, 0.0, False, True, *[kind] * 8]
    results = net.results("BIDIRECTIONAL_SEQUENCE_LSTM", arguments, [kind] * 2)
    for source, cell, pair in ((name, cells[0], states[:2]), (turned, cells[1], states[2:])):
        single = [*_lstm_arguments(lab, source, cell, pair), True, *[kind] * 4]
        results += net.results("UNIDIRECTIONAL_SEQUENCE_LSTM", single, [kind])
    found = lab.run(net, *results)
    lab.agree("forward", [found[0], found[2]], roundings=2 * 3 * 8, magnitude=2)
    lab.agree("backward", [found[1], found[3][::-1]], roundings=2 * 3 * 8, magnitude=2)


@cases.relation("memory_of_one", "SVDF FULLY_CONNECTED MUL ADD", FLOATS)
def svdf(lab: Lab) -> None:
    """With rank 1 and a memory of one step it is FULLY_CONNECTED, weighted and with a bias."""
    net, features, times = lab.net(), weights(lab, _UNITS, _SIZE), weights(lab, _UNITS, 1)
    offsets, name = bias(lab, _UNITS), net.input(lab.steps(_BATCH, _SIZE))
    state = net.input(lab.steps(_BATCH, _UNITS))
    _, output = net.results("SVDF", [name, features, times, offsets, state, 1, 0], [like(lab.kind)] * 2)
    connected = _connected(net, name, features, _zeros(lab, _UNITS))
    weighted = net.apply("MUL", connected, times.of(times.array.reshape(-1)), 0)
    both = lab.run(net, output, net.apply("ADD", weighted, offsets, 0))
    lab.agree("SVDF", both, roundings=4, magnitude=20)


def _binary(lab: Lab, operation: str, given: Tensor) -> Graph:
    net = lab.net()
    a, b = net.input(given), net.input(given)
    return net.vector(net.apply(operation, a, b, 0)).main


@cases.relation("branch", "IF ADD SUB", WITH_INTEGERS)
def branches(lab: Lab) -> None:
    """A branch that is taken computes what it computes outside."""
    first, second = lab.tensor(23, 17, 9), lab.tensor(23, 17, 9)
    graphs = (_binary(lab, "ADD", first), _binary(lab, "SUB", first))
    for condition, operation in ((1, "ADD"), (0, "SUB")):
        net = lab.net(graphs)
        a, b = net.input(first), net.input(second)
        chosen = net.input(Tensor(lab.tensor(1, kind=BOOL8).operand, numpy.array([condition], numpy.uint8)))
        result = net.operand(a)
        (taken,) = net.results("IF", [chosen, net.reference(0), net.reference(1), a, b], [result])
        outside = net.apply(operation, a, b, 0)
        lab.agree(f"IF {condition}", lab.run(net, taken, outside), roundings=2)


@cases.relation("unrolled", "WHILE ADD LESS", WITH_INTEGERS)
def loops(lab: Lab) -> None:
    """Rounds of a loop are its body as often, one behind the other."""
    rounds, first, second = 3, lab.full(1.0, 5, 19), lab.tensor(5, 19, low=0.0, high=1.0)
    count = lab.integers(1, low=0, high=0)
    condition, body = lab.net(), lab.net()
    for one in (condition, body):
        names = [one.input(tensor) for tensor in (count, first, second)]
    less = condition.apply("LESS", "a0", (rounds,), result=like(BOOL8))
    next_count = body.apply("ADD", names[0], (1,), 0, result=like(INT32))
    graphs = (condition.vector(less).main, body.vector(next_count, body.apply("ADD", names[1], names[2], 0)).main)
    net = lab.net(graphs)
    inputs = [net.input(tensor) for tensor in (count, first, second)]
    results = net.results(
        "WHILE", [net.reference(0), net.reference(1), *inputs], [net.operand(name) for name in inputs[:2]]
    )
    unrolled = inputs[1]
    for _ in range(rounds):
        unrolled = net.apply("ADD", unrolled, inputs[2], 0)
    lab.agree("WHILE", lab.run(net, results[1], unrolled), roundings=2 * rounds, magnitude=4)
