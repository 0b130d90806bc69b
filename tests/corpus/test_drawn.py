"""Models of hardware's sizes: the same each time, legal, spread, and of results that tell something."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy
import pytest

from npu_conformance.corpus import drawn, strategies
from npu_conformance.corpus.drawn import choosing, chosen, making
from npu_conformance.corpus.drawn.candidates import candidate, with_results
from npu_conformance.corpus.drawn.traits import kernel_of, traits, type_of
from npu_conformance.corpus.strategies.calls import Unfit
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


@pytest.mark.parametrize("operation", [*SOME, "FULLY_CONNECTED", "ARGMAX"])
def test_what_was_chosen_is_fit_and_says_something(operation: str) -> None:
    assert len(list(models(operation))) == len(chosen.numbers(operation, NEWEST)[0]) > 0


@pytest.mark.parametrize("seed", range(drawn.SEEDS))
def test_models_of_every_seed_say_something(seed: int) -> None:
    assert len(list(drawn.models("ADD", seed, NEWEST))) == len(chosen.numbers("ADD", NEWEST)[seed]) > 0


def test_a_chosen_model_that_is_unfit_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    unfit = next(number for number in range(100) if not _says_something(number))
    monkeypatch.setattr(making, "numbers", lambda operation, version: ((unfit,),))
    told = f"candidate {unfit} of ADD in {NEWEST} is unfit: .*; run `npu-conformance vectors choose ADD`"
    with pytest.raises(LookupError, match=told):
        next(models("ADD"))


def _says_something(number: int) -> bool:
    try:
        with_results(candidate("ADD", number, NEWEST))
    except Unfit:
        return False
    return True


@pytest.mark.parametrize("seed", [-1, drawn.SEEDS])
def test_another_seed_than_the_official_ones_is_said(seed: int) -> None:
    with pytest.raises(ValueError, match=f"expected a seed from 0 to {drawn.SEEDS - 1}, found {seed}"):
        next(drawn.models("ADD", seed, NEWEST))


@pytest.mark.parametrize("operation", ["FLOOR", "QUANTIZED_LSTM"])
def test_the_stored_choice_is_the_one_that_would_be_made(operation: str) -> None:
    assert choosing.choices(operation, drawn.SEEDS) == chosen.chosen().models[operation], f"run `{chosen.WRITER}`"


def test_every_version_of_an_operation_has_a_choice() -> None:
    for operation in drawn.operations():
        for version in Version:
            numbers = chosen.numbers(operation, version)
            assert bool(strategies.forms(version, operation)) == bool(numbers and numbers[0])


def test_a_candidate_is_the_same_each_time() -> None:
    texts = {repr(build_model(candidate("ADD", 3, NEWEST), NEWEST)) for _ in range(2)}
    assert len(texts) == 1


def test_what_meets_more_that_is_new_is_taken_first() -> None:
    def made(number: int, *names: str) -> choosing.Candidate:
        return choosing.Candidate(number, "float", "any", names, work=0)

    several = [made(0, "a", "b"), made(1, "a", "b"), made(2, "c", "d"), made(3, "c", "d"), made(4, "a", "b")]
    order = list(choosing.in_order("ADD", several, lambda number: True))
    assert {one // 2 for one in order[:2]} == {0, 1}
    assert sorted(order) == [0, 1, 2, 3, 4]
    assert 2 not in list(choosing.in_order("ADD", several, lambda number: number != 2))


def test_traits_are_those_that_guards_ask_for() -> None:
    vector = next(one for one in models("CONV_2D") if one.operands["filter"].dimensions[1:3] == (3, 3))
    found, channels = traits(vector), vector.operands["filter"].dimensions[3]
    assert "window [3, 3]" in found
    assert ("input channels eights" in found) == (channels % 8 == 0)
    assert kernel_of(found).startswith(("window [3, 3]", "other"))
    assert type_of(vector).split()[0] == vector.operands["input"].type.name
    assert len(set(found)) == len(found)
