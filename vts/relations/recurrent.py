"""Recurrent operations and control flow, written out step by step.

Weights and inputs are multiples of 1/2 in [-1, 1], so that what an activation gets is exact; behind it the errors of
one step go into the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from npu_conformance.corpus.vectors import Graph
from npu_conformance.vts.lib.relations.declare import RelationGroup
from npu_conformance.vts.lib.relations.fixture import RelationFixture
from npu_conformance.vts.lib.relations.nets import BOOL8, FLOATS, INT32, WITH_INTEGERS, Net, Tensor, like
from npu_conformance.vts.lib.relations.product_operands import bias, weights

cases = RelationGroup()
_BATCH, _SIZE, _UNITS = 3, 19, 13
_TANH = 4
_GATES = ("input", "forget", "cell", "output")


def _zeros(fixture: RelationFixture, *shape: int) -> Tensor:
    return fixture.full(0.0, *shape)


def _connected(net: Net, given: str, matrix: Tensor, offsets: Tensor) -> str:
    return net.apply("FULLY_CONNECTED", given, matrix, offsets, 0)


@cases.relation("without_recurrence", "RNN FULLY_CONNECTED TANH", FLOATS)
def rnn(fixture: RelationFixture) -> None:
    """Without recurrent weights RNN is an activated FULLY_CONNECTED, whatever the state."""
    net, matrix, offsets = fixture.net(), weights(fixture, _UNITS, _SIZE), bias(fixture, _UNITS)
    name, state = net.input(fixture.steps(_BATCH, _SIZE)), net.input(fixture.steps(_BATCH, _UNITS))
    arguments = [name, matrix, _zeros(fixture, _UNITS, _UNITS), offsets, state, _TANH]
    hidden, output = net.results("RNN", arguments, [like(fixture.operand_type)] * 2)
    expanded = net.apply("TANH", _connected(net, name, matrix, offsets))
    found = fixture.run(net, hidden, output, expanded)
    fixture.agree("output", [found[1], found[2]], roundings=3, magnitude=20)
    fixture.agree("state", [found[0], found[2]], roundings=3, magnitude=20)


@cases.relation("steps", "UNIDIRECTIONAL_SEQUENCE_RNN RNN", FLOATS)
def sequence_rnn(fixture: RelationFixture) -> None:
    """A sequence is one step after the other."""
    import numpy

    net, own = fixture.net(), [weights(fixture, _UNITS, _SIZE), weights(fixture, _UNITS, _UNITS), bias(fixture, _UNITS)]
    steps, state = fixture.steps(3, _BATCH, _SIZE), net.input(fixture.steps(_BATCH, _UNITS))
    whole = net.apply("UNIDIRECTIONAL_SEQUENCE_RNN", net.input(steps), *own, state, 6, 1)
    outputs = []
    for step in steps.array:
        state, output = net.results(
            "RNN", [net.input(steps.of(step)), *own, state, 6], [like(fixture.operand_type)] * 2
        )
        outputs.append(output)
    found, *expected = fixture.run(net, whole, *outputs)
    # A sigmoid passes a quarter of what 13 weights of 1 at most make of the error of the step before.
    fixture.agree("steps", [found, numpy.stack(expected)], roundings=2 * (1 + 3.25 + 3.25**2), magnitude=1)


@cases.relation("forward_half", "BIDIRECTIONAL_SEQUENCE_RNN UNIDIRECTIONAL_SEQUENCE_RNN REVERSE", FLOATS)
def bidirectional_rnn(fixture: RelationFixture) -> None:
    """One cell runs forward; the other one is a cell that runs forward over the reversed sequence."""
    cells = [
        [weights(fixture, _UNITS, _SIZE), weights(fixture, _UNITS, _UNITS), bias(fixture, _UNITS)] for _ in range(2)
    ]
    states, given = [fixture.steps(_BATCH, _UNITS) for _ in range(2)], fixture.steps(_BATCH, 4, _SIZE)
    net, operand = fixture.net(), like(fixture.operand_type)
    name, (first, second) = net.input(given), [net.input(state) for state in states]
    nothing = [like(fixture.operand_type)] * 3
    arguments = [name, *cells[0], first, *cells[1], second, *nothing, 6, False, False]
    forward, backward = net.results("BIDIRECTIONAL_SEQUENCE_RNN", arguments, [operand, operand])
    single = net.apply("UNIDIRECTIONAL_SEQUENCE_RNN", name, *cells[0], first, 6, 0)
    turned = net.input(given.of(given.array[:, ::-1]))
    reverse = net.apply("UNIDIRECTIONAL_SEQUENCE_RNN", turned, *cells[1], second, 6, 0)
    found = fixture.run(net, forward, single, backward, reverse)
    many = 2 * (1 + 3.25 + 3.25**2 + 3.25**3)
    fixture.agree("forward", [found[0], found[1]], roundings=many, magnitude=1)
    fixture.agree("backward", [found[2], found[3][:, ::-1]], roundings=many, magnitude=1)


def _lstm_arguments(fixture: RelationFixture, given: Any, own: dict[str, Tensor], states: Sequence[Any]) -> list[Any]:
    """The 23 inputs of an LSTM without peepholes, projection and recurrent weights."""
    row, matrix = (replace(like(fixture.operand_type), dimensions=shape) for shape in ((_UNITS,), (_UNITS, _UNITS)))
    arguments: list[Any] = [given, *(own[gate] for gate in _GATES), *[_zeros(fixture, _UNITS, _UNITS)] * 4]
    arguments += [row] * 3 + [own[f"{gate}_bias"] for gate in _GATES] + [matrix, row]
    return [*arguments, *states, _TANH, 0.0, 0.0]


def _lstm_cell(fixture: RelationFixture) -> dict[str, Tensor]:
    own = {gate: weights(fixture, _UNITS, _SIZE) for gate in _GATES}
    return own | {f"{gate}_bias": bias(fixture, _UNITS) for gate in _GATES}


@cases.relation("without_recurrence", "LSTM FULLY_CONNECTED LOGISTIC TANH MUL ADD", FLOATS)
def lstm(fixture: RelationFixture) -> None:
    """Without recurrent weights: gates are LOGISTIC(FULLY_CONNECTED), and the cell is what they let through."""
    net, own, operand = fixture.net(), _lstm_cell(fixture), like(fixture.operand_type)
    name = net.input(fixture.steps(_BATCH, _SIZE))
    state, cell = (net.input(fixture.steps(_BATCH, _UNITS)) for _ in range(2))
    results = net.results("LSTM", _lstm_arguments(fixture, name, own, [state, cell]), [operand] * 4)
    sums = {gate: _connected(net, name, own[gate], own[f"{gate}_bias"]) for gate in _GATES}
    gates = {gate: net.apply("TANH" if gate == "cell" else "LOGISTIC", sums[gate]) for gate in _GATES}
    kept, new = net.apply("MUL", gates["forget"], cell, 0), net.apply("MUL", gates["input"], gates["cell"], 0)
    next_cell = net.apply("ADD", kept, new, 0)
    output = net.apply("MUL", gates["output"], net.apply("TANH", next_cell), 0)
    found = fixture.run(net, *results[1:], next_cell, output)
    fixture.agree("cell state", [found[1], found[3]], roundings=8, magnitude=2)
    fixture.agree("output", [found[2], found[4]], roundings=11, magnitude=2)
    fixture.agree("output state", [found[0], found[4]], roundings=11, magnitude=2)


@cases.relation("steps", "UNIDIRECTIONAL_SEQUENCE_LSTM LSTM", FLOATS)
def sequence_lstm(fixture: RelationFixture) -> None:
    """Without recurrent weights the outputs of a sequence are those of single steps that pass on the cell."""
    import numpy

    net, own, operand = fixture.net(), _lstm_cell(fixture), like(fixture.operand_type)
    steps = fixture.steps(3, _BATCH, _SIZE)
    states: list[Any] = [net.input(fixture.steps(_BATCH, _UNITS)) for _ in range(2)]
    arguments = [*_lstm_arguments(fixture, net.input(steps), own, states), True, *[like(fixture.operand_type)] * 4]
    (whole,) = net.results("UNIDIRECTIONAL_SEQUENCE_LSTM", arguments, [operand])
    outputs = []
    for step in steps.array:
        given = net.input(steps.of(step))
        _, *states, output = net.results("LSTM", _lstm_arguments(fixture, given, own, states), [operand] * 4)
        outputs.append(output)
    found, *expected = fixture.run(net, whole, *outputs)
    # Each step adds the roundings of a cell to those of the step before, which the forget gate makes no larger.
    fixture.agree("steps", [found, numpy.stack(expected)], roundings=2 * 3 * 8, magnitude=2)


@cases.relation("forward_half", "BIDIRECTIONAL_SEQUENCE_LSTM UNIDIRECTIONAL_SEQUENCE_LSTM", FLOATS)
def bidirectional_lstm(fixture: RelationFixture) -> None:
    """One cell runs forward; the other one is a cell that runs forward over the reversed sequence."""
    net, operand, cells = fixture.net(), like(fixture.operand_type), [_lstm_cell(fixture), _lstm_cell(fixture)]
    given, states = fixture.steps(3, _BATCH, _SIZE), [net.input(fixture.steps(_BATCH, _UNITS)) for _ in range(4)]
    name, turned = net.input(given), net.input(given.of(given.array[::-1]))
    own = [_lstm_arguments(fixture, name, cell, [])[1:18] for cell in cells]
    arguments = [name, *own[0], *own[1], *states, *[operand] * 9, _TANH, 0.0, 0.0, False, True, *[operand] * 8]
    results = net.results("BIDIRECTIONAL_SEQUENCE_LSTM", arguments, [operand] * 2)
    for source, cell, pair in ((name, cells[0], states[:2]), (turned, cells[1], states[2:])):
        single = [*_lstm_arguments(fixture, source, cell, pair), True, *[operand] * 4]
        results += net.results("UNIDIRECTIONAL_SEQUENCE_LSTM", single, [operand])
    found = fixture.run(net, *results)
    fixture.agree("forward", [found[0], found[2]], roundings=2 * 3 * 8, magnitude=2)
    fixture.agree("backward", [found[1], found[3][::-1]], roundings=2 * 3 * 8, magnitude=2)


@cases.relation("memory_of_one", "SVDF FULLY_CONNECTED MUL ADD", FLOATS)
def svdf(fixture: RelationFixture) -> None:
    """With rank 1 and a memory of one step SVDF is FULLY_CONNECTED, weighted and with a bias."""
    net, features, times = fixture.net(), weights(fixture, _UNITS, _SIZE), weights(fixture, _UNITS, 1)
    offsets, name = bias(fixture, _UNITS), net.input(fixture.steps(_BATCH, _SIZE))
    state = net.input(fixture.steps(_BATCH, _UNITS))
    _, output = net.results("SVDF", [name, features, times, offsets, state, 1, 0], [like(fixture.operand_type)] * 2)
    connected = _connected(net, name, features, _zeros(fixture, _UNITS))
    weighted = net.apply("MUL", connected, times.of(times.array.reshape(-1)), 0)
    both = fixture.run(net, output, net.apply("ADD", weighted, offsets, 0))
    fixture.agree("SVDF", both, roundings=4, magnitude=20)


def _binary(fixture: RelationFixture, operation: str, given: Tensor) -> Graph:
    net = fixture.net()
    a, b = net.input(given), net.input(given)
    return net.vector(net.apply(operation, a, b, 0)).main


@cases.relation("branch", "IF ADD SUB", WITH_INTEGERS)
def branches(fixture: RelationFixture) -> None:
    """A branch that is taken computes what it computes outside."""
    import numpy

    first, second = fixture.tensor(23, 17, 9), fixture.tensor(23, 17, 9)
    graphs = (_binary(fixture, "ADD", first), _binary(fixture, "SUB", first))
    for condition, operation in ((1, "ADD"), (0, "SUB")):
        net = fixture.net(graphs)
        a, b = net.input(first), net.input(second)
        chosen = net.input(Tensor(fixture.tensor(1, operand_type=BOOL8).operand, numpy.array([condition], numpy.uint8)))
        result = net.operand(a)
        (taken,) = net.results("IF", [chosen, net.reference(0), net.reference(1), a, b], [result])
        outside = net.apply(operation, a, b, 0)
        fixture.agree(f"IF {condition}", fixture.run(net, taken, outside), roundings=2)


@cases.relation("unrolled", "WHILE ADD LESS", WITH_INTEGERS)
def loops(fixture: RelationFixture) -> None:
    """Rounds of a loop are its body as often, one behind the other."""
    rounds, first, second = 3, fixture.full(1.0, 5, 19), fixture.tensor(5, 19, low=0.0, high=1.0)
    count = fixture.integers(1, low=0, high=0)
    condition, body = fixture.net(), fixture.net()
    for one in (condition, body):
        names = [one.input(tensor) for tensor in (count, first, second)]
    less = condition.apply("LESS", "a0", (rounds,), result=like(BOOL8))
    next_count = body.apply("ADD", names[0], (1,), 0, result=like(INT32))
    graphs = (condition.vector(less).main, body.vector(next_count, body.apply("ADD", names[1], names[2], 0)).main)
    net = fixture.net(graphs)
    inputs = [net.input(tensor) for tensor in (count, first, second)]
    results = net.results(
        "WHILE", [net.reference(0), net.reference(1), *inputs], [net.operand(name) for name in inputs[:2]]
    )
    unrolled = inputs[1]
    for _ in range(rounds):
        unrolled = net.apply("ADD", unrolled, inputs[2], 0)
    fixture.agree("WHILE", fixture.run(net, results[1], unrolled), roundings=2 * rounds, magnitude=4)
