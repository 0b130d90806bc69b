"""Lets a graph grow operation by operation: recipes propose, the rules and the values of the results decide.

An operation that breaks a rule, or whose results are not finite, too large or dull, is dropped and another is proposed.
Since the oracles compute every result at once, what an operation needs of its inputs (a divisor that is not 0) is
looked up in their values: no system of constraints has to be solved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.corpus import strategies
from npu_conformance.corpus.generators.operands import OperandSpec
from npu_conformance.corpus.random_graphs import results
from npu_conformance.corpus.random_graphs.calls import GraphCall, Reused, Tensors
from npu_conformance.corpus.random_graphs.choices import choices
from npu_conformance.corpus.random_graphs.dice import Dice
from npu_conformance.corpus.random_graphs.recipes import GraphRecipe
from npu_conformance.corpus.strategies.calls import Form, Unfit
from npu_conformance.corpus.vector_types import Example, Graph, Vector, VectorOperand, VectorOperation
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

if TYPE_CHECKING:
    from npu_conformance.corpus.strategies.calls import Arguments
    from npu_conformance.corpus.vectors import Array

_PALETTE = 3
"""How many sizes the new tensors of a graph have, so that tensors of equal shape are frequent."""
_WIDE_SEEDS, _NARROW = 8, 10
"""One seed in so many has a dimension beyond the second number, where its recipe wants that."""
_ATTEMPTS = 100
"""Proposals for one more operation before a graph is given up."""


def graph(seed: int, recipe: GraphRecipe) -> Vector:
    """The graph of a seed, with one example and its expected values by the oracles.

    Raises LookupError where the recipe allows no operation, or none that can be made.
    """
    wide = recipe.wide if seed % _WIDE_SEEDS == _WIDE_SEEDS - 1 else 0
    for attempt in range(_ATTEMPTS):
        growing = _Growing(recipe, Dice(f"{seed} {attempt} {recipe}"), wide)
        if growing.grow():
            return growing.vector(f"seed_{seed}")
    raise LookupError(f"no graph found for seed {seed}: {recipe}")


@dataclass(frozen=True)
class _Step:
    """An operation that fits: as a model of its own, and where its operands are in the graph."""

    alone: Vector
    reused: Mapping[str, str]
    results: Mapping[str, Array]


@dataclass
class _Growing:
    recipe: GraphRecipe
    dice: Dice
    wide: int = 0
    tensors: Tensors = field(default_factory=Tensors)
    operands: dict[str, VectorOperand] = field(default_factory=dict)
    inputs: dict[str, Array] = field(default_factory=dict)
    operations: list[VectorOperation] = field(default_factory=list)
    referenced: list[Graph] = field(default_factory=list)
    ignored: set[str] = field(default_factory=set)
    values: dict[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Choose the few sizes that the tensors of this graph have."""
        self.choices = choices(self.recipe)
        self.sizes = [1 + self.dice.below(self.recipe.largest) for _ in range(_PALETTE)]
        if self.wide:
            self.sizes[0] = _NARROW + 1 + self.dice.below(self.wide - _NARROW)

    def grow(self) -> bool:
        """Add all operations; False where one could not be found, or nothing is left to be an input."""
        return all(self._add_one() for _ in range(self.recipe.size)) and bool(self.inputs)

    def vector(self, name: str) -> Vector:
        """The graph. Operands, inputs and outputs stand in any order."""
        read = {operand for operation in self.operations for operand in operation.inputs}
        produced = [operand for operation in self.operations for operand in operation.outputs]
        wanted = [one for one in produced if one not in read or self.dice.chance(1, 5)]
        outputs = tuple(self.dice.shuffled(wanted))
        return Vector(
            name,
            self.operations[-1].type,
            self.recipe.version,
            {one: self.operands[one] for one in self.dice.shuffled(tuple(self.operands))},
            tuple(self.operations),
            tuple(self.dice.shuffled(tuple(self.inputs))),
            outputs,
            (Example(self.inputs, {one: self.values[one] for one in outputs}),),
            witnesses=("oracle",),
            ignored=tuple(one for one in outputs if one in self.ignored),
            referenced=tuple(self.referenced),
        )

    def _add_one(self) -> bool:
        for _ in range(_ATTEMPTS):
            try:
                step = self._proposed(self._form())
            except Unfit:
                continue
            self._take(step)
            return True
        return False

    def _form(self) -> Form:
        """A form, seven times out of eight one that reads a type of which a result is still unread."""
        names, unread = self.choices.names, [self.tensors.operands[name] for name in self.tensors.unread]
        if not unread or not self.dice.chance(7, 8):
            return self.dice.pick(self.choices.forms[self.dice.pick(names)])
        waiting = frozenset([(int(one.type), len(one.dimensions)) for one in unread])
        for _ in names:
            name = self.dice.pick(names)
            if self.choices.readers(name, waiting):
                return self.dice.pick(self.choices.readers(name, waiting))
        return self.dice.pick(self.choices.forms[name])

    def _proposed(self, form: Form) -> _Step:
        version, dice = self.recipe.version, self.dice
        count = strategies.input_count(form, version, dice)
        call = GraphCall(
            form, version, dice, dice, count,
            dice=dice, recipe=self.recipe, tensors=self.tensors, sizes=self.sizes,
            has_input=bool(self.inputs), wide=self.wide,
        )  # fmt: skip
        arguments = _connected(call, strategies.recipes()[form.operation](call))
        reused = _reused(arguments)
        if self.tensors.unread and not reused and dice.chance(15, 16):
            raise Unfit(f"{form} reads nothing of the graph")
        alone = strategies.assembled(call, arguments)
        results.check_sizes(alone, max(self.recipe.most_elements, self.wide))
        found = strategies.expected(alone)
        results.check_values(alone, found, dice)
        return _Step(alone, reused, found)

    def _take(self, step: _Step) -> None:
        number = len(self.operations)
        names = {name: step.reused.get(name, f"n{number}_{name}") for name in step.alone.operands}
        for name, operand in step.alone.operands.items():
            if names[name] not in self.operands:
                self._add_operand(names[name], operand, step.alone.examples[0].inputs.get(name))
        self.referenced.extend(step.alone.referenced)
        (operation,) = step.alone.operations
        reads = tuple(names[name] for name in operation.inputs)
        writes = tuple(names[name] for name in operation.outputs)
        self.operations.append(VectorOperation(operation.type, reads, writes))
        for name in reads:
            self.tensors.unread.pop(name, None)
        for position, name in enumerate(operation.outputs):
            self._add_result(operation.type, position, names[name], step.results[name])

    def _add_operand(self, name: str, operand: VectorOperand, given: Array | None) -> None:
        if operand.subgraph is not None:
            operand = replace(operand, subgraph=operand.subgraph + len(self.referenced))
        self.operands[name] = operand
        if given is not None:
            self.inputs[name] = given
        values = operand.value if given is None else given
        # The scale of an int32 is that of a bias: no other operation may read one.
        info = OPERAND_TYPES[operand.type]
        is_bias = bool(operand.scale) and not info.is_quantized
        if values is not None and operand.channel_quant is None and info.is_tensor and not is_bias:
            self.tensors.add(name, operand, values)

    def _add_result(self, operation: str, position: int, name: str, values: Array) -> None:
        self.values[name] = values
        if results.is_ignored(operation, position):
            self.ignored.add(name)
        elif results.may_be_read(operation, position):
            self.tensors.add(name, self.operands[name], values)
            self.tensors.unread[name] = None


def _connected(call: GraphCall, arguments: Arguments) -> Arguments:
    """Recipes of recurrent operations make their operands without asking: some of those are tensors of the graph."""
    if not call.form.operation.endswith("LSTM"):
        return arguments
    return {
        name: call.connected(given) if isinstance(given, OperandSpec) else given for name, given in arguments.items()
    }


def _reused(arguments: Arguments) -> dict[str, str]:
    """Names in the graph of those operands of a call that are there already."""
    named = {}
    for name, given in arguments.items():
        if isinstance(given, OperandSpec):
            named[name] = given
        else:
            named.update({f"{name}{number}": one for number, one in enumerate(given)})
    return {name: one.name for name, one in named.items() if isinstance(one, Reused)}
