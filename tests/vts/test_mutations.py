"""The HAL suite's mutations: each is invalid by the contract's validator, so no conforming device can fail them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import VectorHeader
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import Memory, Model
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.versions import NEWEST, Version
from npu_conformance.vts import validation
from npu_conformance.vts.lib.mutations import FAMILIES, Family, Mutation, needs
from npu_conformance.vts.lib.mutations.mutation import LARGEST_CONSTANT

BY_NAME = {family.name: family for family in FAMILIES}
EVERY = 60
"""One vector of so many is looked at here; all of them were once (docs/benchmarks.md)."""


def _valid() -> list[VectorHeader]:
    return [header for header in vectors.all_headers() if header.rejected is None]


def _sample(family: Family) -> Iterator[VectorHeader]:
    """Every so many vectors, and all that a family needs which few vectors are for."""
    few = family.needs in (needs.other_graphs, needs.several_operations, needs.channels)
    for position, header in enumerate(_valid()):
        if position % EVERY == 0 or (few and (len(header.operations) > 1 or header.operation in ("IF", "CONV_2D"))):
            yield header


def _model(header: VectorHeader, version: Version, *, pooled: bool = False) -> Model:
    def pool_of(data: bytes) -> Memory:
        return Memory("ashmem", len(data), token=7)

    vector = vectors.load(header.operation, header.name)
    return build_model(vector, version, create_pool=pool_of if pooled else None).model


def _mutations(family: Family, header: VectorHeader, version: Version) -> list[Mutation]:
    if header.since > version or not family.since <= version <= family.until:
        return []
    return list(family.mutate(_model(header, version, pooled=family.pooled), version))


def _labels(name: str, operation: str, vector: str) -> set[str]:
    headers = {header.name: header for header in vectors.headers(operation)}
    return {mutation.label for mutation in _mutations(BY_NAME[name], headers[vector], NEWEST)}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_mutation_is_invalid_by_the_contract(family: Family) -> None:
    counted, accepted = 0, []
    for number, header in enumerate(_sample(family)):
        version = list(Version)[number % len(Version)]
        for mutation in _mutations(family, header, max(version, header.since, family.since)):
            counted += 1
            if not validate_model(mutation.model, max(version, header.since, family.since)):
                accepted.append(f"{header.operation}.{header.name} {version} {mutation.label}")
    assert not accepted
    assert counted, "the family offers no mutation of any sampled vector"


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_mutations_have_labels_of_their_own(family: Family) -> None:
    version = min(family.until, NEWEST)
    for header in _sample(family):
        labels = [mutation.label for mutation in _mutations(family, header, version)]
        assert len(set(labels)) == len(labels)


def test_all_of_aosps_families_are_there() -> None:
    """20 of its 22; the other two change the preference and the priority."""
    names = {word for family in FAMILIES for word in family.aosp.split() if word != "and"}
    assert len(names) == 20


def _vectors_of(*operations: str) -> list[VectorHeader]:
    return [header for name in operations for header in vectors.headers(name) if header.rejected is None]


@pytest.mark.parametrize(
    ("operation", "count", "place"),
    [
        ("DEPTHWISE_CONV_2D", 12, 11), ("DEPTHWISE_CONV_2D", 9, 8), ("CONV_2D", 11, 10), ("CONV_2D", 8, 7),
        ("AVERAGE_POOL_2D", 11, 10), ("MAX_POOL_2D", 8, 7), ("L2_POOL_2D", 8, 7), ("RESIZE_BILINEAR", 4, 3),
        ("RESIZE_BILINEAR", 6, 3), ("RESIZE_NEAREST_NEIGHBOR", 6, 4), ("SPACE_TO_DEPTH", 3, 2),
        ("DEPTH_TO_SPACE", 3, 2), ("BATCH_TO_SPACE_ND", 3, 2), ("SPACE_TO_BATCH_ND", 4, 3),
        ("L2_NORMALIZATION", 2, 1), ("LOCAL_RESPONSE_NORMALIZATION", 6, 5), ("SOFTMAX", 3, 2),
        ("CONCATENATION", 4, 0), ("PACK", 4, 1),
    ],
)  # fmt: skip
def test_inputs_that_aosp_lets_go_are_not_removed(operation: str, count: int, place: int) -> None:
    code, seen = OperationType[operation], 0
    for header in _vectors_of(operation):
        model = _model(header, NEWEST)
        position = next(at for at, one in enumerate(model.main.operations) if one.type == code)
        if len(model.main.operations[position].inputs) == count:
            seen += 1
            labels = _labels("remove_operation_input", operation, header.name)
            assert f"operation{position}.inputs{place}_removed" not in labels
    if not seen:
        pytest.skip("no stored vector has so many inputs")


@pytest.mark.parametrize(("operation", "count"), [("L2_NORMALIZATION", 1), ("LOCAL_RESPONSE_NORMALIZATION", 5)])
def test_inputs_that_a_signature_has_a_place_for_are_not_added(operation: str, count: int) -> None:
    for header in _vectors_of(operation):
        model = _model(header, NEWEST)
        if len(model.main.operations) == 1:
            has_place = len(model.main.operations[0].inputs) == count
            assert bool(_labels("add_operation_input", operation, header.name)) is not has_place


@pytest.mark.parametrize("operation", ["CAST", "ARGMAX", "ARGMIN"])
def test_types_stay_in_models_that_aosp_is_lenient_about(operation: str) -> None:
    lenient = {"tensor_float16", "tensor_float32", "tensor_int32", "tensor_quant8_asymm", "tensor_quant8_asymm_signed"}
    for header in _vectors_of(operation):
        labels = _labels("operation_operand_type", operation, header.name)
        assert labels
        assert not {label.rpartition(".")[2] for label in labels} & lenient


def test_no_operand_takes_a_type_that_its_operation_takes() -> None:
    labels = _labels("operation_operand_type", "DEQUANTIZE", _vectors_of("DEQUANTIZE")[0].name)
    assert labels
    assert not {f"operand0.{kind}" for kind in ("tensor_quant8_symm", "tensor_quant8_asymm")} & labels
    assert OperandType.TENSOR_BOOL8.name.lower() in {label.rpartition(".")[2] for label in labels}


@pytest.mark.parametrize("name", ["operand_lifetime", "operand_input_output", "operation_operand_type"])
def test_new_constants_are_small_and_inside_the_values(name: str) -> None:
    for header in _sample(BY_NAME[name]):
        original = _model(header, NEWEST) if header.since <= NEWEST else None
        for mutation in _mutations(BY_NAME[name], header, NEWEST):
            assert original is not None
            grown = len(mutation.model.operand_values)
            assert grown <= max(len(original.operand_values), LARGEST_CONSTANT)


@pytest.mark.parametrize("name", ["operand_rank", "channel_quantization", "constant_size", "pool_location"])
def test_every_case_of_a_family_has_a_vector_that_offers_the_edit(name: str) -> None:
    """What no vector of an operation offers is not a case: it would apply in no version."""
    family, never = BY_NAME[name], []
    for case in validation.cases():
        if case.id.endswith(f".{name}"):
            headers = (header for header in _valid() if header.operation == case.operations[0] and family.needs(header))
            first = next(headers)
            if not any(_mutations(family, first, version) for version in Version):
                never.append(case.id)
    assert never == []
