"""Random graphs: the same for the same seed, valid, connected, and right on the reference."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace

import numpy
import pytest

from npu_conformance.corpus import random_graphs, strategies
from npu_conformance.corpus.random_graphs import GraphRecipe, official
from npu_conformance.corpus.random_graphs.dice import Dice
from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.vectors.writing import document_of
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.versions import NEWEST, Version

SMALL = GraphRecipe()
SEEDS = range(40)


def digest(vector: Vector) -> str:
    return hashlib.sha256(json.dumps(document_of(vector), sort_keys=True).encode()).hexdigest()[:16]


def test_decisions_of_a_seed_never_change() -> None:
    dice = Dice("7 0")
    assert [dice.below(1000) for _ in range(6)] == [880, 251, 889, 710, 690, 885]
    assert dice.integers(-2, 3, (2, 3)).tolist() == [[2, 1, -1], [-1, -1, 2]]


def test_equal_seeds_make_equal_graphs_and_others_other_ones() -> None:
    digests = [digest(random_graphs.graph(seed, SMALL)) for seed in range(6)]
    assert digests == [digest(random_graphs.graph(seed, SMALL)) for seed in range(6)]
    assert len(set(digests)) == len(digests)


@pytest.mark.parametrize("size", [1, 5, 40])
def test_graphs_have_their_size_and_are_valid(size: int) -> None:
    for seed in range(3):
        vector = random_graphs.graph(seed, GraphRecipe(size=size))
        assert len(vector.operations) == size
        assert vector.inputs
        for version in (vector.since, NEWEST):
            assert not validate_model(build_model(vector, version).model, version, text_rules=True)


def test_new_tensors_are_bounded_as_results_are() -> None:
    """Without a bound four dimensions of up to 1000 end in a MemoryError."""
    recipe = GraphRecipe(size=3, largest=1000, most_elements=5000, operations=("ADD", "FULLY_CONNECTED", "TANH"))
    for seed in range(3):
        operands = random_graphs.graph(seed, recipe).operands.values()
        assert all(math.prod(operand.dimensions) <= 5000 for operand in operands)
        assert any(max(operand.dimensions, default=0) > 100 for operand in operands)


def test_an_operation_whose_values_have_no_limits_is_left_out() -> None:
    """The state of an LSTM that is drawn for this seed grows beyond 2^1024."""
    graph = random_graphs.graph(1164855, replace(official.small()["float16_rank3"], version=NEWEST))
    assert len(graph.operations) == SMALL.size


def test_expected_values_are_those_of_the_oracles() -> None:
    vector = random_graphs.graph(3, SMALL)
    for name, array in strategies.expected(vector).items():
        numpy.testing.assert_array_equal(array, vector.examples[0].outputs[name])


def test_most_operations_read_results_of_others() -> None:
    edges = []
    for seed in SEEDS:
        vector = random_graphs.graph(seed, SMALL)
        produced = {name for operation in vector.operations for name in operation.outputs}
        edges.append(sum(name in produced for operation in vector.operations for name in operation.inputs))
    assert sum(edges) / len(edges) > 3


def test_a_bias_is_read_by_one_operation_alone() -> None:
    recipe = GraphRecipe(size=6, operations=("FULLY_CONNECTED", "EXPAND_DIMS", "ABS"))
    for seed in range(20):
        vector = random_graphs.graph(seed, recipe)
        for name, operand in vector.operands.items():
            if operand.type.name == "TENSOR_INT32" and operand.scale:
                assert sum(operation.inputs.count(name) for operation in vector.operations) == 1


def test_operands_stand_in_any_order() -> None:
    orders = [list(random_graphs.graph(seed, SMALL).operands) for seed in SEEDS]
    assert any(names != sorted(names, key=lambda name: int(name[1:].partition("_")[0])) for names in orders)


def test_every_eighth_seed_of_small_graphs_is_wide() -> None:
    def largest(seed: int) -> int:
        vector = random_graphs.graph(seed, official.small()["float32_rank2"])
        return max(max(array.shape, default=0) for array in vector.examples[0].inputs.values())

    assert max(largest(seed) for seed in range(7)) <= 10
    assert max(largest(seed) for seed in (7, 15, 23, 31)) > 100


def test_every_official_recipe_makes_graphs() -> None:
    for recipe in (*official.small().values(), *official.large().values()):
        assert random_graphs.graph(0, recipe).operations


def test_every_form_makes_a_graph_of_its_own() -> None:
    assert official.operations() == strategies.operations()
    for operation in strategies.operations():
        recipes = official.single(operation)
        assert len(recipes) == len(strategies.forms(NEWEST, operation))
        for recipe in recipes.values():
            (made,) = random_graphs.graph(0, recipe).operations
            assert made.type == operation


def test_a_recipe_that_allows_no_operation_is_told() -> None:
    with pytest.raises(LookupError, match="no operation fits"):
        random_graphs.graph(0, GraphRecipe(version=Version.V1_0, operations=("BATCH_MATMUL",)))
