"""The plan of PAD_V2."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.plans._moves import FOUR, result, source
from npu_conformance.specs.plans.base import positive, scalar
from npu_conformance.specs.plans.pad import CASES, padded, paddings
from npu_conformance.specs.vectors import Vector

SCALARS = {"float32": OperandType.FLOAT32, "float16": OperandType.FLOAT16}


def vectors() -> Iterator[Vector]:
    """Every type and rank; the value as a stored integer for quantised types, with both limits of the type."""
    for kind in FOUR:
        for name in CASES:
            value = -6.5 if kind.startswith("float") else 200 - _shift(kind)
            yield _vector(f"{kind}_{name}", kind, name, value)
    for kind in ("quant8", "quant8_signed"):
        for value in (0, 9, 255):
            yield _vector(f"{kind}_raw_value_{value}", kind, "rank2", value - _shift(kind))
    for kind in ("float32", "float16"):
        yield _vector(f"{kind}_value_zero", kind, "rank3", 0.0)
        yield _vector(f"{kind}_value_large", kind, "rank3", 60000.0)


def _shift(kind: str) -> int:
    return 128 if kind == "quant8_signed" else 0


def _vector(name: str, kind: str, case: str, value: float) -> Vector:
    dimensions, pairs = CASES[case]
    return positive(
        name,
        "PAD_V2",
        {
            "input": source(kind, dimensions, zero_point=9),
            "paddings": paddings(pairs),
            "pad_value": scalar(SCALARS.get(kind, OperandType.INT32), value),
        },
        {"output": result(kind, padded(dimensions, pairs), zero_point=9)},
        since="1.2",
        traps=[22],
    )
