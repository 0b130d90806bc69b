"""One model for several shapes: which operations have one, and that only shapes differ."""

from __future__ import annotations

import re

import pytest
from failure_files import failed_and_replayed

from npu_conformance.corpus import turns, vectors
from npu_conformance.corpus.other_parameters import other_parameters
from npu_conformance.corpus.several_shapes import several_shapes
from npu_conformance.corpus.vectors.writing import document_of
from npu_conformance.corpus.wire_model import build_model, build_request
from npu_conformance.harness.run import suites
from npu_conformance.harness.run.vector_cases import vector_from
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.specs.versions import NEWEST
from npu_conformance.vts import several_shapes as area
from npu_conformance.vts.lib.turning import KINDS, Kind

WHEREVER_FOUND: dict[str, set[str]] = {"executed": set(), "other_parameters": {"QUANTIZED_LSTM"}}
"""Kinds that each operation has of which there is such a model, but for these; others are chosen."""


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_each_operation_that_is_listed_has_a_model_of_several_requests(kind: Kind) -> None:
    listed = {case.operations[0] for case in area.cases() if case.id.endswith(f".{kind.name}")}
    searched = vectors.operations() if kind.name in WHEREVER_FOUND else sorted(listed)
    found = {name: kind.find(name, NEWEST) for name in searched}
    assert listed == {name for name, models in found.items() if models} - WHEREVER_FOUND.get(kind.name, set())
    for vector in (one for name in listed for one in found[name]):
        assert validate_model(build_model(vector, NEWEST).model, NEWEST) == []
        assert len(vector.examples) > 1
        assert all(set(vector.outputs) == set(example.outputs) for example in vector.examples)


def test_inputs_of_one_size_differ_in_their_shapes() -> None:
    (vector,) = turns.same_size("EXPAND_DIMS", NEWEST)
    shapes = [example.inputs["input"].shape for example in vector.examples]
    assert shapes == [(2, 3), (3, 2)]


def test_shapes_of_a_temporary_come_with_the_request() -> None:
    (vector,) = turns.same_size_behind("EXPAND_DIMS", NEWEST)
    assert vector.inputs == ("input_in_a_row", "shape_of_the_rows")
    assert [tuple(example.inputs["shape_of_the_rows"]) for example in vector.examples] == [(2, 3), (3, 2)]
    assert {example.inputs["input_in_a_row"].shape for example in vector.examples} == {(6,)}


def test_rows_are_taken_as_the_request_says() -> None:
    (vector,) = turns.emptied("RELU", NEWEST)
    assert [len(example.outputs["output"]) for example in vector.examples] == [0, 2, 1, 0, 3]
    assert all(len(example.outputs["copied_rows"]) == 3 for example in vector.examples)


def test_parameters_change_one_by_one_too() -> None:
    vector = other_parameters("PAD", NEWEST)[0]
    paddings = [example.inputs["paddings"].tolist() for example in vector.examples]
    assert [example.outputs["output"].shape for example in vector.examples] == [
        tuple(size + sum(pair) for size, pair in zip(example.inputs["input"].shape, one, strict=True))
        for example, one in zip(vector.examples, paddings, strict=True)
    ]
    assert len({str(one) for one in paddings}) == len(paddings)


def test_a_parameter_is_turned_around() -> None:
    found = [vector for vector in other_parameters("MIRROR_PAD", NEWEST) if vector.name == "float32_rank3_reflect"]
    first, second, *_ = [example.inputs["paddings"].tolist() for example in found[0].examples]
    assert second == [pair[::-1] for pair in first]


def test_another_axis_need_not_be_another_shape() -> None:
    vector = other_parameters("ARGMAX", NEWEST)[-1]
    shapes = [example.outputs["output"].shape for example in vector.examples]
    assert len(set(shapes)) < len(shapes)


def test_an_optional_input_is_left_out() -> None:
    (vector,) = turns.omitted("SVDF", NEWEST)
    assert ["bias" in example.inputs for example in vector.examples] == [True, False]


@pytest.mark.parametrize("operation", ["ADD", "CONV_2D", "LSTM", "REDUCE_SUM"])
def test_the_model_is_valid_and_leaves_open_what_differs(operation: str) -> None:
    for vector in several_shapes(operation, NEWEST):
        assert validate_model(build_model(vector, NEWEST).model, NEWEST) == []
        assert any(vector.operands[name].is_open for name in vector.inputs)
        small, large = (build_request(vector, example, NEWEST) for example in vector.examples)
        assert small.shapes
        assert small.shapes != large.shapes
        sizes = [sum(array.size for array in example.outputs.values()) for example in vector.examples]
        assert sizes[0] <= sizes[1]


def test_twice_as_many_batches_have_the_stored_values_twice() -> None:
    doubled = [vector for vector in several_shapes("CONV_2D", NEWEST) if not vector.name.endswith("_of_300")]
    assert len({vector.operands["input"].type for vector in doubled}) > 1
    for vector in doubled:
        stored = vectors.load("CONV_2D", vector.name).examples[0].outputs["output"]
        twice = vector.examples[1].outputs["output"]
        assert twice.shape == (2 * stored.shape[0], *stored.shape[1:])
        assert (twice[: len(stored)] == stored).all()
        assert (twice[len(stored) :] == stored).all()


def test_a_failure_says_which_execution_of_which_model_and_its_file_holds_the_model() -> None:
    case = suites.find("vts.several_shapes.EXPAND_DIMS.same_size")
    first, payload, again = failed_and_replayed("state-plan-by-element-count", case, area.case_from)
    red = [part for part in first.configurations if part.outcome is Outcome.FAIL]
    assert {part.name for part in red} == payload["graphs"].keys()
    assert all(re.search(r"execution \d, with inputs of shape .*; EXPAND_DIMS, TENSOR_", part.message) for part in red)
    assert [(part.name, part.outcome) for part in again.configurations] == [(part.name, part.outcome) for part in red]
    assert again.requirements == first.requirements


def test_every_model_that_a_failure_file_holds_comes_back_whole() -> None:
    """One of which a request leaves something out has no place in one: its case is found by its id."""
    kinds = {kind.name: kind for kind in KINDS}
    kept = [*kinds["executed"].find("ADD", NEWEST), *kinds["other_parameters"].find("CONV_2D", NEWEST)]
    for vector in kept:
        assert area._is_whole(vector)
        again = vector_from({"id": "x", "operation": vector.operation, "vector": document_of(vector)})
        for one, other in zip(vector.examples, again.examples, strict=True):
            for arrays, others in ((one.inputs, other.inputs), (one.outputs, other.outputs)):
                assert {name: array.tolist() for name, array in arrays.items()} == {
                    name: array.tolist() for name, array in others.items()
                }
    assert not any(map(area._is_whole, turns.omitted("SQUEEZE", NEWEST)))
