"""Models of hardware's sizes: the same each time, legal, spread, and of results that tell something."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy
import pytest

from npu_conformance.corpus import drawn, strategies
from npu_conformance.corpus.drawn.covering import Covering, History
from npu_conformance.corpus.random_graphs.dice import Dice
from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.wire_model import build_model, build_request
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.versions import NEWEST, Version

SOME = ("CONV_2D", "ADD", "PAD", "SPLIT", "SOFTMAX", "TOPK_V2", "LSTM", "ROI_POOLING", "WHILE")
MOST_ELEMENTS = 4096


def models(operation: str, version: Version = NEWEST) -> Iterator[Vector]:
    return drawn.models(operation, 0, version)


def test_every_operation_that_has_a_recipe_has_models() -> None:
    assert set(drawn.operations()) == set(strategies.operations())


@pytest.mark.parametrize("operation", SOME)
@pytest.mark.parametrize("version", [Version.V1_0, Version.V1_2, NEWEST], ids=str)
def test_models_are_valid_and_small(operation: str, version: Version) -> None:
    for vector in itertools.islice(models(operation, version), 6):
        assert validate_model(build_model(vector, version).model, version) == []
        assert all(math.prod(operand.dimensions) <= MOST_ELEMENTS for operand in vector.operands.values())


def test_a_seed_makes_the_same_models_each_time_and_another_seed_others() -> None:
    def texts(seed: int) -> list[str]:
        found = itertools.islice(drawn.models("CONV_2D", seed, NEWEST), 4)
        return [repr(build_request(one, one.examples[0], NEWEST)) for one in found]

    assert texts(0) == texts(0)
    assert texts(0) != texts(1)


def test_results_that_are_compared_are_not_all_alike() -> None:
    for vector in itertools.chain(models("MUL"), models("TOPK_V2")):
        values = next(iter(vector.examples[0].outputs.values()))
        assert values.size == 1 or len(numpy.unique(values)) > 1
    assert vector.ignored == vector.outputs[1:]


def test_a_seed_has_every_order_of_four_axes() -> None:
    orders = {tuple(vector.operands["perm"].value.tolist()) for vector in models("TRANSPOSE")}  # type: ignore[union-attr]
    assert len([order for order in orders if len(order) == 3]) == math.factorial(3)
    assert len([order for order in orders if len(order) == 4]) == math.factorial(4)


def test_decisions_take_each_pair_before_they_repeat_one() -> None:
    history, pairs = History(), set()
    for number in range(12):
        covering = Covering(history, Dice(str(number)))
        pairs.add((covering.named("window", 3), covering.named("stride", 4)))
        history.add(covering.taken)
    assert len(pairs) == 12
