"""Random graphs: models of one, five and forty operations that follow from seeds, against the oracles.

The sub-verdicts of a case are its seeds, or the forms of its operation. `npu-conformance graphs` runs any others.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Iterator, Mapping

from npu_conformance.corpus import random_graphs
from npu_conformance.corpus.random_graphs import GraphRecipe, official
from npu_conformance.harness.run.cases import Case, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.random_graph_cases import REQUIREMENTS, Graphs, case_from, run_graphs

__all__ = ["case_from", "cases"]

_FULL_SEEDS = 5
"""Seeds of each form of an operation in the full scope; the default scope has one form with one seed, and one seed of
each recipe of which the full scope has all."""


def cases() -> Iterator[Case]:
    """A case for each recipe of small and large graphs, and one for each operation."""
    for size, recipes in (("small", official.small()), ("large", official.large())):
        for name, recipe in recipes.items():
            yield _of_recipe(size, name, recipe)
    for operation in official.operations():
        yield _of_operation(operation)


def _of_recipe(size: str, name: str, recipe: GraphRecipe) -> Case:
    def graphs_of(context: CaseContext) -> Graphs:
        seeds = range(official.SEEDS if context.scope is Scope.FULL else 1)
        return {f"seed_{seed}": functools.partial(random_graphs.graph, seed, recipe) for seed in seeds}

    return Case(
        f"vts.random_graphs.{size}.{name}", lambda context: run_graphs(context, graphs_of(context)), REQUIREMENTS,
        f"random graphs of {recipe}", since=recipe.version, group=Group.EXECUTION, types=recipe.types,
    )  # fmt: skip


def _of_operation(operation: str) -> Case:
    def graphs_of(context: CaseContext) -> Graphs:
        recipes = official.single(operation)
        legal = {name: recipe for name, recipe in recipes.items() if recipe.version <= context.version}
        if context.scope is Scope.FULL:
            return {
                f"{name}.seed_{seed}": functools.partial(random_graphs.graph, seed, recipe)
                for name, recipe in legal.items()
                for seed in range(_FULL_SEEDS)
            }
        few = _few_of(operation, legal)
        return {f"{name}.seed_0": functools.partial(random_graphs.graph, 0, recipe) for name, recipe in few.items()}

    return Case(
        f"vts.random_graphs.{operation}.single",
        lambda context: run_graphs(context, graphs_of(context)),
        REQUIREMENTS,
        f"random models of {operation} alone",
        since=max(catalogue.operation(operation).since, Version.V1_2),
        group=Group.EXECUTION,
        operations=(operation,),
    )


def _few_of(operation: str, recipes: Mapping[str, GraphRecipe]) -> dict[str, GraphRecipe]:
    """One form of an operation: another one for each, so that every type is among them."""
    names = list(recipes)
    name = names[zlib.crc32(operation.encode()) % len(names)]
    return {name: recipes[name]}
