"""Which forms of operations a recipe allows."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from npu_conformance.corpus import strategies
from npu_conformance.corpus.random_graphs.recipes import GraphRecipe
from npu_conformance.corpus.strategies import Form
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import VectorOperand


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
