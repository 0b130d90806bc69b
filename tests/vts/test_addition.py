"""The addition of the suites runs in a type that the device has, and tells right sums from wrong ones in each."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from npu_conformance.faults import kill_matrix, registry
from npu_conformance.harness.judge.verdicts import Failed, NotSupported
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.versions import NEWEST, Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import ADDITIONS, Addition

_EACH = pytest.mark.parametrize("chosen", ADDITIONS, ids=lambda chosen: chosen.operand_type.name)


def _context(version: Version, *kinds: OperandType) -> Any:
    """The context of a case on a device that supports these types alone."""

    def supported_operations(model: Model) -> tuple[bool, ...]:
        return (model.main.operands[0].type in kinds,)

    return SimpleNamespace(version=version, supported_operations=supported_operations)


@_EACH
def test_values_fill_a_tensor_and_come_back_exactly(chosen: Addition) -> None:
    for values in (addition.A, addition.B, addition.SUM, (-8.0, 0.5), (0.0, 0.0)):
        data = chosen.packed(values)
        assert len(data) == addition.SIZE
        assert chosen.unpacked(data) == values * (chosen.elements // 2)


@_EACH
def test_models_are_legal_since_the_version_that_is_said(chosen: Addition) -> None:
    assert not validate_model(chosen.model(), chosen.since)
    assert not validate_model(chosen.model(), NEWEST)
    older = [version for version in Version if version < chosen.since]
    assert all(validate_model(chosen.model(), version) for version in older)


@_EACH
def test_wrong_sums_are_detected(chosen: Addition) -> None:
    chosen.check(chosen.packed(addition.SUM), addition.SUM, "sum")
    good = chosen.packed(addition.SUM)
    half = good[: addition.SIZE // 2] + chosen.packed(addition.A)[addition.SIZE // 2 :]
    for data in (chosen.packed(addition.A), chosen.packed(addition.B), bytes(addition.SIZE), half):
        with pytest.raises(Failed, match="sum: expected"):
            chosen.check(data, addition.SUM, "sum")


def test_quantised_sums_may_be_off_by_one_step_and_floats_by_none() -> None:
    first, second = addition.SUM
    for chosen in ADDITIONS:
        near = chosen.unpacked(chosen.packed((first + 0.25, second)))
        assert chosen.matches(near, addition.SUM) == (chosen.scale > 0)
        assert not chosen.matches(chosen.unpacked(chosen.packed((first + 0.5, second))), addition.SUM)


def test_nothing_matches_what_is_not_a_number() -> None:
    assert not addition.FLOAT32.matches((float("nan"), 2.0), addition.SUM)


@_EACH
def test_the_first_type_of_the_device_is_taken(chosen: Addition) -> None:
    assert addition.supported(_context(NEWEST, chosen.operand_type)) == chosen
    assert addition.supported(_context(NEWEST, chosen.operand_type, OperandType.TENSOR_FLOAT32)) == addition.FLOAT32


def test_types_younger_than_the_device_are_not_tried() -> None:
    device = _context(Version.V1_1, OperandType.TENSOR_FLOAT16, OperandType.TENSOR_QUANT8_ASYMM_SIGNED)
    with pytest.raises(NotSupported, match=r"none of TENSOR_FLOAT32, TENSOR_QUANT8_ASYMM$"):
        addition.supported(device)


_PRECISION, _QUANTIZATION = (f"vts.preparation.models.of_other_{what}" for what in ("precision", "quantization"))
_OFFSETS = {f"vts.memory.odd_offsets.{name}" for name in ("pooled_constant", "copied_constant", "input", "output")}
_OF_OTHER_TYPES = {"quantised-only": {_PRECISION, *_OFFSETS}, "float16-only": {_PRECISION, _QUANTIZATION}}
"""Cases about types that a device does not have: float32 in relaxed mode, elements of several bytes, and scales."""


@pytest.mark.parametrize("name", ["quantised-only", "float16-only"])
@pytest.mark.parametrize("area", ["memory", "preparation", "requests"])
def test_devices_of_one_type_pass_all_that_applies(name: str, area: str) -> None:
    cases = [case for case in kill_matrix.all_cases() if case.id.startswith(f"vts.{area}.") and case.until is NEWEST]
    row = kill_matrix.run_variant(registry.conforming()[name], cases)
    assert row.is_green, row
    assert row.passed == len([case for case in cases if case.id not in _OF_OTHER_TYPES[name]])


def test_a_sum_that_was_not_written_is_told_to_be_so() -> None:
    with pytest.raises(Failed, match=r"found .*; what is wrong was not written, and still holds the 0xA5 of the test$"):
        addition.FLOAT32.check(b"\xa5" * addition.SIZE, addition.SUM, "sum")
