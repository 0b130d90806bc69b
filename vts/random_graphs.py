"""Random graphs: models of one, five and forty operations that follow from seeds, against the oracles.

The sub-verdicts of a case are its seeds, or the forms of its operation. `npu-conformance graphs` runs any others.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from npu_conformance.corpus import random_graphs, strategies
from npu_conformance.corpus.random_graphs import GraphRecipe, official
from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.vectors.writing import document_of
from npu_conformance.harness.judge.outcome_table import is_red
from npu_conformance.harness.run.cases import Case, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.vector_cases import vector_from
from npu_conformance.vts.lib.random_graphs import REQUIREMENTS, case_of, run_graph

_RARE = ("large.*_rank3", "large.*_rank1")
"""Cases of the full scope alone. The default scope has one seed of each other recipe, the full scope has all."""
_FULL_SEEDS = 5
"""Seeds of each form of an operation in the full scope; the default scope has one form with one seed."""

Graphs = Mapping[str, Callable[[], Vector]]
"""What makes a graph, by the name of its sub-verdict."""


def cases() -> Iterator[Case]:
    """A case for each recipe of small and large graphs, and one for each operation."""
    for size, recipes in (("small", official.small()), ("large", official.large())):
        for name, recipe in recipes.items():
            yield _of_recipe(size, name, recipe)
    for operation in strategies.operations():
        yield _of_operation(operation)


def case_from(payload: Any) -> Case:
    """The case of a failure file, which holds the graphs that failed."""
    if "vector" in payload:
        return case_of(vector_from(payload), payload["id"])
    graphs = {name: functools.partial(vector_from, one) for name, one in payload["graphs"].items()}
    return Case(payload["id"], functools.partial(_run, graphs_of=lambda _: graphs), REQUIREMENTS, "random graphs")


def _of_recipe(size: str, name: str, recipe: GraphRecipe) -> Case:
    def graphs_of(context: CaseContext) -> Graphs:
        seeds = range(official.SEEDS if context.scope is Scope.FULL else 1)
        return {f"seed_{seed}": functools.partial(random_graphs.graph, seed, recipe) for seed in seeds}

    return Case(
        f"vts.random_graphs.{size}.{name}", functools.partial(_run, graphs_of=graphs_of), REQUIREMENTS,
        f"random graphs of {recipe}", since=recipe.version, group=Group.EXECUTION, types=recipe.types,
        scope=Scope.FULL if any(fnmatchcase(f"{size}.{name}", rare) for rare in _RARE) else Scope.DEFAULT,
    )  # fmt: skip


def _of_operation(operation: str) -> Case:
    recipes = official.single(operation)

    def graphs_of(context: CaseContext) -> Graphs:
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
        f"vts.random_graphs.{operation}.single", functools.partial(_run, graphs_of=graphs_of), REQUIREMENTS,
        f"random models of {operation} alone", since=min(recipe.version for recipe in recipes.values()),
        group=Group.EXECUTION, operations=(operation,),
    )  # fmt: skip


def _few_of(operation: str, recipes: Mapping[str, GraphRecipe]) -> dict[str, GraphRecipe]:
    """One form of an operation: another one for each, so that every type is among them."""
    names = list(recipes)
    name = names[zlib.crc32(operation.encode()) % len(names)]
    return {name: recipes[name]}


def _run(context: CaseContext, graphs_of: Callable[[CaseContext], Graphs]) -> None:
    """Give every graph a verdict of its own; the failure file gets those that failed."""
    graphs = graphs_of(context)
    context.attach(lambda: {"id": context.case.id, "graphs": _red(context, graphs)})
    for name, make in graphs.items():
        if context.wants(name):
            with context.configuration(name):
                run_graph(context, make())


def _red(context: CaseContext, graphs: Graphs) -> dict[str, Any]:
    red = [name for name, record in context.configurations.items() if is_red(record.details.outcome)]
    vectors = {name: graphs[name]() for name in red}
    return {name: {"id": name, "operation": one.operation, "vector": document_of(one)} for name, one in vectors.items()}
