"""Vectors that ARGMAX and ARGMIN share."""

import math

import numpy

from npu_conformance.corpus.generators._as_reals import as_reals
from npu_conformance.corpus.generators._elementwise import SHORT, stored_bytes
from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._many_results import many_results
from npu_conformance.corpus.generators.base import INTERNAL, Vectors, positive, rejected
from npu_conformance.corpus.generators.data import FAR_EXTREMES, dyadic, integers
from npu_conformance.corpus.generators.operands import OperandSpec, int32, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32, INT32, QUANT8, SIGNED
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.neuralnetworks.enums import OperandType

Shape = tuple[int, ...]
_CASES: dict[str, tuple[Shape, int]] = {
    "rank1": ((7,), 0),
    "rank1_from_end": ((7,), -1),
    "rank2_rows": ((4, 3), 0),
    "rank2_columns": ((4, 5), 1),
    "rank3_middle": ((2, 3, 4), 1),
    "rank3_first_from_end": ((3, 2, 4), -3),
    "rank4_channels": ((2, 3, 2, 4), -1),
    "rank4_height": ((2, 5, 2, 3), 1),
    "rank4_width_from_end": ((2, 3, 5, 2), -2),
    "rank5": ((2, 3, 1, 4, 2), 3),
    "one_of_one": ((2, 1, 3), 2),
}
"""Shape of the input, and axis."""


def vectors(operation: str) -> Vectors:
    """Pairwise: type, rank and axis from either end; ties; limits of the types; infinities; open dimensions.

    Of equal elements the first counts. What a NaN gives is left out.
    """
    rows = pairwise({"type": [FLOAT32, FLOAT16, INT32, QUANT8, SIGNED], "case": list(_CASES)})
    for seed, row in enumerate(rows):
        kind, (shape, axis) = row["type"], _CASES[row["case"]]
        yield _positive(f"{SHORT[kind]}_{row['case']}", operation, _input(kind, shape, seed), axis)
    for seed, kind in enumerate((FLOAT32, FLOAT16, INT32, QUANT8, SIGNED)):
        about = "no size tells one axis from another"
        yield _positive(f"{SHORT[kind]}_cube_axis_1", operation, _input(kind, (3, 3, 3), seed + 90), 1, about)
    for kind in (FLOAT32, QUANT8, INT32):
        yield as_reals(_positive(f"{SHORT[kind]}_found", operation, _input(kind, (5, 9), 70), 1), "output")
    far = tensor(INT32, (100_001,), FAR_EXTREMES)
    yield _positive("int32_index_needs_more_than_16_bits", operation, far, 0)
    yield from many_results(operation)
    yield from _ties(operation)
    yield from _limits(operation)
    yield from _open(operation)
    yield from long_axes(operation)
    yield from _rejected(operation)


def _positive(
    name: str, operation: str, source: OperandSpec, axis: int, about: str = "", excluded: tuple[str, ...] = ()
) -> Vector:
    shape = list(source.shape)
    del shape[axis]
    return positive(
        name,
        operation,
        {"input": source, "axis": int32(axis)},
        {"output": tensor(INT32, shape or [1])},
        hazards=["argmax-ties"],
        description=about,
        excluded=excluded,
    )


def _input(kind: OperandType, shape: Shape, seed: int) -> OperandSpec:
    if kind in (FLOAT32, FLOAT16):
        return tensor(kind, shape, dyadic(seed, shape))
    if kind is INT32:
        return tensor(kind, shape, integers(seed, shape, -9, 9))
    shift = 128 if kind is SIGNED else 0
    return tensor(kind, shape, stored_bytes(seed, shape, shift), scale=0.25, zero_point=100 - shift)


