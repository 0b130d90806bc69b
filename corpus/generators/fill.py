"""The generator of FILL."""

import math
from collections.abc import Sequence

from npu_conformance.corpus.generators._elementwise import SHORT
from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._many_results import many_results
from npu_conformance.corpus.generators.base import Vectors, positive, rejected
from npu_conformance.corpus.generators.operands import OperandSpec, int32s, scalar, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32, INT32
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.neuralnetworks.enums import OperandType

_SCALARS = {FLOAT32: OperandType.FLOAT32, FLOAT16: OperandType.FLOAT16, INT32: OperandType.INT32}
_VALUES: dict[OperandType, dict[str, float]] = {
    FLOAT32: {"ordinary": 1.7, "negative": -3.25, "zero": 0.0, "largest": 3.4028235e38, "smallest": 1.1754944e-38},
    FLOAT16: {"ordinary": 1.7, "negative": -3.25, "zero": 0.0, "largest": 65504.0, "smallest": 6.104e-05},
    INT32: {"ordinary": 7, "negative": -2, "zero": 0, "largest": 2**31 - 1, "smallest": -(2**31)},
}
_SHAPES: tuple[tuple[int, ...], ...] = ((5,), (2, 3), (1, 3, 2), (2, 1, 3, 2), (1, 2, 1, 2, 2))
_KNOWN = ("constant", "request", "open_sizes", "open_rank")
"""Where dims come from, the output being declared; and from the request, sizes or rank of the output being open."""


def vectors() -> Vectors:
    """Pairwise: type, value, rank, where the sizes come from; values of the request; infinities, every bit of int32."""
    rows = pairwise({"type": list(_SCALARS), "value": list(_VALUES[INT32]), "shape": _SHAPES, "known": _KNOWN})
    for row in rows:
        kind, shape = row["type"], row["shape"]
        yield _positive(
            f"{SHORT[kind]}_{row['value']}_rank{len(shape)}_{row['known']}",
            shape,
            scalar(_SCALARS[kind], _VALUES[kind][row["value"]]),
            row["known"],
        )
    yield from many_results("FILL")
    for kind, scalar_kind in _SCALARS.items():
        value = tensor(scalar_kind, (), [-5])
        for known in ("constant", "open_rank"):
            yield _positive(f"{SHORT[kind]}_value_of_the_request_{known}", (3, 2), value, known)
    for kind in (FLOAT32, FLOAT16):
        for name, number in (("infinity", math.inf), ("minus_infinity", -math.inf)):
            yield _positive(f"{SHORT[kind]}_{name}", (2, 2), scalar(_SCALARS[kind], number), "request")
    yield _positive("int32_beyond_float32", (2, 3), scalar(OperandType.INT32, 2**28 + 13), "request")
    yield from _rejected()
    yield from long_axes("FILL")


def _positive(name: str, shape: Sequence[int], value: OperandSpec, known: str) -> Vector:
    sizes = int32s(*shape) if known == "constant" else tensor(INT32, (len(shape),), shape)
    kind = next(kind for kind, scalar_kind in _SCALARS.items() if scalar_kind is value.operand.type)
    declared = {"open_sizes": (0,) * len(shape), "open_rank": ()}.get(known, tuple(shape))
    return positive(name, "FILL", {"dims": sizes, "value": value}, {"output": tensor(kind, declared)})


def _rejected() -> Vectors:
    seven = scalar(OperandType.FLOAT32, 7.0)
    for name, sizes, declared, clause in (
        ("negative_size", (2, -1), (), "C2"),
        ("output_declared_transposed", (2, 3), (3, 2), "C4"),
        ("output_declared_of_other_rank", (2, 3), (6,), "C4"),
        ("output_declared_of_other_length", (4,), (5,), "C4"),
    ):
        for place in ("constant", "request"):
            dims = int32s(*sizes) if place == "constant" else tensor(INT32, (len(sizes),), sizes)
            yield rejected(
                f"{name}_{place}",
                "FILL",
                {"dims": dims, "value": seven},
                {"output": tensor(FLOAT32, declared)},
                clause=f"FILL.{clause}",
                since="1.3",
            )
    for found in (False, True):
        yield rejected(
            "dims_of_rank2_at_execution" if found else "dims_of_rank2",
            "FILL",
            {"dims": tensor(INT32, () if found else (1, 2), [2, 3], shape=(1, 2)), "value": seven},
            {"output": tensor(FLOAT32, ())},
            clause="FILL.C1" if found else "MODEL.P3R",
            phase="execution",
            since="1.3",
        )
    yield rejected(
        "output_of_another_type",
        "FILL",
        {"dims": int32s(2), "value": seven},
        {"output": tensor(INT32, (2,))},
        clause="MODEL.P3",
        since="1.3",
    )
