"""Which forms of operations a recipe allows."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from npu_conformance.corpus import strategies
from npu_conformance.corpus.random_graphs.recipes import GraphRecipe
from npu_conformance.corpus.strategies import Form
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

Kind = tuple[int, int]
"""The type of a tensor, and its rank."""


@dataclass(frozen=True)
class Choice:
    """A form with what it reads: the types of its first two inputs with their legal ranks, None for any."""

    form: Form
    reads: tuple[tuple[OperandType, tuple[int, ...] | None], ...]

    def may_read(self, tensor: Kind) -> bool:
        """True where a tensor could be one of its first two inputs."""
        return any(kind == tensor[0] and (ranks is None or tensor[1] in ranks) for kind, ranks in self.reads)


class Choices:
    """The forms of a recipe. forms: by operation. names: of the operations."""

    def __init__(self, forms: Mapping[str, Sequence[Form]]) -> None:
        self.forms, self.names = forms, tuple(forms)
        self._choices = {name: [Choice(one, _reads(one)) for one in found] for name, found in forms.items()}
        self._readers = functools.lru_cache(maxsize=1 << 14)(self._find_readers)

    def readers(self, name: str, tensors: frozenset[Kind]) -> Sequence[Form]:
        """The forms of an operation of which one of the first two inputs could be one of the tensors."""
        return self._readers(name, tensors)

    def _find_readers(self, name: str, tensors: frozenset[Kind]) -> Sequence[Form]:
        return [choice.form for choice in self._choices[name] if any(map(choice.may_read, tensors))]


@functools.lru_cache(maxsize=1024)
def choices(recipe: GraphRecipe) -> Choices:
    """The forms of a recipe. Raises LookupError where there is none."""
    found: dict[str, list[Form]] = {}
    for name in recipe.operations or strategies.operations():
        fitting = [form for form in strategies.forms(recipe.version, name) if _fits(form, recipe)]
        if fitting:
            found[name] = fitting
    if not found:
        raise LookupError(f"no operation fits the recipe: {recipe}")
    return Choices(found)


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
