"""The graphs that everybody runs: fixed recipes, of which each has the seeds 0 to 49 (RGG-002)."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from npu_conformance.corpus.random_graphs.recipes import LARGE, SMALL, GraphRecipe
from npu_conformance.specs.neuralnetworks.enums import OperationType
from npu_conformance.specs.versions import NEWEST, Version

if TYPE_CHECKING:
    from npu_conformance.corpus.strategies import Form

SEEDS = 50
WIDE = 1000
"""The largest dimension of graphs that are not large (RGG-002)."""

TYPES: Mapping[str, tuple[str, Version]] = {
    "float32": ("TENSOR_FLOAT32", Version.V1_2),
    "float16": ("TENSOR_FLOAT16", Version.V1_2),
    "int32": ("TENSOR_INT32", Version.V1_2),
    "bool8": ("TENSOR_BOOL8", Version.V1_2),
    "quant8": ("TENSOR_QUANT8_ASYMM", Version.V1_2),
    "quant8_signed": ("TENSOR_QUANT8_ASYMM_SIGNED", Version.V1_3),
}
"""The primary types as ids spell them, each with the first version whose results count (RGG-014)."""
RANKS = (4, 3, 2, 1)
WITHOUT_GRAPHS = ("BOX_WITH_NMS_LIMIT", "DETECTION_POSTPROCESSING", "GENERATE_PROPOSALS", "RANDOM_MULTINOMIAL")
"""How many boxes are left follows from values, so that a model declares no shape; samples have no expected value."""


@functools.cache
def recipes(size: int) -> dict[str, GraphRecipe]:
    """A recipe for each primary type and rank, and one for all of them together, by name."""
    plain = (
        GraphRecipe(size=size, largest=10, most_elements=400) if size >= LARGE else GraphRecipe(size=size, wide=WIDE)
    )
    found = {
        f"{name}_rank{rank}": replace(plain, version=version, types=(kind,), ranks=(rank,))
        for name, (kind, version) in TYPES.items()
        for rank in RANKS
    }
    return {**found, "mixed": plain}


def small() -> dict[str, GraphRecipe]:
    """The recipes of small graphs."""
    return recipes(SMALL)


def large() -> dict[str, GraphRecipe]:
    """The recipes of large graphs."""
    return recipes(LARGE)


def operations(wanted: Sequence[str] = ()) -> tuple[str, ...]:
    """The operations that have graphs, of those that are wanted; all if none is. Imports nothing that makes graphs."""
    known = [member.name for member in OperationType if member is not OperationType.OEM_OPERATION]
    return tuple(name for name in known if name not in WITHOUT_GRAPHS and (not wanted or name in wanted))


def has_type(recipe: GraphRecipe, types: Collection[str]) -> bool:
    """True where an operation of a recipe has a tensor of one of the types."""
    from npu_conformance.corpus.random_graphs.choices import choices, tensor_types

    found = [form for forms in choices(recipe).forms.values() for form in forms]
    return any(not tensor_types(form).isdisjoint(types) for form in found)


@functools.cache
def single(operation: str) -> dict[str, GraphRecipe]:
    """A recipe for each form of an operation, by name."""
    from npu_conformance.corpus import strategies

    return {_name(form): _alone(form) for form in strategies.forms(NEWEST, operation)}


def _name(form: Form) -> str:
    return "_".join((form.signature.variant, *form.types.values()))


def _alone(form: Form) -> GraphRecipe:
    since = next(one for one, added in form.signature.types.items() if form.types in added)
    return GraphRecipe(
        size=1, version=max(since, Version.V1_2), operations=(form.operation,), form=str(form), largest=6, wide=WIDE
    )
