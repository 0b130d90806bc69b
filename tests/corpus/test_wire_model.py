"""Wire models and requests made from vectors."""

from __future__ import annotations

import numpy
import pytest

from npu_conformance.corpus import vectors, wire_model
from npu_conformance.corpus.constant_layouts import LAYOUTS, Constants, possible
from npu_conformance.corpus.generators.base import positive, rejected
from npu_conformance.corpus.generators.operands import constant, int32, omitted, tensor
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType
from npu_conformance.specs.neuralnetworks.types import Memory, RequestMemoryPool
from npu_conformance.specs.neuralnetworks.validate import validate_model, validate_request
from npu_conformance.specs.versions import Version

FLOAT32 = OperandType.TENSOR_FLOAT32
PER_CHANNEL = OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL


@pytest.fixture
def vector() -> Vector:
    """ADD of an input of five elements and a constant, so that sizes are no multiples of an alignment."""
    quantization = {"scale": 0.5, "zero_point": 3}
    return positive(
        "sample",
        "ADD",
        {
            "input": tensor(OperandType.TENSOR_QUANT8_ASYMM, (5,), [1, 2, 3, 4, 5], scale=0.5, zero_point=3),
            "constant": constant(OperandType.TENSOR_QUANT8_ASYMM, (5,), [9, 8, 7, 6, 5], **quantization),
            "activation": int32(1),
        },
        {"output": tensor(OperandType.TENSOR_QUANT8_ASYMM, (5,), scale=0.5, zero_point=3)},
    )


def test_constants_are_copied_at_aligned_offsets(vector: Vector) -> None:
    built = wire_model.build_model(vector, Version.V1_0)
    operands = built.model.main.operands
    assert built.operand_index == {"input": 0, "constant": 1, "activation": 2, "output": 3}
    assert [operand.lifetime for operand in operands] == [1, 3, 3, 2]
    assert (operands[1].location.offset, operands[1].location.length) == (0, 5)
    assert (operands[2].location.offset, operands[2].location.length) == (8, 4)
    assert built.model.operand_values == bytes([9, 8, 7, 6, 5, 0, 0, 0, 1, 0, 0, 0])
    assert (operands[3].scale, operands[3].zero_point, operands[3].dimensions) == (0.5, 3, (5,))


def test_consumers_are_counted_for_hidl_only() -> None:
    twice = vectors.load("ADD", "float32_same_operand_twice")
    counts = [
        operand.number_of_consumers for operand in wire_model.build_model(twice, Version.V1_3).model.main.operands
    ]
    assert counts == [2, 1, 0]
    aidl = wire_model.build_model(twice, Version.FL5).model.main.operands
    assert {operand.number_of_consumers for operand in aidl} == {0}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_constants_are_found_by_their_location_in_every_layout(layout: str) -> None:
    vector = vectors.load("CONV_2D", next(one.name for one in vectors.headers("CONV_2D") if not one.rejected))
    contents: list[bytes] = []

    def create(content: bytes) -> Memory:
        contents.append(content)
        return Memory("ashmem", len(content), len(contents))

    model = wire_model.build_model(vector, Version.V1_2, create_pool=create, constants=layout, reserved=32).model
    assert validate_model(model, Version.V1_2) == []
    seen = []
    for operand, (name, stored) in zip(model.main.operands, vector.operands.items(), strict=True):
        if stored.value is None:
            continue
        place, is_pooled = operand.location, operand.lifetime == OperandLifeTime.CONSTANT_POOL
        source = contents[place.pool_index] if is_pooled else model.operand_values
        assert source[place.offset : place.offset + place.length] == stored.value.tobytes(), name
        assert place.offset >= (32 if is_pooled else 0)
        seen.append((is_pooled, place.pool_index, place.offset % 8))
    assert {is_pooled for is_pooled, *_ in seen} == {"copied": {False}, "some_pooled": {True, False}}.get(
        layout, {True}
    )
    assert {pool for _, pool, _ in seen} == ({0, 1, 2} if layout == "three_pools" else {0})
    assert len(contents) == LAYOUTS[layout].pools


def test_without_pools_all_constants_are_copied(vector: Vector) -> None:
    model = wire_model.build_model(vector, Version.V1_2, constants="three_pools").model
    assert model.pools == ()
    assert model.operand_values[:5] == bytes([9, 8, 7, 6, 5])


def test_constants_of_bytes_may_lie_anywhere_and_others_at_multiples_of_their_elements() -> None:
    constants = Constants(LAYOUTS["unaligned"])
    places = [constants.place(numpy.zeros(3, dtype))[1].offset for dtype in ("int8", "float16", "int8", "float32")]
    assert places == [1, 6, 13, 20]
    assert possible(0) == ("copied",)
    assert "some_pooled" not in possible(1)
    assert set(possible(2)) == set(LAYOUTS)


