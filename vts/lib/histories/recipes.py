"""Small models whose outputs are known: additions that differ in what they add, in number, and in activation."""

from __future__ import annotations

from dataclasses import dataclass

from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Memory,
    Model,
    Operand,
    Operation,
    Subgraph,
)
from npu_conformance.vts.lib.addition import SIZE, Addition, Pair

_RELU = 1
CONSTANTS: tuple[Pair, ...] = ((0.5, -1.5), (-2.25, 3.0), (1.25, 0.75))
"""What models add that have a constant."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A model. Every output is the sum of two terms.

    inputs: how many the model has. terms: the inputs that each output adds; one beyond the last is the constant.
    is_clipped: the sums are clipped at zero by a fused RELU. in_pool: the constant lies in a pool.
    """

    inputs: int
    terms: tuple[tuple[int, int], ...]
    is_clipped: bool = False
    constant: Pair | None = None
    in_pool: bool = False

    def __str__(self) -> str:
        sums = ", ".join(f"{self._name(one)} + {self._name(other)}" for one, other in self.terms)
        return f"relu({sums})" if self.is_clipped else sums

    def is_like(self, other: Recipe) -> bool:
        """True for models that differ in nothing but the value of a constant or an activation."""
        mine, its = ((one.inputs, one.terms, one.in_pool, one.constant is None) for one in (self, other))
        return mine == its

    def expected(self, values: list[Pair]) -> list[Pair]:
        """The outputs for these inputs."""
        terms = values if self.constant is None else [*values, self.constant]
        return [self._sum(terms[one], terms[other]) for one, other in self.terms]

    def model(self, chosen: Addition, pool: Memory | None = None) -> Model:
        """The model in a type. pool: holds the constant in its first bytes, where the recipe has it there."""
        tensor = Operand(chosen.operand_type, (chosen.elements,), chosen.scale, chosen.zero_point)
        uses = [sum(terms.count(number) for terms in self.terms) for number in range(self.inputs + 1)]
        activation = Operand(
            OperandType.INT32,
            lifetime=OperandLifeTime.CONSTANT_COPY,
            location=DataLocation(length=4),
            number_of_consumers=len(self.terms),
        )
        inputs = [_as(tensor, OperandLifeTime.SUBGRAPH_INPUT, uses[number]) for number in range(self.inputs)]
        constants = [] if self.constant is None else [self._constant(tensor, uses[self.inputs])]
        outputs = [_as(tensor, OperandLifeTime.SUBGRAPH_OUTPUT, 0) for _ in self.terms]
        operands = (*inputs, *constants, activation, *outputs)
        code = len(inputs) + len(constants)
        operations = tuple(
            Operation(OperationType.ADD, (*terms, code), (code + 1 + number,))
            for number, terms in enumerate(self.terms)
        )
        results = tuple(range(code + 1, len(operands)))
        values = (_RELU if self.is_clipped else 0).to_bytes(4, "little")
        if self.constant is not None and not self.in_pool:
            values += chosen.packed(self.constant)
        pools = (pool,) if pool is not None and self.in_pool else ()
        main = Subgraph(operands, operations, tuple(range(self.inputs)), results)
        return Model(main=main, operand_values=values, pools=pools)

    def _constant(self, tensor: Operand, consumers: int) -> Operand:
        if self.in_pool:
            return _as(tensor, OperandLifeTime.CONSTANT_POOL, consumers, DataLocation(length=SIZE))
        return _as(tensor, OperandLifeTime.CONSTANT_COPY, consumers, DataLocation(offset=4, length=SIZE))

    def _sum(self, one: Pair, other: Pair) -> Pair:
        first, second = one[0] + other[0], one[1] + other[1]
        return (max(first, 0.0), max(second, 0.0)) if self.is_clipped else (first, second)

    def _name(self, term: int) -> str:
        return "abcdefgh"[term] if term < self.inputs else str(self.constant)


def _as(tensor: Operand, lifetime: int, consumers: int, location: DataLocation | None = None) -> Operand:
    place = location or DataLocation()
    return Operand(
        tensor.type, tensor.dimensions, tensor.scale, tensor.zero_point, lifetime, place, number_of_consumers=consumers
    )


RECIPES = (
    Recipe(2, ((0, 1),)),
    Recipe(2, ((0, 1),), is_clipped=True),
    Recipe(1, ((0, 0),)),
    Recipe(3, ((0, 1), (2, 1))),
    Recipe(4, ((0, 1), (2, 3))),
    Recipe(8, ((0, 1), (2, 3), (4, 5), (6, 7))),
    *(Recipe(1, ((0, 1),), constant=constant) for constant in CONSTANTS),
    *(Recipe(1, ((0, 1),), constant=constant, in_pool=True) for constant in CONSTANTS),
    Recipe(2, ((0, 2), (1, 2)), constant=CONSTANTS[0]),
)
"""What a history prepares. Some differ in nothing but a constant or an activation."""