def _ties(operation: str) -> Vectors:
    """Rows and columns whose extreme element occurs twice, not side by side: an index may be off by one."""
    elements = [7, 1, 7, 1, 1, 5, 3, 5, 7, 3, 7, 1, 1, 5, 1, 5]
    for kind in (FLOAT32, FLOAT16, INT32, QUANT8, SIGNED):
        scale, point = (0.5, 4) if kind in (QUANT8, SIGNED) else (0.0, 0)
        source = tensor(kind, (4, 4), elements, scale=scale, zero_point=point)
        for axis in (0, 1):
            about = "of equal elements the first one counts"
            yield _positive(f"{SHORT[kind]}_ties_{axis}", operation, source, axis, about)
    for seed, kind in enumerate((FLOAT32, FLOAT16, INT32, QUANT8)):
        few = numpy.where(integers(seed, (5, 67), 0, 9) == 0, 3 if operation == "ARGMAX" else 1, 2)
        source = tensor(kind, (5, 67), few, scale=0.5 if kind is QUANT8 else 0.0)
        about = "of equal elements the first one counts, also where lanes of a device are compared with each other"
        yield _positive(f"{SHORT[kind]}_ties_of_67", operation, source, 1, about)


def _limits(operation: str) -> Vectors:
    top, bottom = 2**31 - 1, -(2**31)
    exact, more, large = 2**24, 2**24 + 1, 2**25
    elements = [0, bottom, -1, top, top, 0, 1, bottom, exact, 0, 0, more, more, large, large, exact]
    about = "a comparison in float32 would not tell 2^24 + 1 from 2^24, and differences overflow"
    yield _positive("int32_limits", operation, tensor(INT32, (4, 4), elements), 1, about)
    for kind in (QUANT8, SIGNED):
        shift = 128 if kind is SIGNED else 0
        elements = [element - shift for element in (127, 128, 255, 0, 0, 255, 128, 127, 1, 2, 254, 253)]
        source = tensor(kind, (3, 4), elements, scale=0.5, zero_point=255 - shift)
        yield _positive(f"{SHORT[kind]}_limits", operation, source, 1)
    for kind in (FLOAT32, FLOAT16):
        values = [1.0, math.inf, -2.0, -math.inf, -math.inf, 3.0, 60000.0, math.inf, -1.0, -2.0, -60000.0, -3.0]
        yield _positive(f"{SHORT[kind]}_infinities", operation, tensor(kind, (3, 4), values), 1)
    one = 1.0 + 2.0**-23
    source = tensor(FLOAT32, (2, 4), [1.0, -9.0, -9.0, one, -1.0, 9.0, 9.0, -one])
    about = "float16 does not tell the two from each other"
    yield _positive("float32_last_bit", operation, source, 1, about, ("relaxed", "float16", INTERNAL))


def _open(operation: str) -> Vectors:
    """Sizes or rank that only the request tells, and an axis that it brings."""
    data = dyadic(80, (2, 3, 4))
    for name, declared, output in (("rank", (), ()), ("sizes", (0, 3, 0), (0, 0))):
        yield positive(
            f"float32_unknown_{name}",
            operation,
            {"input": tensor(FLOAT32, declared, data, shape=(2, 3, 4)), "axis": int32(1)},
            {"output": tensor(INT32, output)},
        )
    for name, shape, output in (("axis_of_the_request", (2, 3, 4), (2, 4)), ("axis_of_the_request_rank1", (24,), ())):
        axis = tensor(OperandType.INT32, (), [-2 if output else 0])
        yield positive(
            f"float32_{name}",
            operation,
            {"input": tensor(FLOAT32, shape, data), "axis": axis},
            {"output": tensor(INT32, output)},
            description="the axis is a model input",
        )


def _rejected(operation: str) -> Vectors:
    cases: tuple[tuple[str, Shape, int, Shape, str], ...] = (
        ("axis_too_large", (2, 3), 2, (2,), "C1"),
        ("axis_too_small", (2, 3), -3, (3,), "C1"),
        ("output_keeps_the_axis", (2, 3), 1, (2, 1), "C3"),
        ("output_of_other_axis", (2, 3), 1, (3,), "C3"),
        ("output_of_rank1_too_long", (3,), 0, (3,), "C3"),
    )
    for name, shape, axis, declared, clause in cases:
        yield rejected(
            name,
            operation,
            {"input": _input(FLOAT32, shape, 1), "axis": int32(axis)},
            {"output": tensor(INT32, declared)},
            clause=f"{operation}.{clause}",
        )
    yield rejected(
        "output_of_the_input_type",
        operation,
        {"input": _input(FLOAT32, (2, 3), 1), "axis": int32(1)},
        {"output": tensor(FLOAT32, (2,))},
        clause="MODEL.P3",
        since="1.2",
    )
