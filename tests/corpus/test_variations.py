"""Variations keep the meaning, are legal from the version they state, and are listed as they apply."""

from __future__ import annotations

import numpy
import pytest

from npu_conformance.corpus import variations, vectors, witnesses
from npu_conformance.corpus.generators.base import positive
from npu_conformance.corpus.generators.data import dyadic
from npu_conformance.corpus.generators.operands import OperandSpec, boolean, int32, tensor
from npu_conformance.corpus.variations import allowed
from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.specs.neuralnetworks.combinations import combination_since
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.minimal_version import minimal_version
from npu_conformance.specs.versions import Version

FLOAT32 = OperandType.TENSOR_FLOAT32


def varied(name: str, vector: Vector) -> Vector:
    result = variations.apply(name, vector)
    assert result is not None
    return result


@pytest.mark.parametrize("operation", vectors.operations())
def test_listing_and_applying_agree_and_results_are_legal_and_right(operation: str) -> None:
    # Every third of them: thousands of vectors in several variations, each computed anew, take minutes.
    for header in vectors.headers(operation)[::3]:
        vector = vectors.load(operation, header.name)
        listed = allowed.applicable(header)
        assert listed == allowed.applicable(allowed.header_of(vector)), header.name
        for name, since in listed.items():
            result = varied(name, vector)
            assert result.since == since
            assert minimal_version(build_model(result, since).model) <= since, (header.name, name)
            # Generated vectors are large, and nothing that their size changes is tested here.
            found = [] if vector.generators else witnesses.witness(result, {"recomputed": witnesses.oracle})
            assert found == [], (header.name, name)


def test_rejected_vectors_and_unknown_names() -> None:
    rejected = next(header for header in vectors.headers("ADD") if header.rejected)
    assert allowed.applicable(rejected) == {}
    assert variations.apply("relaxed", vectors.load("ADD", rejected.name)) is None
    with pytest.raises(KeyError):
        variations.apply("nhwc", vectors.load("ADD", rejected.name))


def test_relaxed_sets_the_flag_and_needs_1_1() -> None:
    result = varied("relaxed", vectors.load("ADD", "float32_all_bits"))
    assert (result.relaxed, result.since) == (True, Version.V1_1)
    assert build_model(result, Version.V1_1).model.relax_computation_float32_to_float16
    assert "relaxed" not in allowed.applicable(allowed.header_of(result))


def test_float16_rounds_the_inputs_and_computes_anew() -> None:
    vector = vectors.load("QUANTIZE", next(h.name for h in vectors.headers("QUANTIZE") if "float32_to" in h.name))
    result = varied("float16", vector)
    assert result.operands["input"].type is OperandType.TENSOR_FLOAT16
    inputs = result.examples[0].inputs["input"]
    assert inputs.dtype == numpy.float16
    assert inputs.tolist() == vector.examples[0].inputs["input"].astype(numpy.float16).tolist()
    assert witnesses.witness(result) == []


def test_float16_is_left_out_where_values_exceed_it() -> None:
    vector = vectors.load("CAST", "int32_to_float32_wide")
    assert "float16" in vector.excluded
    assert "relaxed" in vector.excluded
    assert "float16" not in allowed.applicable(allowed.header_of(vector))


def test_quant8_signed_moves_elements_and_zero_points_by_128() -> None:
    vector = vectors.load("ADD", "quant8_scales_far_apart")
    result = varied("quant8_signed", vector)
    assert result.since == Version.V1_3
    assert result.operands["input0"].type is OperandType.TENSOR_QUANT8_ASYMM_SIGNED
    assert [operand.zero_point for operand in result.operands.values()] == [-28, -123, 0, -8]
    before, after = vector.examples[0], result.examples[0]
    assert (after.inputs["input0"].astype(int) == before.inputs["input0"].astype(int) - 128).all()
    assert (after.outputs["output"].astype(int) == before.outputs["output"].astype(int) - 128).all()


def _pool(layout: list[OperandSpec]) -> Vector:
    """AVERAGE_POOL_2D, implicit padding, 1x1 window: the output is the input."""
    names = ("padding", "stride_width", "stride_height", "width", "height", "activation", "layout")
    scalars = [int32(value) for value in (2, 1, 1, 1, 1, 0)] + layout
    data = dyadic(1, (1, 2, 3, 4))
    return positive(
        "sample",
        "AVERAGE_POOL_2D",
        {"input": tensor(FLOAT32, (1, 2, 3, 4), data), **dict(zip(names, scalars, strict=False))},
        {"output": tensor(FLOAT32, (1, 2, 3, 4))},
    )


