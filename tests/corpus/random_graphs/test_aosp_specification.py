"""Specifications of random graphs: the importer reads them, and finds the same graph with the same values."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from npu_conformance.corpus import random_graphs
from npu_conformance.corpus.importers.aosp import importing
from npu_conformance.corpus.random_graphs import GraphRecipe, official
from npu_conformance.corpus.random_graphs.aosp_specification import InexpressibleError, specification
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.versions import Version

RECIPES = (
    *enumerate(official.small().values()),
    (0, GraphRecipe(size=1, operations=("CONV_2D",), types=("TENSOR_QUANT8_SYMM_PER_CHANNEL",))),
    (0, GraphRecipe(size=1, operations=("LSTM",))),
    (0, GraphRecipe(size=3, version=Version.FL7, operations=("PACK", "REVERSE", "BATCH_MATMUL"))),
)


def imported(folder: Path, text: str) -> Vector:
    """The only test of a specification."""
    path = folder / "graph.mod.py"
    path.write_text(text)
    (loaded,) = importing.load([path])
    assert loaded.problem is None, loaded.problem
    (collection,) = importing.collections([loaded])
    (header,) = collection.headers()
    return collection.load(header.name)


def test_the_importer_finds_the_same_graph(tmp_path: Path) -> None:
    for vector in itertools.starmap(random_graphs.graph, RECIPES):
        if not vector.referenced:
            check_equal(vector, imported(tmp_path, specification(vector)))


def check_equal(vector: Vector, found: Vector) -> None:
    assert sorted(one.type for one in found.operations) == sorted(one.type for one in vector.operations)
    assert found.since <= vector.since
    example, read = vector.examples[0], found.examples[0]
    for given, arrays in ((example.inputs, read.inputs), (example.outputs, read.outputs)):
        expected = sorted((array.tobytes(), array.shape) for name, array in given.items() if name not in vector.ignored)
        ours = sorted((array.tobytes(), array.shape) for name, array in arrays.items() if name not in found.ignored)
        assert ours == expected
    assert len(found.ignored) == len(vector.ignored)


def test_results_of_devices_stand_behind_the_example(tmp_path: Path) -> None:
    vector = random_graphs.graph(*RECIPES[0])
    text = specification(vector, {"vendor-npu": vector.examples[0].outputs})
    assert "# Results from vendor-npu" in text
    check_equal(vector, imported(tmp_path, text))


def test_control_flow_has_no_specification() -> None:
    with pytest.raises(InexpressibleError, match="IF or WHILE"):
        specification(random_graphs.graph(0, GraphRecipe(size=1, operations=("IF",))))
