"""What a random graph is made of, besides its seed."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from npu_conformance.corpus import strategies
from npu_conformance.corpus.strategies import Form
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import VectorOperand

SMALL, LARGE = 5, 40
"""Operations of AOSP's small and large graphs (TestRandomGraph.cpp)."""


@dataclass(frozen=True)
class GraphRecipe:
    """A kind of graphs. Equal recipe and equal seed make equal graphs.

    size: number of operations. version: whose rules hold. types: names of types of tensors, of which every operation
    has one; empty for any. ranks: of the tensors that are made anew, where an operation allows them; empty for any.
    operations: names; empty for all that there are. form: the only form, as it prints; for graphs of one operation.
    largest: dimension of a tensor that is made anew. most_elements: of any tensor.
    """

    size: int = SMALL
    version: Version = Version.V1_3
    types: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    operations: tuple[str, ...] = ()
    form: str = ""
    largest: int = 4
    most_elements: int = 256

    def __str__(self) -> str:
        parts = [
            f"{self.size} operations",
            f"HAL {self.version}",
            *self.types,
            *(f"rank {rank}" for rank in self.ranks),
        ]
        parts += [*self.operations, self.form, f"sizes to {self.largest}", f"{self.most_elements} elements"]
        return ", ".join(part for part in parts if part)


@dataclass(frozen=True)
class Choice:
    """A form that may be chosen. reads: the types of its first two inputs with their legal ranks, None for any."""

    form: Form
    reads: tuple[tuple[OperandType, tuple[int, ...] | None], ...]

    def may_read(self, operand: VectorOperand) -> bool:
        """True where a tensor could be one of its first two inputs."""
        rank = len(operand.dimensions)
        return any(kind is operand.type and (ranks is None or rank in ranks) for kind, ranks in self.reads)


@functools.lru_cache(maxsize=1024)
def choices(recipe: GraphRecipe) -> dict[str, tuple[Choice, ...]]:
    """The forms of a recipe by operation. Raises LookupError where there is none."""
    found: dict[str, list[Choice]] = {}
    for name in recipe.operations or strategies.operations():
        fitting = [Choice(form, _reads(form)) for form in strategies.forms(recipe.version, name) if _fits(form, recipe)]
        if fitting:
            found[name] = fitting
    if not found:
        raise LookupError(f"no operation fits the recipe: {recipe}")
    return {operation: tuple(forms) for operation, forms in found.items()}


def _fits(form: Form, recipe: GraphRecipe) -> bool:
    if recipe.form and str(form) != recipe.form:
        return False
    if recipe.types and not tensor_types(form).intersection(recipe.types):
        return False
    return not recipe.ranks or _has_rank(form, recipe)


def tensor_types(form: Form) -> frozenset[str]:
    """The types of all tensors that a form reads and writes; empty for IF and WHILE, whose operands may be any."""
    arguments = (*form.signature.inputs, *form.signature.outputs)
    named = [form.types.get(argument.type, argument.type) for argument in arguments]
    return frozenset(name for name in named if name in OperandType.__members__ and _is_tensor(name))


def _reads(form: Form) -> tuple[tuple[OperandType, tuple[int, ...] | None], ...]:
    named = [(form.types.get(argument.type, argument.type), argument.rank) for argument in form.signature.inputs[:2]]
    return tuple(
        (OperandType[name], rank) for name, rank in named if name in OperandType.__members__ and _is_tensor(name)
    )


def _is_tensor(name: str) -> bool:
    return OPERAND_TYPES[OperandType[name]].is_tensor


def _has_rank(form: Form, recipe: GraphRecipe) -> bool:
    first = form.signature.inputs[0]
    return first.rank is None or bool(set(first.rank).intersection(recipe.ranks))
