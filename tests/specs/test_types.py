"""Wire types: names as AIDL spells them, floats that survive JSON, versions of fields and methods."""

from __future__ import annotations

import math

import msgspec
import pytest

from npu_conformance.specs import naming, versions
from npu_conformance.specs.errors import Unsupported
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.neuralnetworks import enums, hal, types
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, byte_size
from npu_conformance.specs.versions import Version
from npu_conformance.specs.wire_types import NonFinite, field_since


def test_versions_are_ordered_by_age_and_not_by_spelling() -> None:
    assert sorted([Version.FL5, Version.V1_3, Version.V1_0]) == [Version.V1_0, Version.V1_3, Version.FL5]
    assert [version.is_aidl for version in (Version.V1_3, Version.FL5)] == [False, True]
    with pytest.raises(ValueError, match=r"'2\.0'.*1\.0 1\.1"):
        versions.parse("2.0")


@pytest.mark.parametrize(
    ("python", "wire"),
    [
        ("zero_point", "zeroPoint"),
        ("get_number_of_cache_files_needed", "getNumberOfCacheFilesNeeded"),
        ("relax_computation_float32_to_float16", "relaxComputationFloat32toFloat16"),
        ("num_model_cache", "numModelCache"),
        ("type", "type"),
    ],
)
def test_names_on_the_wire_are_aidls(python: str, wire: str) -> None:
    assert naming.camel_case(python) == wire


def test_every_irregular_name_is_used_by_a_type() -> None:
    fields = {*types.Model.__struct_fields__, *types.Capabilities.__struct_fields__}
    performance = "relaxed_float32_to_float16_performance"
    assert naming.IRREGULAR.keys() <= fields
    assert {f"{performance}_scalar", f"{performance}_tensor"} <= naming.IRREGULAR.keys()


@pytest.mark.parametrize(("value", "spelling"), [(math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity")])
def test_floats_without_a_json_number_survive(value: float, spelling: str) -> None:
    operand = types.Operand(scale=value)
    encoded = msgspec.json.encode(operand, enc_hook=_spell)
    assert f'"scale":"{spelling}"'.encode() in encoded
    back = msgspec.json.decode(encoded, type=types.Operand)
    assert repr(float(back.scale)) == repr(value)


def test_wire_structs_are_open() -> None:
    text = b'{"type":99,"zeroPoint":1000000,"lifetime":-7,"invented":true}'
    operand = msgspec.json.decode(text, type=types.Operand)
    assert (operand.type, operand.zero_point, operand.lifetime) == (99, 1_000_000, -7)


def test_fields_say_when_they_appeared() -> None:
    assert field_since(types.Model, "referenced") is Version.V1_3
    assert field_since(types.Model, "main") is Version.V1_0
    assert field_since(types.DataLocation, "padding") is Version.FL5


def test_methods_say_which_versions_have_them() -> None:
    methods = describe(hal.Device)
    assert methods["get_status"].mark.until is Version.V1_3
    assert methods["prepare_model_with_config"].mark.since is Version.FL8
    assert len(methods) == 11


def test_what_is_not_implemented_is_refused() -> None:
    class Bare(hal.Device):
        """Implements nothing."""

    with pytest.raises(Unsupported, match=r"Device\.getType is not implemented"):
        Bare().get_type()


def test_documented_statuses_follow_the_version() -> None:
    old = hal.documented_statuses("NUGAMR", Version.V1_2)
    assert old == {
        enums.ErrorStatus.NONE,
        enums.ErrorStatus.DEVICE_UNAVAILABLE,
        enums.ErrorStatus.GENERAL_FAILURE,
        enums.ErrorStatus.INVALID_ARGUMENT,
    }
    assert enums.ErrorStatus.MISSED_DEADLINE_PERSISTENT in hal.documented_statuses("NUGAMR", Version.FL5)


def test_every_operand_type_has_its_properties() -> None:
    assert OPERAND_TYPES.keys() == set(enums.OperandType)
    assert byte_size(enums.OperandType.TENSOR_FLOAT16, (2, 3)) == 12
    assert byte_size(enums.OperandType.TENSOR_FLOAT16, ()) == 0
    assert byte_size(enums.OperandType.INT32, ()) == 4
    assert byte_size(99, (2,)) == 0


def _spell(value: NonFinite) -> str:
    return value.spelling
