"""Small models whose outputs are known: additions that differ in what they add, in number, and in activation."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

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
    is_clipped: the sums are clipped at zero by a fused RELU. in_pool: each constant lies in a pool. is_turned: the
    model names its inputs and outputs from the last operand to the first. branch: the sums are in the branch of an IF
    that its constant condition takes; None for no IF.
    """

    inputs: int
    terms: tuple[tuple[int, int], ...]
    is_clipped: bool = False
    constants: tuple[Pair, ...] = ()
    in_pool: bool = False
    is_turned: bool = False
    branch: bool | None = None

    def __str__(self) -> str:
        sums = ", ".join(f"{self._name(one)} + {self._name(other)}" for one, other in self.terms)
        told = f"relu({sums})" if self.is_clipped else sums
        told += " of operands in turned order" if self.is_turned else ""
        return told if self.branch is None else f"if {str(self.branch).lower()}: {told}"

    def is_like(self, other: Recipe) -> bool:
        """True for models that differ in nothing but the value of a constant, an activation or a condition."""
        mine, its = (
            (one.inputs, one.terms, one.in_pool, len(one.constants), one.branch is None) for one in (self, other)
        )
        return mine == its

    def expected(self, values: list[Pair]) -> list[Pair]:
        """The outputs for these inputs."""
        terms = [*values, *self.constants]
        return [self._sum(terms[one], terms[other]) for one, other in self.terms]

    def model(self, chosen: Addition, *pools: Memory) -> Model:
        """The model in a type. pools: hold a constant each in their first bytes, where the recipe has them there."""
        values = (_RELU if self.is_clipped else 0).to_bytes(4, "little")
        if not self.in_pool:
            values += b"".join(map(chosen.packed, self.constants))
        sums = self._graph(chosen, self.terms)
        if self.branch is None:
            return Model(main=sums, operand_values=values, pools=pools)
        others = self._graph(chosen, tuple((first, first) for first, _ in self.terms))
        branches = (sums, others) if self.branch else (others, sums)
        values += bytes([self.branch])
        return Model(_choosing(sums, len(values) - 1), branches, operand_values=values, pools=pools)

    def _graph(self, chosen: Addition, terms: tuple[tuple[int, int], ...]) -> Subgraph:
        """The sums as a graph: operands are the inputs, the constants, the activation and the outputs."""
        tensor = Operand(chosen.operand_type, (chosen.elements,), chosen.scale, chosen.zero_point)
        used = [tuple(map(self._operand, pair)) for pair in (terms[::-1] if self.is_turned else terms)]
        uses = [sum(pair.count(number) for pair in used) for number in range(self.inputs + len(self.constants))]
        inputs = [_as(tensor, OperandLifeTime.SUBGRAPH_INPUT, uses[number]) for number in range(self.inputs)]
        constants = [self._constant(tensor, at, uses[self.inputs + at]) for at in range(len(self.constants))]
        place = DataLocation(length=4)
        activation = Operand(
            OperandType.INT32, lifetime=OperandLifeTime.CONSTANT_COPY, location=place, number_of_consumers=len(used)
        )
        outputs = [_as(tensor, OperandLifeTime.SUBGRAPH_OUTPUT, 0) for _ in used]
        operands, code = (*inputs, *constants, activation, *outputs), len(inputs) + len(constants)
        operations = tuple(
            Operation(OperationType.ADD, (*pair, code), (code + 1 + number,)) for number, pair in enumerate(used)
        )
        order = -1 if self.is_turned else 1
        results = tuple(range(code + 1, len(operands)))
        return Subgraph(operands, operations, tuple(range(self.inputs))[::order], results[::order])

    def _operand(self, term: int) -> int:
        return self.inputs - 1 - term if self.is_turned and term < self.inputs else term

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


def _choosing(branch: Subgraph, place: int) -> Subgraph:
    """IF whose arguments are those of its branches. place: of the condition in the values of the model."""
    condition = Operand(
        OperandType.TENSOR_BOOL8,
        (1,),
        lifetime=OperandLifeTime.CONSTANT_COPY,
        location=DataLocation(0, place, 1),
        number_of_consumers=1,
    )
    graphs = [
        Operand(
            OperandType.SUBGRAPH,
            lifetime=OperandLifeTime.SUBGRAPH,
            location=DataLocation(offset=number),
            number_of_consumers=1,
        )
        for number in range(2)
    ]
    inputs = [replace(branch.operands[index], number_of_consumers=1) for index in branch.input_indexes]
    outputs = [branch.operands[index] for index in branch.output_indexes]
    operands = (condition, *graphs, *inputs, *outputs)
    first = 3 + len(inputs)
    taken, given = tuple(range(3, first)), tuple(range(first, len(operands)))
    return Subgraph(operands, (Operation(OperationType.IF, (0, 1, 2, *taken), given),), taken, given)


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

_ONE_SUM, _TWO_SUMS = ((0, 1),), ((0, 1), (2, 1))
WITH_GRAPHS = (
    *RECIPES[:2],
    Recipe(3, _TWO_SUMS, is_turned=True),
    Recipe(1, ((0, 1), (0, 2)), constants=CONSTANTS[:2], is_turned=True),
    *(
        Recipe(1, _ONE_SUM, constants=(constant,), in_pool=in_pool, branch=branch)
        for constant in CONSTANTS[:2]
        for in_pool in (False, True)
        for branch in (False, True)
    ),
    *(Recipe(3, _TWO_SUMS, is_turned=is_turned, branch=True) for is_turned in (False, True)),
)
"""The same for histories of graphs in graphs: many differ in the constant of a branch, or in which branch is taken."""
