"""Shrinking: what is left still fails, is small, and is a valid graph with right expected values."""

from __future__ import annotations

import numpy
import pytest

from npu_conformance.corpus import random_graphs, strategies
from npu_conformance.corpus.generators.data import Array
from npu_conformance.corpus.random_graphs import GraphRecipe, shrinking
from npu_conformance.corpus.random_graphs.shrinking import shrunk
from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.versions import NEWEST

RECIPE = GraphRecipe(size=12, types=("TENSOR_FLOAT32",), ranks=(4,))


def types(vector: Vector) -> list[str]:
    return [operation.type for operation in vector.operations]


def seams(vector: Vector) -> set[tuple[str, str]]:
    """Pairs of operations of which the second reads a result of the first."""
    made = {name: operation.type for operation in vector.operations for name in operation.outputs}
    return {(made[name], one.type) for one in vector.operations for name in one.inputs if name in made}


def check_sound(vector: Vector) -> None:
    assert vector.inputs
    assert not validate_model(build_model(vector, NEWEST).model, NEWEST, text_rules=True)
    for name, array in strategies.expected(vector).items():
        numpy.testing.assert_array_equal(array, vector.examples[0].outputs[name])


def test_one_operation_is_left_of_what_one_operation_does() -> None:
    for seed in range(4):
        vector = random_graphs.graph(seed, RECIPE)
        wanted = vector.operations[6].type
        small = shrunk(vector, lambda one, wanted=wanted: wanted in types(one))  # type: ignore[misc]
        assert types(small) == [wanted]
        check_sound(small)


def test_two_are_left_of_what_is_between_two() -> None:
    for seed in range(4):
        vector = random_graphs.graph(seed, RECIPE)
        pair = sorted(seams(vector))[0]
        small = shrunk(vector, lambda one, pair=pair: pair in seams(one))  # type: ignore[misc]
        assert len(small.operations) == 2
        check_sound(small)


def test_the_oracles_compute_a_graph_once_for_all_that_is_cut_out_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    vector, evaluated, values_of = random_graphs.graph(0, RECIPE), list[Vector](), shrinking.values_of

    def counted(whole: Vector) -> dict[str, Array]:
        evaluated.append(whole)
        return values_of(whole)

    monkeypatch.setattr(shrinking, "values_of", counted)
    for candidates in (shrinking._single_operations, shrinking._without_operations):
        evaluated.clear()
        assert len(list(candidates(vector))) > 1
        assert len(evaluated) == 1


def test_sizes_and_values_shrink_too() -> None:
    vector = random_graphs.graph(5, GraphRecipe(size=3, operations=("ADD", "MUL", "RELU"), types=("TENSOR_FLOAT32",)))
    small = shrunk(vector, lambda one: True)
    assert len(small.operations) == 1
    assert all(max(array.shape, default=1) == 1 for array in small.examples[0].inputs.values())
    assert all(not array.any() for array in small.examples[0].inputs.values())
    check_sound(small)


def test_trials_are_limited_and_nothing_better_leaves_the_graph() -> None:
    tried = []

    def fails(one: Vector) -> bool:
        tried.append(one)
        return False

    vector = random_graphs.graph(1, RECIPE)
    assert shrunk(vector, fails, trials=7) is vector
    assert len(tried) == 7
