"""Descriptions of vectors: what a person needs to know of a case, from its document alone."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from npu_conformance.corpus import vectors
from npu_conformance.corpus.variations import allowed
from npu_conformance.corpus.vectors import loading
from npu_conformance.corpus.vectors.description import VARIATIONS, describe
from npu_conformance.corpus.vectors.writing import document_of
from npu_conformance.specs.documents.vectors import VectorDocument
from npu_conformance.vts import generated


def line(operation: str, name: str, variation: str = "") -> str:
    """The description of a stored vector."""
    return describe(operation, vectors.load_document(operation, name), variation)


@pytest.mark.parametrize(
    ("operation", "name", "expected"),
    [
        ("PAD", "quant8_rank1", "PAD, TENSOR_QUANT8_ASYMM [3], paddings [[1, 2]], zero point 9"),
        ("ABS", "float32_rank1", "ABS, TENSOR_FLOAT32 [5]"),
        ("SPLIT", "quant8_rank2_axis0", "SPLIT, TENSOR_QUANT8_ASYMM [4, 3], axis 0, num_splits 2, zero point 3"),
        ("GREATER_EQUAL", "float32_row", "GREATER_EQUAL, TENSOR_FLOAT32 [2, 3], input1 [3]"),
    ],
)
def test_operation_type_shape_and_small_arguments(operation: str, name: str, expected: str) -> None:
    assert line(operation, name) == expected


def test_numbers_with_a_name_and_booleans_are_words() -> None:
    text = line("TRANSPOSE_CONV_2D", "quant8_signed_padding_is_real_zero")
    assert "padding_scheme SAME" in text
    assert "activation NONE" in text
    assert "nchw_layout false" in text


def test_quantisation_that_changes_is_told_of_both() -> None:
    text = line("CONV_2D", "per_channel_signed_zero_points_all_low")
    assert "scale 0.0625 and zero point -128, output scale 0.75 and zero point -128" in text
    assert "filter [3, 2, 4, 2]" in text


def test_what_is_refused_names_the_clause() -> None:
    assert line("RESIZE_BILINEAR", "refused_height_minus_1").endswith("refused by clause RESIZE_BILINEAR.C2")


def test_the_words_of_the_vectors_own_description_stay() -> None:
    assert line("ARGMAX", "float32_axis_of_the_request").endswith(": the axis is a model input")


def test_a_variation_is_told_in_words() -> None:
    assert line("PAD", "quant8_rank1", "all_inputs_as_internal") == (
        "PAD, TENSOR_QUANT8_ASYMM [3], paddings [[1, 2]], zero point 9; "
        "with all inputs as internal, each behind an ADD of zero"
    )


def test_every_variation_has_words() -> None:
    found: set[str] = set()
    for header in vectors.all_headers():
        found.update(allowed.applicable(header))
    assert found == set(VARIATIONS)


def test_sizes_that_are_open_and_many_arguments() -> None:
    operand: dict[str, Any] = {"type": "TENSOR_FLOAT32", "dimensions": [0, 2]}
    names = [f"x{number}" for number in range(14)]
    raw = {
        "name": "many",
        "since": "1.0",
        "operands": {**dict.fromkeys(names, operand), "y": operand},
        "inputs": names,
        "outputs": ["y"],
        "operations": [{"type": "CONCATENATION", "inputs": names, "outputs": ["y"]}],
    }
    text = describe("CONCATENATION", msgspec.convert(raw, VectorDocument))
    assert text == "CONCATENATION, TENSOR_FLOAT32 [?, 2], and 13 more arguments"


def test_of_many_arguments_the_small_constants_are_shown() -> None:
    text = line("LSTM", "float32_none")
    assert "activation " in text
    assert "forget_gate_bias" not in text
    assert "more arguments" in text


def test_listing_reads_no_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> object:
        raise AssertionError("a vector was read")

    monkeypatch.setattr(vectors, "load_document", refuse)
    monkeypatch.setattr(loading, "vector", refuse)
    (case,) = (case for case in generated.cases_under("PAD") if case.id == "vts.generated.PAD.quant8_rank1")
    with pytest.raises(AssertionError, match="a vector was read"):
        assert case.description


def test_the_case_of_a_failure_file_describes_itself() -> None:
    vector = vectors.load("PAD", "quant8_rank1")
    case = generated.case_from({"id": "vts.generated.PAD.mine", "operation": "PAD", "vector": document_of(vector)})
    assert case.description == line("PAD", "quant8_rank1")
