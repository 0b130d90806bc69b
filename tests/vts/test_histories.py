"""Random histories of a driver: their models are valid, and what they expect follows from the model alone."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from npu_conformance.harness.run.cases import Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.versions import NEWEST, Version
from npu_conformance.vts import histories
from npu_conformance.vts.lib.addition import SIZE, Addition, Values
from npu_conformance.vts.lib.histories.recipe_models import model_of
from npu_conformance.vts.lib.histories.recipes import FREE, OPEN, RECIPES, TYPES, WITH_GRAPHS, Recipe
from npu_conformance.vts.lib.histories.steps import STEPS

CASES = {case.id: case for case in histories.cases()}


@pytest.mark.parametrize("chosen", TYPES, ids=str)
def test_recipes_are_valid_models(chosen: Addition) -> None:
    pool = Memory("ashmem", SIZE, 1)
    recipes = {replace(one, chosen=chosen) for one in (*RECIPES, *WITH_GRAPHS, *OPEN, *FREE)}
    for recipe, version in itertools.product(recipes, (chosen.since, Version.V1_3, NEWEST)):
        memory = Memory("ashmem", SIZE, 1) if not version.is_aidl else pool
        pools = [memory] * len(recipe.constants) if recipe.in_pool else []
        if recipe.since <= version:
            assert not validate_model(model_of(recipe, *pools), version), (recipe, version)


def test_what_recipes_give() -> None:
    assert Recipe(2, ((0, 1),)).expected([(1.0, -2.0), (0.5, 1.0)]) == [(1.5, -1.0)]
    assert Recipe(2, ((0, 1),), is_clipped=True).expected([(1.0, -2.0), (0.5, 1.0)]) == [(1.5, 0.0)]
    assert Recipe(1, ((0, 1), (0, 0)), constants=((4.0, 8.0),)).expected([(1.0, 2.0)]) == [(5.0, 10.0), (2.0, 4.0)]
    in_order = Recipe(1, ((0, 1), (0, 2)), constants=((4.0, 8.0), (1.0, 0.0)))
    assert in_order.expected([(1.0, 2.0)]) == [(5.0, 10.0), (2.0, 2.0)]
    assert Recipe(2, ((0, 1),), rounds=0).expected([(1.0, 2.0), (3.0, 4.0)]) == [(1.0, 2.0)]
    assert Recipe(2, ((0, 1),), rounds=2).expected([(1.0, 2.0), (3.0, 4.0)]) == [(7.0, 10.0)]


def test_a_request_may_say_the_activation() -> None:
    recipe = Recipe(2, ((0, 1),), asks_activation=True)
    values: list[Values] = [(1.0, -2.0), (0.5, 1.0)]
    assert recipe.expected(values) == [(1.5, -1.0)]
    assert recipe.expected(values, is_clipped=True) == [(1.5, 0.0)]
    main = model_of(recipe).main
    assert (len(main.input_indexes), len(main.output_indexes)) == recipe.arguments


def test_elements_may_be_arranged_otherwise() -> None:
    recipe = Recipe(2, ((0, 1),), is_open=True, is_free=True)
    assert recipe.declared == (0, 0)
    assert [recipe.shape(3, columns) for columns in (0, 1, 6)] == [(3, 2), (6, 1), (1, 6)]


def test_a_row_is_added_to_each_row() -> None:
    """As ADD broadcasts [1, n] and [n] to [2, n]."""
    recipe = Recipe(2, ((0, 1), (1, 2)), constants=((10.0, 20.0),), is_open=True)
    assert recipe.expected([(1.0, 2.0), (3.0, 4.0, 5.0, 6.0)]) == [(4.0, 6.0, 6.0, 8.0), (13.0, 24.0, 15.0, 26.0)]
    assert recipe.rows([1, 2]) == [2, 2]
    assert recipe.rows([3, 1]) == [3, 1]


def test_every_step_that_is_drawn_exists() -> None:
    drawn = {*histories._OF_ALL, *histories._DISTURBED, *histories._SHAPES}
    assert drawn | {"settle"} == set(STEPS)


@pytest.mark.parametrize("version", [Version.V1_0, Version.V1_3, Version.FL8], ids=lambda version: version.value)
def test_a_seed_that_nobody_has_tried_is_green(version: Version) -> None:
    subject = open_subject("reference", isolation="inprocess", version=version)
    for case in CASES.values():
        if case.since <= version:
            context = CaseContext(case, subject, seed=77, scope=Scope.SMOKE)
            try:
                case.run(context)
                assert context.is_flawless
            finally:
                context.close()
    subject.close()
