"""The loader is strict: each broken rule gives one line of document, path and rule."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy
import pytest

from npu_conformance.corpus import variations, vectors
from npu_conformance.corpus.variations import allowed
from npu_conformance.corpus.vectors import element_values, loading, writing
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.vectors import GeneratorDocument, VectorDocument
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.versions import NEWEST, Version

DOCUMENT: dict[str, Any] = {
    "name": "first",
    "since": "1.0",
    "operands": {
        "a": {"type": "TENSOR_FLOAT32", "dimensions": [2]},
        "b": {"type": "TENSOR_FLOAT32", "dimensions": [2], "value": [0.1, -0.0]},
        "none": {"type": "INT32", "value": [0]},
        "out": {"type": "TENSOR_FLOAT32", "dimensions": [2]},
    },
    "inputs": ["a"],
    "outputs": ["out"],
    "examples": [{"inputs": {"a": [1.5, "Infinity"]}, "outputs": {"out": [1.6, "Infinity"]}}],
}


def write(folder: Path, *documents: dict[str, Any], operation: str = "ADD") -> None:
    (folder / "add.json").write_text(json.dumps({"operation": operation, "vectors": documents}))


def edited(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    document = copy.deepcopy(DOCUMENT)
    change(document)
    return document


def test_a_vector_loads_with_the_types_and_shapes_it_declares(tmp_path: Path) -> None:
    write(tmp_path, DOCUMENT)
    vector = vectors.load("ADD", "first", tmp_path)
    assert vector.operations == (vectors.VectorOperation("ADD", ("a", "b", "none"), ("out",)),)
    assert vector.operands["a"].type is OperandType.TENSOR_FLOAT32
    constant = vector.operands["b"].value
    assert constant is not None
    assert constant.dtype == numpy.float32
    assert numpy.signbit(constant).tolist() == [False, True]
    assert vector.examples[0].inputs["a"].tolist() == [1.5, numpy.inf]
    assert not vector.examples[0].inputs["a"].flags.writeable


def test_headers_agree_with_the_loaded_vector(tmp_path: Path) -> None:
    write(tmp_path, DOCUMENT)
    (header,) = vectors.headers("ADD", tmp_path)
    assert (header.name, header.since, header.operations) == ("first", Version.V1_0, ("ADD",))
    assert header.arguments == ("a", "b", "none")
    assert {name: operand.role for name, operand in header.operands.items()} == {
        "a": "input",
        "b": "constant",
        "none": "constant",
        "out": "output",
    }
    assert header.operands["none"].scalar == 0
    assert header.types == ("TENSOR_FLOAT32",)


def test_a_rejection_may_end_with_a_version(tmp_path: Path) -> None:
    rejection = {"clause": "ADD.C1", "phase": "execution"}
    write(
        tmp_path,
        edited(lambda document: document.update(rejected=rejection)),
        edited(lambda document: document.update(name="second", rejected={**rejection, "until": "1.1"})),
    )
    untils = [header.rejected.until for header in vectors.headers("ADD", tmp_path) if header.rejected]
    assert untils == [NEWEST, Version.V1_1]
    assert vectors.load("ADD", "second", tmp_path).examples[0].outputs == {}


def test_generated_inputs_are_the_same_each_time_and_the_oracle_gives_the_outputs(tmp_path: Path) -> None:
    def generate(document: dict[str, Any]) -> None:
        document["examples"] = [{"inputs": {"a": {"generate": {"kind": "dyadic", "seed": 7}}}}]

    write(tmp_path, edited(generate))
    vector = vectors.load("ADD", "first", tmp_path)
    vectors.load.cache_clear()
    again = vectors.load("ADD", "first", tmp_path)
    values = vector.examples[0].inputs["a"]
    assert again is not vector
    assert values.tolist() == again.examples[0].inputs["a"].tolist()
    assert (values * 8 == numpy.round(values * 8)).all()
    expected = values + numpy.array([0.1, 0.0], numpy.float32)
    assert vector.examples[0].outputs["out"].tolist() == expected.tolist()
    assert "generate" in writing.text("ADD", [writing.document_of(vector)])


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        ("ABS", "float32_realistic"),
        ("FULLY_CONNECTED", "quant8_wide_sums"),
        ("CONV_2D", "quant8_wide_sums"),
        ("HEATMAP_MAX_KEYPOINT", "float32_maps_of_28"),
        ("TOPK_V2", "float32_classes"),
        ("UNIDIRECTIONAL_SEQUENCE_RNN", "float32_usual_size"),
    ],
)
def test_what_a_variation_makes_of_generated_data_is_written_as_it_is(operation: str, name: str) -> None:
    """Failure files and exports hold it: other types, layouts and operands are not what the generator makes."""
    stored = vectors.load(operation, name)
    names = allowed.applicable(allowed.header_of(stored))
    assert "all_inputs_as_internal" in names or "quant8_signed" in names
    for variation in names:
        varied = variations.apply(variation, stored)
        assert varied is not None
        document = msgspec.convert(writing.document_of(varied), VectorDocument)
        assert _numbers(loading.vector(operation, document, variation)) == _numbers(varied)


def _numbers(vector: vectors.Vector) -> list[tuple[str, str, bytes]]:
    constants = {name: operand.value for name, operand in vector.operands.items() if operand.value is not None}
    parts = [constants, *(part for example in vector.examples for part in (example.inputs, example.outputs))]
    return [(name, str(array.dtype), array.tobytes()) for part in parts for name, array in sorted(part.items())]


def test_an_unknown_name_is_a_key_error(tmp_path: Path) -> None:
    write(tmp_path, DOCUMENT)
    with pytest.raises(KeyError, match="ADD has no vector 'second'"):
        vectors.load("ADD", "second", tmp_path)


def _operand(name: str, **fields: object) -> Callable[[dict[str, Any]], object]:
    return lambda document: document["operands"][name].update(fields)


def _scalar_in_a_shape(document: dict[str, Any]) -> None:
    del document["operands"]["none"]["value"]
    document["inputs"].append("none")
    document["examples"][0]["inputs"]["none"] = [0, 0]
    document["examples"][0]["dimensions"] = {"none": [2]}


def _example(**fields: object) -> Callable[[dict[str, Any]], object]:
    return lambda document: document["examples"][0].update(fields)


BROKEN: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "unknown field": (lambda d: d.update(nmae="x"), r"\$\.vectors\[0\]: Object contains unknown field `nmae`"),
    "bad name": (lambda d: d.update(name="No"), r"\$\.vectors\[0\]\.name: expected small letters, digits and _"),
    "bad version": (lambda d: d.update(since="1.9"), r"\$\.since: unknown HAL version '1.9'"),
    "unknown type": (_operand("a", type="TENSOR"), r"\$\.operands\.a\.type: unknown operand type 'TENSOR'"),
    "too few values": (_operand("b", value=[1.0]), r"\$\.operands\.b\.value: expected 2 elements .* found 1"),
    "not the shortest float": (_operand("b", value=[0.1, 0.30000000000000004]), r"b\.value: .* is not a float32"),
    "a longer float of the same value": (_operand("b", value=[0.10000000149011612, 0.0]), r"the nearest is 0\.1$"),
    "too large for the type": (_operand("b", value=[1e39, 0.0]), r"b\.value: 1e\+39 is not a float32"),
    "a float as an integer": (_operand("none", value=[0.5]), r"none\.value: expected an integer, found 0.5"),
    "outside the type": (_operand("none", value=[2**31]), r"none\.value: 2147483648 is outside int32"),
    "a bool": (_operand("none", value=[True]), r"value\[0\]: Expected .* got `bool`"),
    "unknown subgraph": (_operand("a", subgraph=0), r"\$\.operands\.a\.subgraph: there is no referenced graph 0"),
    "unknown output": (lambda d: d.update(outputs=["x"]), r"outputs\[0\]: there is no such operand: 'x'"),
    "unknown ignored": (lambda d: d.update(ignored=["a"]), r"\$\.ignored\[0\]: there is no such operand: 'a'"),
    "no example": (lambda d: d.update(examples=[]), r"\$\.examples: expected at least one example"),
    "missing input": (_example(inputs={}), r"\$\.examples\[0\]\.inputs: no values for 'a'"),
    "input too many": (_example(inputs={"a": [1, 2], "b": [1, 2]}), r"inputs: values for 'b', which has none"),
    "missing output": (_example(outputs={}), r"\$\.examples\[0\]\.outputs: no values for 'out'"),
    "contradicted shape": (_example(dimensions={"a": [3]}), r"dimensions\.a: expected to fit \[2\], found \[3\]"),
    "shape of a scalar": (_scalar_in_a_shape, r"dimensions\.none: expected to fit \[\], found \[2\]"),
    "shape of nothing": (_example(dimensions={"b": [2]}), r"dimensions\.b: there is no such input or output"),
    "unknown operation": (
        lambda d: d.update(operations=[{"type": "ADDD", "inputs": ["a"], "outputs": ["out"]}]),
        r"\$\.operations\[0\]\.type: unknown operation 'ADDD'",
    ),
    "samples of another operation": (
        lambda d: d.update(kind="multinomial"),
        r"\$\.kind: expected RANDOM_MULTINOMIAL alone",
    ),
    "bad kind": (lambda d: d.update(kind="random"), r"kind: Invalid enum value 'random'"),
    "bad tolerance": (lambda d: d.update(multinomial_tolerance=1.5), r"multinomial_tolerance: Expected `float` <= 1"),
    "bad phase": (lambda d: d.update(rejected={"clause": "ADD.C1", "phase": "later"}), r"phase: Invalid enum value"),
    "bad generator": (
        _example(inputs={"a": {"generate": {"kind": "random", "seed": 1}}}),
        r"kind: Invalid enum value 'random'",
    ),
}


@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_rule_is_one_line(rule: str, tmp_path: Path) -> None:
    change, expected = BROKEN[rule]
    write(tmp_path, edited(change))
    with pytest.raises(DocumentError, match=expected) as caught:
        vectors.load("ADD", "No" if rule == "bad name" else "first", tmp_path)
    assert str(caught.value).startswith(f"{tmp_path}/add.json: ")
    assert "\n" not in str(caught.value)


def test_two_vectors_of_one_name_are_refused(tmp_path: Path) -> None:
    write(tmp_path, DOCUMENT, DOCUMENT)
    with pytest.raises(DocumentError, match="the name 'first' occurs twice"):
        vectors.load("ADD", "first", tmp_path)


def test_a_file_of_another_operation_is_refused(tmp_path: Path) -> None:
    write(tmp_path, DOCUMENT, operation="SUB")
    with pytest.raises(DocumentError, match="expected ADD, as the file is called, found SUB"):
        vectors.load("ADD", "first", tmp_path)


def test_what_is_not_json_is_refused_when_listed_too(tmp_path: Path) -> None:
    (tmp_path / "add.json").write_text('{"operation": "ADD", "vectors": [')
    with pytest.raises(DocumentError, match="not JSON"):
        vectors.headers("ADD", tmp_path)


def test_values_that_would_fill_the_memory_are_refused() -> None:
    generator = GeneratorDocument(kind="uniform", seed=1, low=0.0, high=1.0)
    with pytest.raises(element_values.ValueRuleError, match="at most 16777216 generated elements, found 1073741824"):
        element_values.generate(generator, OperandType.TENSOR_FLOAT32, (32768, 32768))
