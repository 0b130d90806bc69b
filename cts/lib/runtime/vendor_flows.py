"""Models with IF and WHILE around operations of the Fibonacci extension, and values of its type at their borders.

Each takes eight floats and a number, a condition or how often to go round, and gives floats that follow from them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.vendor import (
    COUNT_TYPE,
    DEQUANTIZE_OPERATION,
    ELEMENTS,
    NUMBERS_OPERATION,
    NUMBERS_TYPE,
    PARAMETERS,
    operation_code,
    type_code,
)
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription

FLOATS = OperandDescription(OperandType.TENSOR_FLOAT32, 1, (ELEMENTS,))
TRUTH = OperandDescription(OperandType.TENSOR_BOOL8, 1, (1,))
COUNT = OperandDescription(OperandType.TENSOR_INT32, 1, (1,))
_NONE = OperandDescription(OperandType.INT32)
_GRAPH = OperandDescription(OperandType.SUBGRAPH)


@dataclass
class _Graph:
    """A model under construction."""

    app: RuntimeApp
    model: int = field(init=False)
    count: int = 0
    inputs: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.model = self.app.empty_model()

    def operand(self, described: OperandDescription, value: bytes = b"") -> int:
        """Add an operand. value: of a constant."""
        self.app.succeed("model_add_operand", self.model, described)
        self.count += 1
        if value:
            self.app.succeed(
                "model_set_operand_value", self.model, self.count - 1, place(self.app.memory, value), len(value)
            )
        return self.count - 1

    def input(self, described: OperandDescription) -> int:
        """Add an input."""
        self.inputs.append(self.operand(described))
        return self.inputs[-1]

    def numbers(self) -> int:
        """Add an operand of the extension's tensor type."""
        index = self.operand(OperandDescription(type_code(self.app, self.model, NUMBERS_TYPE), 1, (ELEMENTS,)))
        data = place(self.app.memory, PARAMETERS)
        self.app.succeed("model_set_operand_extension_data", self.model, index, data, len(PARAMETERS))
        return index

    def given_numbers(self) -> int:
        """Add an input of that type."""
        self.inputs.append(self.numbers())
        return self.inputs[-1]

    def graph(self, model: int) -> int:
        """Add a reference to another model."""
        index = self.operand(_GRAPH)
        self.app.succeed("model_set_operand_value_from_model", self.model, index, model)
        return index

    def apply(self, operation: int, inputs: Sequence[int], *outputs: int) -> tuple[int, ...]:
        """Add an operation; returns its outputs."""
        self.app.succeed("model_add_operation", self.model, operation, tuple(inputs), outputs)
        return outputs

    def fibonacci(self) -> int:
        """The first eight numbers, as the extension has them: of a constant count."""
        kind = OperandDescription(type_code(self.app, self.model, COUNT_TYPE))
        count = self.operand(kind, struct.pack("<q", ELEMENTS))
        return self.apply(operation_code(self.app, self.model, NUMBERS_OPERATION), (count,), self.numbers())[0]

    def dequantized(self, numbers: int) -> int:
        """Numbers as floats."""
        code = operation_code(self.app, self.model, DEQUANTIZE_OPERATION)
        return self.apply(code, (numbers,), self.operand(FLOATS))[0]

    def added(self, first: int, second: int, described: OperandDescription = FLOATS) -> int:
        """A sum."""
        none = self.operand(_NONE, bytes(4))
        return self.apply(OperationType.ADD, (first, second, none), self.operand(described))[0]

    def finished(self, *outputs: int) -> int:
        """The finished model."""
        self.app.succeed("model_identify_inputs_and_outputs", self.model, tuple(self.inputs), outputs)
        self.app.succeed("model_finish", self.model)
        return self.model


def _sum(app: RuntimeApp, *, of_numbers: bool) -> int:
    """A branch: the sum of the floats that go in, and of the numbers or these floats again."""
    made = _Graph(app)
    floats = made.input(FLOATS)
    return made.finished(made.added(floats, made.dequantized(made.fibonacci()) if of_numbers else floats))


def inside_branches(app: RuntimeApp) -> int:
    """IF of which one branch alone knows the extension; the model takes the floats from what it gives."""
    made = _Graph(app)
    condition, floats = made.input(TRUTH), made.input(FLOATS)
    graphs = [made.graph(_sum(app, of_numbers=of_numbers)) for of_numbers in (True, False)]
    (result,) = made.apply(OperationType.IF, (condition, *graphs, floats), made.operand(FLOATS))
    arguments = result, floats, made.operand(_NONE, bytes(4))
    return made.finished(*made.apply(OperationType.SUB, arguments, made.operand(FLOATS)))


