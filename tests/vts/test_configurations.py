"""The ways in which vectors are executed: pairs are covered, names are stable and tell them apart."""

from __future__ import annotations

import itertools

import pytest

from npu_conformance.corpus import vectors
from npu_conformance.corpus.constant_layouts import BESIDE_INPUTS, possible
from npu_conformance.corpus.pairwise import cover, pairwise
from npu_conformance.corpus.vectors import Vector
from npu_conformance.harness.run.cases import Scope
from npu_conformance.specs.ids import parse
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.configurations import SHAPES, Configuration, configurations, count_of_constants


def chosen(vector: Vector, version: Version, scope: Scope = Scope.DEFAULT, variation: str = "") -> list[Configuration]:
    case_id = f"vts.generated.{vector.operation}.{vector.name}{variation}"
    return list(configurations(vector, case_id, version, scope))


def first_of(operation: str) -> Vector:
    return vectors.load(operation, vectors.headers(operation)[0].name)


def values(one: Configuration) -> tuple[object, ...]:
    return (one.executor, one.shape, one.measured, one.memory, one.compact, one.read_only, one.repeated)


def pairs(found: list[Configuration]) -> set[object]:
    return {(i, row[i], j, row[j]) for row in map(values, found) for i, j in itertools.combinations(range(len(row)), 2)}


@pytest.mark.parametrize("version", list(Version))
def test_the_first_vector_sees_every_pair_that_there_is(version: Version) -> None:
    vector = first_of("ADD")
    everything = chosen(vector, version, Scope.FULL)
    few = chosen(vector, version)
    assert pairs(few) == pairs(everything)
    assert len(few) <= len(everything)
    assert len(few) < 60


def test_each_operation_with_constants_meets_each_layout_of_them() -> None:
    for operation in vectors.operations():
        positive = [one for one in vectors.headers(operation) if one.rejected is None]
        loaded = [vectors.load(operation, one.name) for one in positive]
        for version in (Version.V1_3, Version.FL8):
            of_version = [vector for vector in loaded if vector.since <= version]
            met = {one.constants for vector in of_version for one in chosen(vector, version)}
            firsts = {one.types: one.name for one in reversed(positive) if one.since <= version}.values()
            wanted = {name for one in of_version if one.name in firsts for name in possible(count_of_constants(one))}
            assert wanted <= met, (operation, version)


def test_inputs_share_a_pool_with_constants_only_where_they_are_written() -> None:
    for one in chosen(vectors.load("CONV_2D", vectors.headers("CONV_2D")[0].name), Version.FL8, Scope.FULL):
        assert one.constants != BESIDE_INPUTS or not (one.read_only or one.memory == "device")


def test_other_vectors_see_one_more_way_that_is_always_the_same_and_variations_none() -> None:
    names = {header.types: header for header in reversed(vectors.headers("ADD")) if not header.rejected}
    first = {header.name for header in names.values()}
    other = next(header for header in vectors.headers("ADD") if not header.rejected and header.name not in first)
    for vector, variation in ((vectors.load("ADD", other.name), ""), (first_of("ADD"), "[relaxed]")):
        plain, found = (chosen(vector, Version.FL8, scope, variation) for scope in (Scope.SMOKE, Scope.DEFAULT))
        assert len(found) - len(plain) in ((0,) if variation else (0, 1))
        assert found == chosen(vector, Version.FL8, variation=variation)


def test_the_plain_ways_keep_their_names() -> None:
    vector = first_of("ADD")
    plain = [one.name for one in chosen(vector, Version.V1_3, Scope.SMOKE)]
    shapes = [shape for shape in SHAPES if shape != "unranked"]
    usual = [f"synchronous.{shape}.untimed" for shape in shapes]
    usual.insert(1, "synchronous.specified.timed")
    assert [name for name in plain if ".example" not in name] == [*usual, "asynchronous.specified.untimed"]
    assert next(one.name for one in chosen(vector, Version.V1_0, Scope.SMOKE)) == "asynchronous.specified.untimed"


def test_names_tell_configurations_apart_and_can_be_addressed() -> None:
    found = chosen(first_of("ADD"), Version.FL8, Scope.FULL)
    names = [one.name for one in found]
    assert len(set(names)) == len(names)
    for name in names:
        assert parse(f"vts.generated.ADD.case#{name}").configuration == name


def test_control_flow_has_no_unknown_outputs() -> None:
    assert {one.shape for one in chosen(first_of("WHILE"), Version.FL8)} == {"specified"}


def test_a_cover_of_some_rows_has_the_pairs_of_all() -> None:
    rows = [(a, b, c) for a, b, c in itertools.product(range(4), repeat=3) if a + b != 3]
    few = cover(rows)
    assert {pair for row in few for pair in itertools.combinations(enumerate(row), 2)} == {
        pair for row in rows for pair in itertools.combinations(enumerate(row), 2)
    }
    assert len(few) < len(rows) / 2
    assert pairwise({"only": [1, 2]}) == [{"only": 1}, {"only": 2}]
