"""Random graphs: models of several operations that follow from a seed, with expected values by the oracles.

    from npu_conformance.corpus import random_graphs

    vector = random_graphs.graph(7, random_graphs.GraphRecipe(size=5))

Requirements: RGG-001 to -014. `harness.judge.graphs` judges what a device computes for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from npu_conformance.corpus.random_graphs.recipes import LARGE, SMALL, GraphRecipe

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Vector

__all__ = ["LARGE", "SMALL", "GraphRecipe", "graph"]


def graph(seed: int, recipe: GraphRecipe) -> Vector:
    """The graph of a seed, with one example and its expected values by the oracles.

    Raises LookupError where the recipe allows no operation, or none that can be made.
    """
    # Listing cases has no need of what makes graphs.
    from npu_conformance.corpus.random_graphs import growing

    return growing.graph(seed, recipe)