def _floats_of(app: RuntimeApp, *, twice: bool) -> int:
    """A branch: numbers as floats, once or twice, and the floats that go in."""
    made = _Graph(app)
    numbers, floats = made.given_numbers(), made.input(FLOATS)
    result = made.dequantized(numbers)
    return made.finished(made.added(made.added(result, result) if twice else result, floats))


def into_branches(app: RuntimeApp) -> int:
    """IF of which both branches read numbers that the model computes: as floats, twice where the condition is false."""
    made = _Graph(app)
    condition, floats = made.input(TRUTH), made.input(FLOATS)
    graphs = [made.graph(_floats_of(app, twice=twice)) for twice in (False, True)]
    arguments = (condition, *graphs, made.fibonacci(), floats)
    return made.finished(*made.apply(OperationType.IF, arguments, made.operand(FLOATS)))


def _numbers_or_floats(app: RuntimeApp, *, is_sum: bool) -> int:
    """A branch: the numbers, and the floats that go in or their double."""
    made = _Graph(app)
    floats = made.input(FLOATS)
    numbers = made.fibonacci()
    second = floats if is_sum else made.dequantized(numbers)
    return made.finished(numbers, made.added(floats, second))


def out_of_branches(app: RuntimeApp) -> int:
    """IF that gives numbers and a sum, which the model adds: of floats and numbers, else of floats alone."""
    made = _Graph(app)
    condition, floats = made.input(TRUTH), made.input(FLOATS)
    graphs = [made.graph(_numbers_or_floats(app, is_sum=is_sum)) for is_sum in (False, True)]
    numbers, result = made.apply(OperationType.IF, (condition, *graphs, floats), made.numbers(), made.operand(FLOATS))
    return made.finished(made.added(made.dequantized(numbers), result))


def _goes_on(app: RuntimeApp) -> int:
    """A condition: fewer rounds are over than asked for."""
    made = _Graph(app)
    count, _, _, bound = made.input(COUNT), made.given_numbers(), made.input(FLOATS), made.input(COUNT)
    return made.finished(*made.apply(OperationType.LESS, (count, bound), made.operand(TRUTH)))


def _round(app: RuntimeApp) -> int:
    """A body: counts, makes the numbers anew, and adds those of the round before to the floats."""
    made = _Graph(app)
    count, numbers, floats, _ = made.input(COUNT), made.given_numbers(), made.input(FLOATS), made.input(COUNT)
    one = made.operand(COUNT, struct.pack("<i", 1))
    more = made.added(count, one, COUNT)
    return made.finished(more, made.fibonacci(), made.added(floats, made.dequantized(numbers)))


def through_rounds(app: RuntimeApp) -> int:
    """WHILE that carries a counter, numbers and floats: behind it both are added."""
    made = _Graph(app)
    bound, floats = made.input(COUNT), made.input(FLOATS)
    start = made.operand(COUNT, bytes(4))
    graphs = made.graph(_goes_on(app)), made.graph(_round(app))
    outputs = made.operand(COUNT), made.numbers(), made.operand(FLOATS)
    _, numbers, result = made.apply(OperationType.WHILE, (*graphs, start, made.fibonacci(), floats, bound), *outputs)
    return made.finished(made.added(made.dequantized(numbers), result))


@dataclass(frozen=True)
class Flow:
    """A model. packed: the form of its first input, as struct has it.

    results: for values of that, how often the numbers and how often the floats are in the result.
    """

    make: Callable[[RuntimeApp], int]
    packed: str
    results: Mapping[int, tuple[int, int]]


FLOWS = {
    "inside_branches": Flow(inside_branches, "<B", {1: (1, 0), 0: (0, 1)}),
    "into_branches": Flow(into_branches, "<B", {1: (1, 1), 0: (2, 1)}),
    "out_of_branches": Flow(out_of_branches, "<B", {1: (2, 1), 0: (1, 2)}),
    "through_rounds": Flow(through_rounds, "<i", {0: (1, 1), 1: (2, 1), 3: (4, 1)}),
}
"""By the names of their cases."""