def test_outputs_can_be_left_open(vector: Vector) -> None:
    model = wire_model.build_model(vector, Version.V1_2, unspecified_outputs=True).model
    assert model.main.operands[3].dimensions == (0,)
    assert model.main.operands[0].dimensions == (5,)


def test_channel_scales_become_extra_parameters() -> None:
    vector = vectors.load("DEQUANTIZE", "per_channel_to_float32_dimension_3")
    operand = wire_model.build_model(vector, Version.V1_2).model.main.operands[0]
    assert operand.extra_params is not None
    assert operand.extra_params.channel_quant is not None
    assert operand.extra_params.channel_quant.scales == (0.30000001192092896, 2.700000047683716, 0.0625)
    assert operand.extra_params.channel_quant.channel_dim == 3
    assert operand.scale == 0.0


def test_omitted_operands_have_no_value() -> None:
    vector = rejected(
        "sample",
        "SQUEEZE",
        {"input": tensor(FLOAT32, (1, 2), [1.0, 2.0]), "axes": omitted(OperandType.TENSOR_INT32, (1,))},
        {"output": tensor(FLOAT32, (2,))},
        clause="SQUEEZE.C1",
    )
    operand = wire_model.build_model(vector, Version.V1_2).model.main.operands[1]
    assert (operand.lifetime, operand.dimensions) == (OperandLifeTime.NO_VALUE, (1,))


@pytest.mark.parametrize("version", [Version.V1_0, Version.V1_3, Version.FL5, Version.FL8])
def test_requests_are_valid_and_hold_the_inputs(version: Version) -> None:
    vector = vectors.load("ADD", "float32_relu_row")
    example = vector.examples[0]
    built = wire_model.build_request(vector, example, version)
    pools = [RequestMemoryPool(pool=Memory("ashmem", size, 1)) for size in (len(built.input_data), built.output_size)]
    request = built.request(*pools)
    assert validate_request(request, wire_model.build_model(vector, version).model, version) == []
    for name, array in example.inputs.items():
        region = built.inputs[name]
        assert built.input_data[region.offset : region.offset + region.length] == array.tobytes()
        assert region.offset % (64 if version.is_aidl else 4) == 0
        assert region.padding == (-region.length % 64 if version.is_aidl else 0)


def test_an_insufficient_output_lends_its_last_byte_to_the_padding(vector: Vector) -> None:
    example = vector.examples[0]
    aidl = wire_model.build_request(vector, example, Version.FL5, insufficient_output=True)
    hidl = wire_model.build_request(vector, example, Version.V1_2, insufficient_output=True)
    assert aidl.outputs["output"] == wire_model.Region(0, 4, 60)
    assert hidl.outputs["output"] == wire_model.Region(0, 4, 0)
    assert (aidl.output_size, hidl.output_size) == (64, 8)


def test_outputs_are_read_back_in_the_reported_shape(vector: Vector) -> None:
    built = wire_model.build_request(vector, vector.examples[0], Version.V1_2)
    pool = bytes(range(1, 9))
    found = built.read("output", pool, (5, 1))
    assert found.tolist() == [[1], [2], [3], [4], [5]]
    assert found.dtype == numpy.uint8
    with pytest.raises(ValueError, match=r"output: dimensions \[6\] do not fit into 5 bytes"):
        built.read("output", pool, (6,))


def test_an_output_without_elements_gets_one_byte() -> None:
    vector = vectors.load("ADD", "float32_zero_sized")
    built = wire_model.build_request(vector, vector.examples[0], Version.V1_2)
    assert {region.length for region in built.outputs.values()} == {1}


def test_open_inputs_get_their_dimensions_and_omitted_ones_no_value() -> None:
    vector = vectors.load("ADD", "rank5_at_execution")
    built = wire_model.build_request(vector, vector.examples[0], Version.V1_2)
    pool = RequestMemoryPool(pool=Memory("ashmem", 1024, 1))
    first, second = built.request(pool, pool).inputs
    assert first.dimensions == (1, 2, 1, 1, 3)
    assert second.dimensions == ()


def test_an_output_of_what_has_to_be_refused_has_room_for_whatever_is_computed() -> None:
    vector = vectors.load("ADD", "rank5_at_execution")
    assert vector.rejected is not None
    built = wire_model.build_request(vector, vector.examples[0], Version.V1_2)
    assert built.outputs["output"].length >= 24 + 4096