@pytest.mark.parametrize("layout", [[], [boolean(False)]], ids=["left_off", "given"])
def test_nchw_permutes_input_and_output_and_sets_the_flag(layout: list[OperandSpec]) -> None:
    vector = _pool(layout)
    result = varied("nchw", vector)
    assert result.since == Version.V1_2
    assert result.operands["input"].dimensions == (1, 4, 2, 3)
    assert result.operands["output"].dimensions == (1, 4, 2, 3)
    flag = result.operands[result.operations[0].inputs[7]]
    assert flag.type is OperandType.BOOL
    assert flag.value is not None
    assert flag.value.tolist() == 1
    before, after = vector.examples[0], result.examples[0]
    assert (after.inputs["input"] == before.inputs["input"].transpose(0, 3, 1, 2)).all()
    assert (after.outputs["output"] == before.outputs["output"].transpose(0, 3, 1, 2)).all()


def test_nchw_does_not_apply_twice_nor_to_other_ranks() -> None:
    result = varied("nchw", _pool([]))
    assert "nchw" not in allowed.applicable(allowed.header_of(result))
    assert all("nchw" not in allowed.applicable(header) for header in vectors.headers("SOFTMAX"))


def test_inputs_become_internal_through_an_exact_addition() -> None:
    vector = vectors.load("ADD", "quant8_scales_far_apart")
    result = varied("all_inputs_as_internal", vector)
    assert [operation.type for operation in result.operations] == ["ADD", "ADD", "ADD"]
    assert result.inputs == ("input0_new", "input1_new")
    assert result.operations[0].inputs == ("input0_new", "input0_zero", "input0_none")
    zero = result.operands["input0_zero"]
    assert (zero.dimensions, zero.zero_point) == ((1,), 100)
    assert zero.value is not None
    assert zero.value.tolist() == [100]
    assert result.operands["input0"].value is None
    assert "input0" not in result.inputs
    assert witnesses.witness(result) == []


def test_infinities_stay_away_from_additions() -> None:
    assert vectors.load("MAXIMUM", "float32_infinities").excluded == ("all_inputs_as_internal",)


def test_constant_tensors_become_inputs_and_scalars_do_not() -> None:
    vector = vectors.load("MEAN", "float32_keep_dims_2")
    result = varied("all_tensors_as_inputs", vector)
    assert result.inputs == ("input", "axes")
    assert result.examples[0].inputs["axes"].tolist() == [1]
    assert result.operands["axes"].value is None
    assert result.operands["keep_dims"].value is not None
    assert all("all_tensors_as_inputs" not in allowed.applicable(header) for header in vectors.headers("CAST"))


def test_combinations_know_the_version_of_types_and_of_arguments() -> None:
    tensor, scalar = "TENSOR_FLOAT32", "FLOAT32"
    assert combination_since("SOFTMAX", (tensor, scalar), (tensor,)) == Version.V1_0
    assert combination_since("SOFTMAX", (tensor, scalar, "INT32"), (tensor,)) == Version.V1_2
    assert combination_since("DEQUANTIZE", ("TENSOR_QUANT8_ASYMM",), ("TENSOR_FLOAT16",)) == Version.V1_2
    assert combination_since("DIV", ("TENSOR_QUANT8_ASYMM",) * 2 + ("INT32",), ("TENSOR_QUANT8_ASYMM",)) is None


@pytest.mark.parametrize(
    ("operation", "name"),
    [("CONV_2D", "quant8_saturates"), ("IF", "quant8_condition_1"), ("DEQUANTIZE", "quant8_every_value_0")],
)
def test_the_unsigned_form_is_the_inverse_of_the_signed_one(operation: str, name: str) -> None:
    vector = vectors.load(operation, name)
    signed = variations.apply("quant8_signed", vector)
    assert signed is not None
    back = variations.unsigned(signed)
    assert back is not None
    assert back.operands.keys() == vector.operands.keys()
    for graph, other in zip(back.graphs, vector.graphs, strict=True):
        for key, operand in graph.operands.items():
            assert (operand.type, operand.zero_point) == (other.operands[key].type, other.operands[key].zero_point)
            assert (operand.value is None) == (other.operands[key].value is None)
            if operand.value is not None and (expected := other.operands[key].value) is not None:
                assert numpy.array_equal(operand.value, expected)
    for key, array in back.examples[0].outputs.items():
        assert array.dtype == vector.examples[0].outputs[key].dtype
        assert (array == vector.examples[0].outputs[key]).all()


def test_what_has_no_unsigned_form_has_no_twin() -> None:
    assert variations.unsigned(vectors.load("RELU", "float32_rank1")) is None
    assert variations.unsigned(vectors.load("PAD_V2", "quant8_signed_rank1")) is None
    assert variations.unsigned(vectors.load("BATCH_MATMUL", "quant8_signed_attention")) is None
