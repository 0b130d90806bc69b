"""Makes the models of recipes: sums in the main graph, in the branches of IF, or in the body of WHILE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import DataLocation, Memory, Model, Operand, Operation, Subgraph
from npu_conformance.vts.lib.addition import SIZE, Pair
from npu_conformance.vts.lib.histories.recipes import Recipe
from npu_conformance.vts.lib.structure_models import COPY, INPUT, OUTPUT, POOL, constant, graph, reference, tensor

RELU = 1
_OTHERS: tuple[Pair, ...] = ((3.0, -2.5), (-1.75, 2.0))
"""Constants of a branch that is not taken."""
_NUMBER = 4
"""Bytes of an INT32: the activation is the first of the values of a model."""


def model_of(recipe: Recipe, *pools: Memory) -> Model:
    """The model. pools: hold a constant each in their first bytes, where the recipe has them there."""
    values = (RELU if recipe.is_clipped else 0).to_bytes(_NUMBER, "little")
    if not recipe.in_pool:
        values += b"".join(map(recipe.chosen.packed, recipe.constants + _OTHERS[: _others(recipe)]))
    maker = _Maker(recipe, len(values))
    if recipe.rounds is not None:
        values += b"".join(number.to_bytes(_NUMBER, "little") for number in (0, 1, recipe.rounds))
        main, referenced = maker.loop()
    elif recipe.branch is not None:
        values += bytes([recipe.branch])
        main, referenced = maker.branches()
    else:
        main, referenced = maker.sums(recipe.terms), ()
    return Model(main, referenced, operand_values=values, pools=pools)


def _others(recipe: Recipe) -> int:
    """How many constants the branch has that is not taken: as many as the other, so that nothing else differs."""
    return 0 if recipe.branch is None or recipe.in_pool else len(recipe.constants)


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes the graphs of a recipe. more: where values of IF or WHILE follow the constants."""

    recipe: Recipe
    more: int

    def sums(self, terms: tuple[tuple[int, int], ...], constants: Sequence[int] | None = None) -> Subgraph:
        """The sums as a graph: operands are the inputs, the constants, the activation and the outputs.

        constants: where they are stored, by their number; in their own order where that is not said.
        """
        recipe, is_turned = self.recipe, self.recipe.is_turned
        used = [tuple(map(self._operand, pair)) for pair in (terms[::-1] if is_turned else terms)]
        code = recipe.inputs + len(recipe.constants)
        stored = [self._constant(at) for at in constants or range(len(recipe.constants))]
        operands = [*self._inputs(), *stored, self._activation(), *(self._tensor(OUTPUT) for _ in used)]
        operations = [
            Operation(OperationType.ADD, (*pair, code), (code + 1 + number,)) for number, pair in enumerate(used)
        ]
        made = graph(operands, operations)
        if not is_turned:
            return made
        return replace(made, input_indexes=made.input_indexes[::-1], output_indexes=made.output_indexes[::-1])

    def branches(self) -> tuple[Subgraph, tuple[Subgraph, ...]]:
        """IF whose arguments are those of its branches.

        The one that is not taken differs in its constants, where it has others, or adds the first terms to themselves.
        """
        terms, count = self.recipe.terms, len(self.recipe.constants)
        stored = range(count, count + _others(self.recipe)) or range(count)[::-1]
        sums = self.sums(terms)
        others = self.sums(
            terms if _others(self.recipe) or count > 1 else tuple((one, one) for one, _ in terms), stored
        )
        condition = constant(OperandType.TENSOR_BOOL8, (1,), self.more, 1)
        inputs, outputs = self._inputs(), [self._tensor(OUTPUT) for _ in self.recipe.terms]
        taken = tuple(range(3, 3 + len(inputs)))
        given = tuple(range(3 + len(inputs), 3 + len(inputs) + len(outputs)))
        operands = [condition, reference(0), reference(1), *inputs, *outputs]
        main = graph(operands, [Operation(OperationType.IF, (0, 1, 2, *taken), given)])
        return main, (sums, others) if self.recipe.branch else (others, sums)

    def loop(self) -> tuple[Subgraph, tuple[Subgraph, ...]]:
        """WHILE that carries the sums, and a counter which is no output; the inputs are the same in each round."""
        inputs, terms = self._inputs(), self.recipe.terms
        operands = [reference(0), reference(1), self._number(0), *inputs, *(self._tensor(OUTPUT) for _ in terms)]
        sums, taken = tuple(3 + first for first, _ in terms), tuple(range(3, 3 + len(inputs)))
        given = tuple(range(3 + len(inputs), len(operands)))
        main = graph(operands, [Operation(OperationType.WHILE, (0, 1, *sums, 2, *taken), given)])
        return main, (self._condition(), self._body())

    def _condition(self) -> Subgraph:
        """The counter is less than the number of rounds."""
        carried = self._carried()
        operands = [*carried, self._number(2), tensor(OperandType.TENSOR_BOOL8, (1,), OUTPUT)]
        counter = len(self.recipe.terms)
        return graph(operands, [Operation(OperationType.LESS, (counter, len(carried)), (len(carried) + 1,))])

    def _body(self) -> Subgraph:
        """Each sum grows by its second term, and the counter by 1."""
        carried, terms = self._carried(), self.recipe.terms
        counter, code = len(terms), len(carried) + len(self.recipe.constants)
        stored = [self._constant(at) for at in range(len(self.recipe.constants))]
        operands = [*carried, *stored, self._activation(), self._number(1)]
        results = [*(self._tensor(OUTPUT) for _ in terms), tensor(OperandType.TENSOR_INT32, (1,), OUTPUT)]
        added = [(number, counter + 1 + other) for number, (_, other) in enumerate(terms)] + [(counter, code + 1)]
        first = len(operands)
        operations = [
            Operation(OperationType.ADD, (*pair, code), (first + number,)) for number, pair in enumerate(added)
        ]
        return graph([*operands, *results], operations)

    def _carried(self) -> list[Operand]:
        """What both graphs of a loop get: the sums, the counter, the inputs."""
        counter = tensor(OperandType.TENSOR_INT32, (1,), INPUT)
        return [*(self._tensor(INPUT) for _ in self.recipe.terms), counter, *self._inputs()]

    def _inputs(self) -> list[Operand]:
        return [self._tensor(INPUT) for _ in range(self.recipe.inputs)]

    def _operand(self, term: int) -> int:
        is_turned = self.recipe.is_turned and term < self.recipe.inputs
        return self.recipe.inputs - 1 - term if is_turned else term

    def _tensor(self, lifetime: int) -> Operand:
        return self._of_type(self.recipe.declared, lifetime)

    def _constant(self, number: int) -> Operand:
        elements = (self.recipe.chosen.elements,)
        if self.recipe.in_pool:
            return self._of_type(elements, POOL, location=DataLocation(number, length=SIZE))
        return self._of_type(elements, COPY, location=DataLocation(0, _NUMBER + number * SIZE, SIZE))

    def _of_type(self, shape: tuple[int, ...], lifetime: int, **rest: Any) -> Operand:
        chosen = self.recipe.chosen
        return tensor(chosen.operand_type, shape, lifetime, scale=chosen.scale, zero_point=chosen.zero_point, **rest)

    def _activation(self) -> Operand:
        if self.recipe.asks_activation:
            return tensor(OperandType.INT32, (), INPUT)
        return constant(OperandType.INT32, (), 0, _NUMBER)

    def _number(self, at: int) -> Operand:
        """One of the numbers of a loop, as a tensor."""
        return constant(OperandType.TENSOR_INT32, (1,), self.more + at * _NUMBER, _NUMBER)
