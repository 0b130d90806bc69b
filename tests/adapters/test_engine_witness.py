"""The real engines against the stored vectors, and what is on record of them: see docs/findings.md."""

from __future__ import annotations

import importlib.util
import itertools

import pytest

from npu_conformance.adapters import engine_witness
from npu_conformance.corpus import disagreements, vectors, witnesses
from npu_conformance.corpus.vectors import Vector

PACKAGES = {"litert": "ai_edge_litert", "tflm": "tflite_micro", "onnx": "onnx"}
STRIDES = {"litert": 7, "tflm": 13, "onnx": 13}
"""Every how many vectors one is taken: the command `vectors witness --engine ENGINE` takes all."""

EXPLAINED = [
    (known.engine, known.operation, name)
    for known in disagreements.explained()
    if known.engine in PACKAGES
    for name in known.vectors
]


def said_of(engine: str, vector: Vector) -> witnesses.Testimony:
    """Return what an engine says of a vector; skip the test where the engine is not installed."""
    if importlib.util.find_spec(PACKAGES[engine]) is None:
        pytest.skip(f"{engine} is not installed: pip install npu-conformance[{engine}]")
    return witnesses.testify(vector, engine, getattr(engine_witness, engine))


@pytest.mark.parametrize("operation", vectors.operations())
@pytest.mark.parametrize("engine", PACKAGES)
def test_the_record_says_with_which_vectors_an_engine_agrees(engine: str, operation: str) -> None:
    names = [header.name for header in vectors.headers(operation) if not header.rejected]
    taken = [vectors.load(operation, name) for name in names[:: STRIDES[engine]]]
    found = {vector.name: said_of(engine, vector) for vector in taken}
    recorded = {vector.name: engine in vector.witnesses for vector in taken}
    assert recorded == {name: testimony.agrees for name, testimony in found.items()}, (
        f"run `npu-conformance vectors witness --engine {engine} --record`"
    )


@pytest.mark.parametrize("engine", PACKAGES)
def test_an_engine_is_a_witness_of_many_operations(engine: str) -> None:
    witnessed = (operation for operation in vectors.operations() if has_witness(operation, engine))
    assert len(list(itertools.islice(witnessed, 51))) == 51


def has_witness(operation: str, engine: str) -> bool:
    loaded = (vectors.load(operation, header.name) for header in vectors.headers(operation) if not header.rejected)
    return any(engine in vector.witnesses for vector in loaded)


@pytest.mark.parametrize(("engine", "operation", "name"), EXPLAINED)
def test_what_an_engine_gets_wrong_is_still_wrong(engine: str, operation: str, name: str) -> None:
    assert said_of(engine, vectors.load(operation, name)).disagreements
