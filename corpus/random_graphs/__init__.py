"""Random graphs: models of several operations that follow from a seed, with expected values by the oracles.

    from npu_conformance.corpus import random_graphs

    vector = random_graphs.graph(7, random_graphs.GraphRecipe(size=5))

Requirements: RGG-001 to -014. `harness.judge.graphs` judges what a device computes for them.
"""

from npu_conformance.corpus.random_graphs.growing import graph
from npu_conformance.corpus.random_graphs.recipes import LARGE, SMALL, GraphRecipe

__all__ = ["LARGE", "SMALL", "GraphRecipe", "graph"]
