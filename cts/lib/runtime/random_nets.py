"""Random models and random drivers for them. Everything follows from a seed.

All operands are squares of float32 with whole numbers that stay small enough to be exact, so that whoever computes an
operation, in whatever order, finds the same.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.corpus.vector_types import Example, Vector, VectorOperand, VectorOperation
from npu_conformance.cts.lib.runtime.nets import Net, net_of, numbers
from npu_conformance.cts.lib.runtime.scripts import driver
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript
from npu_conformance.specs.neuralnetworks.types import Operation
from npu_conformance.specs.versions import NEWEST, Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array

_NONE, _RELU1, _RELU6 = 0, 2, 3
_PATTERNS: tuple[tuple[str, int | None], ...] = (
    ("ADD", _NONE), ("ADD", _RELU6), ("MUL", _NONE), ("MUL", _RELU6), ("SUB", _NONE), ("SUB", _RELU1),
    ("MAXIMUM", None), ("MINIMUM", None), ("ABS", None), ("NEG", None), ("RELU", None), ("FLOOR", None),
)  # fmt: skip
"""Operations, each with the FusedActivation that it has; None for those that take none."""

_UNARY = ("ABS", "NEG", "RELU", "FLOOR")
_CLAMPED = {_RELU1: 1, _RELU6: 6}
_EXACT = 2**22
"""Up to this magnitude every whole number is a float32, and so is the sum of two."""

_SINCE = dict.fromkeys(("ADD", "MUL", "RELU", "FLOOR"), Version.V1_0) | {"SUB": Version.V1_1}
"""The version of the HAL that brought an operation of the patterns; 1.2 brought the others."""

_LARGEST_SIZE, _MOST_DRIVERS = 8, 4
_HALS = (Version.V1_0, Version.V1_1, Version.V1_2, Version.V1_3, Version.FL8)


@dataclass
class RandomNet:
    """A model under construction. bounds: the largest magnitude that the numbers of an operand can have.

    most: operations.
    """

    seed: int
    most: int = 100
    chance: random.Random = field(init=False)
    operands: dict[str, VectorOperand] = field(default_factory=dict)
    operations: list[VectorOperation] = field(default_factory=list)
    bounds: dict[str, int] = field(default_factory=dict)
    inputs: dict[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        size = 1 + int(_LARGEST_SIZE * self.chance.random() ** 2)
        self._square = VectorOperand(OperandType.TENSOR_FLOAT32, (size, size))

    def net(self) -> Net:
        """Three models of four hang from one root; in one of five some operations are dead."""
        roots = 1 if self.chance.random() < 0.75 else self.chance.randint(2, 4)
        for _ in range(roots):
            self._input()
        for _ in range(self._count()):
            self._operation()
        net = net_of(self._vector())
        return net if self.chance.random() < 0.7 else self._shuffled(net)

    def _shuffled(self, net: Net) -> Net:
        """The net as an app may build it too: with its operations in any order."""
        operations = list(net.wire.main.operations)
        self.chance.shuffle(operations)
        return Net(net.vector, replace(net.wire, main=replace(net.wire.main, operations=tuple(operations))))

    def _count(self) -> int:
        """Mostly few operations."""
        return max(1, int(self.most * self.chance.random() ** 5))

    def _input(self) -> None:
        name = f"in{len(self.inputs)}"
        self.operands[name] = self._square
        self.inputs[name] = self._numbers()
        self.bounds[name] = 7

    def _numbers(self) -> Array:
        return numbers(OperandType.TENSOR_FLOAT32, self._square.dimensions, self.chance.randint(0, 6))

    def _operation(self) -> None:
        name, activation = self.chance.choice(_PATTERNS)
        first = self._operand()
        arguments = [first] if name in _UNARY else [first, self._operand()]
        bound = _bound(name, [self.bounds[one] for one in arguments])
        if bound > _EXACT:
            name, activation, bound = "MINIMUM", None, max(self.bounds[one] for one in arguments)
            arguments = (arguments * 2)[:2]
        result = f"t{len(self.operations)}"
        self.operands[result] = self._square
        self.bounds[result] = min(bound, _CLAMPED.get(activation or _NONE, bound))
        tail = () if activation is None else (self._activation(activation),)
        self.operations.append(VectorOperation(name, (*arguments, *tail), (result,)))

    def _operand(self) -> str:
        """Mostly one of the last results, so that models are deep; sometimes a constant, old or new."""
        if self.chance.random() < 0.15:
            return self._constant()
        known = list(self.bounds)
        return self.chance.choice(known[-4:] if self.chance.random() < 0.6 else known)

    def _constant(self) -> str:
        name = f"c{len(self.operands)}"
        self.operands[name] = VectorOperand(OperandType.TENSOR_FLOAT32, self._square.dimensions, value=self._numbers())
        self.bounds[name] = 7
        return name

    def _activation(self, value: int) -> str:
        import numpy

        name = f"activation{value}"
        self.operands.setdefault(name, VectorOperand(OperandType.INT32, value=numpy.array(value, numpy.int32)))
        return name

    def _vector(self) -> Vector:
        outputs = self._outputs()
        if self.chance.random() < 0.25:
            self._open_some()
        used = {name for operation in self.operations for name in (*operation.inputs, *operation.outputs)}
        operands = {name: operand for name, operand in self.operands.items() if name in used or name in self.inputs}
        example = Example(self.inputs, {})
        return Vector("net", "ADD", NEWEST, operands, tuple(self.operations), tuple(self.inputs), outputs, (example,))

    def _outputs(self) -> tuple[str, ...]:
        """The results that nobody reads, fewer where there are to be dead operations, and some that are read."""
        results = [operation.outputs[0] for operation in self.operations]
        read = {name for operation in self.operations for name in operation.inputs}
        ends = [name for name in results if name not in read]
        if self.chance.random() < 0.2:
            ends = ends[: max(1, len(ends) // 2)]
        others = [name for name in results if name in read and self.chance.random() < 0.1]
        chosen = [*ends, *others]
        self.chance.shuffle(chosen)
        return tuple(chosen)

    def _open_some(self) -> None:
        """Leave the sizes of some results open."""
        for operation in self.operations:
            if self.chance.random() < 0.1:
                (name,) = operation.outputs
                self.operands[name] = VectorOperand(OperandType.TENSOR_FLOAT32, (0, 0))


def _bound(name: str, bounds: list[int]) -> int:
    if name == "MUL":
        return bounds[0] * bounds[1]
    return sum(bounds) if name in ("ADD", "SUB") else max(bounds)


def supported(script: DriverScript, net: Net) -> tuple[bool, ...]:
    """Which operations of a net a driver supports, in the order in which the app adds them: all sizes are known."""
    return tuple(_supports(script, net, operation) for operation in net.wire.main.operations)


def _supports(script: DriverScript, net: Net, operation: Operation) -> bool:
    kind = OperationType(operation.type)
    last = net.wire.main.operands[operation.inputs[-1]]
    start = last.location.offset
    value = int.from_bytes(net.wire.operand_values[start : start + 4], "little")
    activation = value if last.type == OperandType.INT32 else None
    names = {(one.type, one.activation) for one in script.operations or ()}
    is_named = bool(names & {(int(kind), None), (int(kind), activation)})
    return is_named and script.hal >= _SINCE.get(kind.name, Version.V1_2)


def random_drivers(seed: int) -> tuple[DriverScript, ...]:
    """One to four drivers; each pattern is one of none, some or all of them."""
    chance = random.Random(-1 - seed)
    supported: list[list[tuple[str, int | None]]] = [[] for _ in range(chance.randint(1, _MOST_DRIVERS))]
    for pattern in _PATTERNS:
        for operations in supported:
            if chance.random() < 0.4:
                operations.append(pattern)
    return tuple(
        driver(
            f"driver-{number}",
            *(name if activation is None else (name, activation) for name, activation in operations or _PATTERNS[:1]),
            hal=chance.choice((Version.FL8, chance.choice(_HALS))),
            exec_time=chance.choice((0.2, 0.5, 0.8, 1.5)),
        )
        for number, operations in enumerate(supported)
    )
