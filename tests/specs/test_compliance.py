"""Whether a version can express a value, and what is lost where it cannot."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from npu_conformance.corpus import vectors
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.specs.neuralnetworks.compliance import (
    NotCompliantError,
    compliant_version,
    convert_to,
    is_compliant_with,
)
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Memory,
    Model,
    Request,
    RequestArgument,
    RequestMemoryPool,
)
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.versions import Version


def model(operation: str, name: str, version: Version = Version.FL8) -> Model:
    return build_model(vectors.load(operation, name), version).model


def test_a_model_is_as_old_as_its_newest_part() -> None:
    addition = model("ADD", "float32_none_same")
    assert compliant_version(addition) == Version.V1_0
    relaxed = replace(addition, relax_computation_float32_to_float16=True)
    assert compliant_version(relaxed) == Version.V1_1
    assert is_compliant_with(relaxed, Version.V1_1)
    assert not is_compliant_with(relaxed, Version.V1_0)
    assert compliant_version(model("ADD", "float16_none_row")) == Version.V1_2


def test_a_converted_model_is_legal_and_says_what_it_lost() -> None:
    relaxed = replace(model("ADD", "float32_none_same"), relax_computation_float32_to_float16=True)
    converted = convert_to(relaxed, Version.V1_0)
    assert converted.lost == ("relaxComputationFloat32toFloat16 is not known before 1.1: left out",)
    assert not converted.value.relax_computation_float32_to_float16
    assert validate_model(converted.value, Version.V1_0) == []
    assert convert_to(relaxed, Version.V1_1).lost == ()


def test_hidl_gets_the_counts_of_consumers_that_aidl_leaves_out() -> None:
    built = model("ADD", "float32_same_operand_twice")
    bare = replace(
        built,
        main=replace(built.main, operands=tuple(replace(one, number_of_consumers=0) for one in built.main.operands)),
    )
    assert validate_model(bare, Version.V1_3) != []
    converted = convert_to(bare, Version.V1_3)
    assert validate_model(converted.value, Version.V1_3) == []
    assert converted.value.main.operands[0].number_of_consumers == 2


@pytest.mark.parametrize(
    ("operation", "name", "needed"),
    [
        ("ADD", "float16_none_row", "1.2"),
        ("IF", "float32_condition_0", "1.3"),
        ("MEAN", "float32_rank1_dropped", "1.1"),
    ],
)
def test_what_can_not_be_left_out_is_refused(operation: str, name: str, needed: str) -> None:
    with pytest.raises(NotCompliantError, match=f"needs version {needed}, and cannot be expressed in 1.0"):
        convert_to(model(operation, name), Version.V1_0)


def test_other_values_lose_fields_by_their_paths() -> None:
    place = DataLocation(0, 4, 8, padding=16)
    request = Request((RequestArgument(location=place),), (), (RequestMemoryPool(token=3),))
    assert compliant_version(request) == Version.FL5
    converted = convert_to(request, Version.V1_2)
    assert converted.lost == (
        "inputs[0].location.padding is not known before fl5: left out",
        "pools[0].token is not known before 1.3: left out",
    )
    assert converted.value.inputs[0].location == DataLocation(0, 4, 8)
    assert compliant_version(Memory("ashmem", 4, 1)) == Version.V1_0
