"""Models with many arguments, operations or graphs, whose results tell all of these apart."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import execute
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Model,
    Operand,
    Operation,
    Request,
    RequestArgument,
    RequestMemoryPool,
    Subgraph,
)
from npu_conformance.vts.lib.addition import SIZE, Addition, Pair, Values, plus
from npu_conformance.vts.lib.structure_models import (
    COPY,
    INPUT,
    OUTPUT,
    TEMPORARY,
    constant,
    graph,
    reference,
    tensor,
)

_NUMBER = 4
"""Bytes of a scalar. The first one of each model is 0: the activation, or an axis."""
_ALIGNED = 16
STEPS: tuple[Pair, ...] = (
    (0.25, 0.5), (0.5, 0.25), (1.0, -0.5), (2.0, 1.0), (-1.5, 0.25), (-1.25, -1.0), (-1.0, -0.5),
)  # fmt: skip
"""What operations of a chain add in turn: nothing all together, so that a chain of any length ends near its start."""

PIECES = 32
"""Of SIZE bytes, that each tensor of `different` has."""
COMPUTED: Mapping[OperationType, Callable[[float, float], float]] = {
    OperationType.ADD: operator.add,
    OperationType.MUL: operator.mul,
    OperationType.SUB: operator.sub,
    OperationType.MAXIMUM: max,
    OperationType.MINIMUM: min,
}
"""What `different` is made of, and what each makes of two numbers."""


def pairs(number: int) -> list[Pair]:
    """Values that every type has exactly; 120 in a row differ."""
    return [((at * 7 % 40 - 20) / 4, (at * 11 % 24 - 12) / 4) for at in range(number)]


def chain(chosen: Addition, length: int) -> Model:
    """out = in + STEPS[0] + STEPS[1] + ..., by an operation for each."""
    steps = [_stored(chosen, at) for at in range(len(STEPS))]
    first = 2 + len(steps)
    results = [*(_tensor(chosen, TEMPORARY) for _ in range(length - 1)), _tensor(chosen, OUTPUT)]
    operations = [
        Operation(OperationType.ADD, (first + at - 1 if at else 0, 2 + at % len(steps), 1), (first + at,))
        for at in range(length)
    ]
    return _model(chosen, STEPS, graph([_tensor(chosen, INPUT), _zero(), *steps, *results], operations))


def end_of_chain(start: Pair, length: int) -> Pair:
    """What the chain makes of `start`."""
    for step in STEPS[: length % len(STEPS)]:
        start = plus(start, step)
    return start


def different(chosen: Addition, types: Sequence[OperationType], number: int) -> Model:
    """So many outputs, each of an operation of its own on the input and a constant of its own.

    types: which take turns. Neighbours, and those of which one is 256 places behind the other, differ in the type, in
    the constant, and in the scale of the result where the type has one. All constants take more than 64 KiB.
    """
    first = 2 + number
    constants = [_stored(chosen, at, PIECES) for at in range(number)]
    results = [_tensor(scaled(chosen, at), OUTPUT, PIECES) for at in range(number)]
    operations = [Operation(_turn(types, at), (0, 2 + at, 1), (first + at,)) for at in range(number)]
    operands = [_tensor(chosen, INPUT, PIECES), _zero(), *constants, *results]
    return _model(chosen, [one * PIECES for one in pairs(number)], graph(operands, operations))


def of_different(types: Sequence[OperationType], number: int, start: Pair) -> list[Pair]:
    """What each operation of `different` makes of `start`."""
    made = (COMPUTED[_turn(types, at)] for at in range(number))
    return [(one(start[0], other[0]), one(start[1], other[1])) for one, other in zip(made, pairs(number), strict=True)]


def scaled(chosen: Addition, at: int) -> Addition:
    """The type of the result of an operation of `different`."""
    return replace(chosen, scale=chosen.scale * (1, 2, 4)[at % 3])


def _turn(types: Sequence[OperationType], at: int) -> OperationType:
    """The type of an operation: a period of seven does not divide 256."""
    return types[at % 7 % len(types)]


def joined(chosen: Addition, number: int) -> Model:
    """CONCATENATION of so many inputs."""
    operands = [*(_tensor(chosen, INPUT) for _ in range(number)), _zero(), _tensor(chosen, OUTPUT, number)]
    operation = Operation(OperationType.CONCATENATION, tuple(range(number + 1)), (number + 1,))
    return _model(chosen, (), graph(operands, [operation]))


def split(chosen: Addition, number: int) -> Model:
    """SPLIT of an input into so many outputs."""
    count = constant(OperandType.INT32, (), _NUMBER, _NUMBER)
    operands = [_tensor(chosen, INPUT, number), _zero(), count, *(_tensor(chosen, OUTPUT) for _ in range(number))]
    operation = Operation(OperationType.SPLIT, (0, 1, 2), tuple(range(3, 3 + number)))
    return _model(chosen, (), graph(operands, [operation]), more=number.to_bytes(_NUMBER, "little"))


def branches(chosen: Addition, added: Sequence[Pair]) -> Model:
    """An IF with an output for each two of `added`: the second input plus the one that the first input chooses."""
    operands = [tensor(OperandType.TENSOR_BOOL8, (1,), INPUT), _tensor(chosen, INPUT)]
    operations = []
    for number in range(0, len(added), 2):
        at = len(operands)
        operands += [reference(number), reference(number + 1), _tensor(chosen, OUTPUT)]
        operations.append(Operation(OperationType.IF, (0, at, at + 1, 1), (at + 2,)))
    return _model(chosen, added, graph(operands, operations), *(_adds(chosen, at) for at in range(len(added))))


def nested(chosen: Addition, added: Sequence[Pair]) -> Model:
    """out = in + added[0] + added[1] + ..., each in a graph of its own that is a branch of the one before."""
    depth = len(added) - 1
    main, *others = (_adds_and_goes_on(chosen, at, depth) for at in range(depth))
    return _model(chosen, added, main, *others, _adds(chosen, depth), more=b"\1")


def _adds(chosen: Addition, at: int) -> Subgraph:
    operands = [_tensor(chosen, INPUT), _stored(chosen, at), _zero(), _tensor(chosen, OUTPUT)]
    return graph(operands, [Operation(OperationType.ADD, (0, 1, 2), (3,))])


def _adds_and_goes_on(chosen: Addition, at: int, depth: int) -> Subgraph:
    """Both branches of its IF are the next graph."""
    is_true = constant(OperandType.TENSOR_BOOL8, (1,), _NUMBER + (depth + 1) * SIZE, 1)
    operands = [
        _tensor(chosen, INPUT), _stored(chosen, at), _zero(), _tensor(chosen, TEMPORARY),
        is_true, reference(at), reference(at), _tensor(chosen, OUTPUT),
    ]  # fmt: skip
    operations = [
        Operation(OperationType.ADD, (0, 1, 2), (3,)),
        Operation(OperationType.IF, (4, 5, 6, 3), (7,)),
    ]
    return graph(operands, operations)


def computed(
    context: CaseContext,
    prepared_model: PreparedModel,
    inputs: Sequence[bytes],
    sizes: Sequence[int],
    what: str,
    *,
    executor: str = "",
) -> list[bytes]:
    """Execute with all arguments in one pool; returns outputs of these sizes."""
    places, at = [], 0
    for size in (*map(len, inputs), *sizes):
        places.append(DataLocation(0, at, size))
        at += -(-size // _ALIGNED) * _ALIGNED
    pool = context.pool(at)
    for place, data in zip(places, inputs, strict=False):
        pool.write(place.offset, data)
    arguments = [RequestArgument(location=place) for place in places]
    asked, given = arguments[: len(inputs)], arguments[len(inputs) :]
    request = Request(tuple(asked), tuple(given), (RequestMemoryPool(pool=pool.memory),))
    execution = execute(context, prepared_model, request, measure=False, executor=executor)
    checks.status(execution.status, {ErrorStatus.NONE}, what)
    return [bytes(pool.read(place.offset, place.length)) for place in places[len(inputs) :]]


def _model(
    chosen: Addition, added: Sequence[Values], main: Subgraph, *referenced: Subgraph, more: bytes = b""
) -> Model:
    """more: values behind the constants."""
    return Model(main, referenced, bytes(_NUMBER) + b"".join(map(chosen.packed, added)) + more)


def _stored(chosen: Addition, at: int, pieces: int = 1) -> Operand:
    """A constant, by its number among those of the model, which all have as many pieces."""
    size = pieces * SIZE
    return _tensor(chosen, COPY, pieces, DataLocation(0, _NUMBER + at * size, size))


def _zero() -> Operand:
    return constant(OperandType.INT32, (), 0, _NUMBER)


def _tensor(chosen: Addition, lifetime: int, pieces: int = 1, location: DataLocation | None = None) -> Operand:
    """pieces: of SIZE bytes."""
    return tensor(
        chosen.operand_type,
        (pieces * chosen.elements,),
        lifetime,
        scale=chosen.scale,
        zero_point=chosen.zero_point,
        location=location or DataLocation(),
    )
