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

    inputs: how many the model has. terms: the inputs that each output adds; those beyond the last are the constants.
    is_clipped: the sums are clipped at zero by a fused RELU. in_pool: each constant lies in a pool.
    """

    inputs: int
    terms: tuple[tuple[int, int], ...]
    is_clipped: bool = False
    constants: tuple[Pair, ...] = ()
    in_pool: bool = False

    def __str__(self) -> str:
        sums = ", ".join(f"{self._name(one)} + {self._name(other)}" for one, other in self.terms)
        return f"relu({sums})" if self.is_clipped else sums

    def is_like(self, other: Recipe) -> bool:
        """True for models that differ in nothing but the value of a constant or an activation."""
        mine, its = ((one.inputs, one.terms, one.in_pool, len(one.constants)) for one in (self, other))
        return mine == its

    def expected(self, values: list[Pair]) -> list[Pair]:
        """The outputs for these inputs."""
        terms = [*values, *self.constants]
        return [self._sum(terms[one], terms[other]) for one, other in self.terms]

    def model(self, chosen: Addition, *pools: Memory) -> Model:
        """The model in a type. pools: hold a constant each in their first bytes, where the recipe has them there."""
        tensor = Operand(chosen.operand_type, (chosen.elements,), chosen.scale, chosen.zero_point)
        every = range(self.inputs + len(self.constants))
        uses = [sum(terms.count(number) for terms in self.terms) for number in every]
        activation = Operand(
            OperandType.INT32,
            lifetime=OperandLifeTime.CONSTANT_COPY,
            location=DataLocation(length=4),
            number_of_consumers=len(self.terms),
        )
        inputs = [_as(tensor, OperandLifeTime.SUBGRAPH_INPUT, uses[number]) for number in range(self.inputs)]
        constants = [self._constant(tensor, at, uses[self.inputs + at]) for at in range(len(self.constants))]
        outputs = [_as(tensor, OperandLifeTime.SUBGRAPH_OUTPUT, 0) for _ in self.terms]
        operands = (*inputs, *constants, activation, *outputs)
        code = len(inputs) + len(constants)
        operations = tuple(
            Operation(OperationType.ADD, (*terms, code), (code + 1 + number,))
            for number, terms in enumerate(self.terms)
        )
        results = tuple(range(code + 1, len(operands)))
        values = (_RELU if self.is_clipped else 0).to_bytes(4, "little")
        if not self.in_pool:
            values += b"".join(map(chosen.packed, self.constants))
        main = Subgraph(operands, operations, tuple(range(self.inputs)), results)
        return Model(main=main, operand_values=values, pools=pools)

    def _constant(self, tensor: Operand, number: int, consumers: int) -> Operand:
        if self.in_pool:
            return _as(tensor, OperandLifeTime.CONSTANT_POOL, consumers, DataLocation(number, length=SIZE))
        place = DataLocation(offset=4 + number * SIZE, length=SIZE)
        return _as(tensor, OperandLifeTime.CONSTANT_COPY, consumers, place)

    def _sum(self, one: Pair, other: Pair) -> Pair:
        first, second = one[0] + other[0], one[1] + other[1]
        return (max(first, 0.0), max(second, 0.0)) if self.is_clipped else (first, second)

    def _name(self, term: int) -> str:
        return "abcdefgh"[term] if term < self.inputs else str(self.constants[term - self.inputs])


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
    *(Recipe(1, ((0, 1),), constants=(constant,)) for constant in CONSTANTS),
    *(Recipe(1, ((0, 1),), constants=(constant,), in_pool=True) for constant in CONSTANTS),
    Recipe(2, ((0, 2), (1, 2)), constants=CONSTANTS[:1]),
    *(
        Recipe(1, ((0, 1), (0, 2)), constants=constants, in_pool=True)
        for constants in (CONSTANTS[1:], CONSTANTS[:0:-1])
    ),
)
"""What a history prepares. Some differ in nothing but a constant, the order of two, or an activation."""
