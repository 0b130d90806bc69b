"""Operands of a model that is being built."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.misuse import BAD_DATA, BAD_STATE, Misuses
from npu_conformance.cts.lib.runtime.objects import FINISHED_MODEL, INVALID_MODEL
from npu_conformance.harness.run.cases import Case, CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription
from npu_conformance.specs.versions import Version

_own = CaseGroup("cts.misuse", interface="runtime", group=Group.RUNTIME_MODELS)

_FIRST_EXTENSION_TYPE = 0x7FFE << 16
"""A type of a prefix that no extension of this process has."""


def _type(kind: int, *dimensions: int, scale: float = 0.0, zero_point: int = 0) -> dict[str, Any]:
    return {"type": OperandDescription(kind, len(dimensions), dimensions or None, scale, zero_point)}


def _quantised(kind: OperandType, *zero_points: int) -> list[dict[str, Any]]:
    return [_type(kind, 2, scale=0.5, zero_point=zero_point) for zero_point in zero_points]


def _add_operand() -> Misuses:
    table = Misuses("model_add_operand")
    table.null("model", "type")
    _scales_and_zero_points(table)
    _without_quantisation(table)
    _dimensions(table)
    table.row("unregistered_extension", BAD_DATA, _type(_FIRST_EXTENSION_TYPE, 2), of="FW-EXT-001")
    table.row("finished_model", BAD_STATE, {"model": FINISHED_MODEL}, of="FW-MDL-001")
    table.row("invalid_model", BAD_STATE, {"model": INVALID_MODEL}, of="FW-MDL-001 FW-MDL-025")
    return table


def _scales_and_zero_points(table: Misuses) -> None:
    asymmetric, signed = OperandType.TENSOR_QUANT8_ASYMM, OperandType.TENSOR_QUANT8_ASYMM_SIGNED
    symmetric = (OperandType.TENSOR_QUANT8_SYMM, OperandType.TENSOR_QUANT16_SYMM)
    table.row("negative_scale", BAD_DATA, _type(asymmetric, 2, scale=-1.0), of="FW-MDL-005")
    table.row("zero_scale", BAD_DATA, _type(asymmetric, 2), of="FW-MDL-005")
    table.row("zero_point_of_quant8_asymm", BAD_DATA, *_quantised(asymmetric, -1, 256), of="FW-MDL-005")
    table.row(
        "zero_point_of_quant8_asymm_signed",
        BAD_DATA,
        *_quantised(signed, -129, 128),
        _type(signed, 2),
        of="FW-MDL-006",
        since=Version.V1_3,
    )
    table.row(
        "zero_point_of_symmetric_types",
        BAD_DATA,
        *(change for kind in symmetric for change in (*_quantised(kind, 1, -1), _type(kind, 2))),
        of="FW-MDL-007",
        since=Version.V1_2,
    )
    table.row(
        "zero_point_of_quant16_asymm",
        BAD_DATA,
        *_quantised(OperandType.TENSOR_QUANT16_ASYMM, 65536, -1),
        _type(OperandType.TENSOR_QUANT16_ASYMM, 2),
        of="FW-MDL-008",
        since=Version.V1_2,
    )


def _without_quantisation(table: Misuses) -> None:
    table.row(
        "quantised_float",
        BAD_DATA,
        _type(OperandType.TENSOR_FLOAT32, 2, scale=1.0),
        _type(OperandType.TENSOR_FLOAT32, 2, zero_point=1),
        _type(OperandType.FLOAT32, scale=1.0),
        of="FW-MDL-009",
    )
    table.row(
        "scale_not_a_number", BAD_DATA, _type(OperandType.TENSOR_QUANT8_ASYMM, 2, scale=math.nan), of="FW-MDL-005"
    )
    booleans = (
        _type(OperandType.TENSOR_BOOL8, 2, scale=1.0),
        _type(OperandType.TENSOR_BOOL8, 2, zero_point=1),
        _type(OperandType.BOOL, scale=1.0),
        _type(OperandType.TENSOR_FLOAT16, 2, scale=1.0),
    )
    table.row("quantised_boolean", BAD_DATA, *booleans, of="FW-MDL-009", since=Version.V1_2)


def _dimensions(table: Misuses) -> None:
    table.row("scalar_with_dimensions", BAD_DATA, _type(OperandType.INT32, 1), of="FW-MDL-003")
    table.row(
        "count_without_dimensions",
        BAD_DATA,
        {"type": OperandDescription(OperandType.TENSOR_FLOAT32, 1, None)},
        of="FW-MDL-002",
    )
    table.row(
        "dimensions_without_count",
        BAD_DATA,
        {"type": OperandDescription(OperandType.TENSOR_FLOAT32, 0, (2,))},
        {"type": OperandDescription(OperandType.TENSOR_FLOAT32, 0, ())},
        of="FW-MDL-002",
    )
    table.row("unknown_type", BAD_DATA, *(_type(kind, 2) for kind in (-1, 16, 9999, 10002)), of="FW-MDL-004")
    table.row(
        "size_overflows",
        BAD_DATA,
        _type(OperandType.TENSOR_FLOAT32, 1 << 16, 1 << 16),
        _type(OperandType.TENSOR_FLOAT32, 1 << 30),
        _type(OperandType.TENSOR_FLOAT32, 1 << 16, 0, 1 << 16),
        _type(OperandType.TENSOR_FLOAT32, *(1 << 16,) * 4),  # a product of which 64 bits keep nothing
        of="FW-MDL-010",
    )


@_own.case("model_add_operand.largest_size", "FW-MDL-010")
def largest_size(context: CaseContext) -> None:
    """Operands of 2^32 - 1 bytes, or a whole number of elements less, are not too large."""
    app = RuntimeApp(context)
    model = app.empty_model()
    app.succeed("model_add_operand", model, **_type(OperandType.TENSOR_FLOAT32, (1 << 30) - 1))
    longest = _type(OperandType.TENSOR_QUANT8_ASYMM, (1 << 16) + 1, (1 << 16) - 1, scale=1.0)
    app.succeed("model_add_operand", model, **longest)
    # An unknown dimension counts for nothing.
    half_known = _type(OperandType.TENSOR_QUANT8_ASYMM, 0, (1 << 32) - 1, scale=1.0)
    app.succeed("model_add_operand", model, **half_known)


def cases() -> Iterator[Case]:
    """All cases."""
    yield from _own()
    yield from _add_operand()
