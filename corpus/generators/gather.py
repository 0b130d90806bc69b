"""The generator of GATHER."""

from collections.abc import Sequence

import numpy

from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._moves import (
    FAR,
    FIVE,
    bytes_at_load,
    late,
    opened,
    rejected_outputs,
    result,
    source,
    special_floats,
    unknown,
)
from npu_conformance.corpus.generators.base import Vectors, positive, rejection
from npu_conformance.corpus.generators.operands import OperandSpec, constant, int32
from npu_conformance.corpus.generators.types import INT32

OPERATION = "GATHER"
Indices = Sequence[int] | Sequence[Sequence[int]] | Sequence[Sequence[Sequence[int]]]
CASES: dict[str, tuple[tuple[int, ...], int, Indices]] = {
    "rank1": ((5,), 0, [4, 0, 2]),
    "one_index": ((3, 2), 0, [1]),
    "repeated": ((3, 2), 0, [2, 2, 0, 2]),
    "rank2_axis1": ((2, 4), 1, [3, 1]),
    "axis_minus_one": ((2, 1, 4), -1, [0, 3, 3]),
    "axis_minus_rank": ((3, 2, 2), -3, [2, 0]),
    "indices_rank2": ((2, 3, 2), 1, [[2, 0], [1, 1], [0, 2]]),
    "indices_rank3": ((4, 3), 0, [[[3, 0]], [[1, 2]]]),
    "rank4_axis2": ((1, 2, 4, 2), 2, [3, 2, 0]),
    "rank4_indices_rank2": ((2, 2, 2, 3), 3, [[2, 1, 0], [0, 0, 1]]),
    "axis_minus_two_indices_rank2": ((2, 3, 2), -2, [[2, 0], [1, 2]]),
    "axis_minus_three_indices_rank3": ((3, 2, 2), -3, [[[2, 0]], [[1, 2]]]),
    "hypercube_axis1": ((3, 3, 3, 3), 1, [2, 0, 1]),
    "rank5": ((2, 1, 3, 1, 2), 2, [1, 2]),
}
"""Dimensions, axis, indices."""


def indexed(dimensions: tuple[int, ...], axis: int, indices: Indices) -> tuple[int, ...]:
    """Dimensions of the output."""
    place = axis % len(dimensions)
    return (*dimensions[:place], *numpy.shape(indices), *dimensions[place + 1 :])


def chosen(indices: Indices) -> OperandSpec:
    """The operand of the indices, a constant."""
    return constant(INT32, numpy.shape(indices), indices)


def vectors() -> Vectors:
    """Every type; ranks of input and indices; indices in the model and with the request; open shapes; rejections."""
    for kind in FIVE:
        for name, (dimensions, axis, indices) in CASES.items():
            output = {"output": result(kind, indexed(dimensions, axis, indices))}
            inputs = {"input": source(kind, dimensions), "axis": int32(axis), "indices": chosen(indices)}
            yield positive(f"{kind}_{name}", OPERATION, inputs, output, since="1.2", hazards=["lookup-misses"])
    for kind in ("quant8", "quant8_signed"):
        for zero_point in (0, 255):
            point = {"zero_point": zero_point}
            inputs = {"input": source(kind, (3, 2), **point), "axis": int32(0), "indices": chosen([2, 0])}
            outputs = {"output": result(kind, (2, 2), **point)}
            yield positive(
                f"{kind}_zero_point_{zero_point}", OPERATION, inputs, outputs, since="1.2", hazards=["lookup-misses"]
            )
    for bits, rows in {8: (300, [299, 256, 255, 43]), 16: (FAR, [FAR - 1, 65536, 65535, 4464])}.items():
        inputs = {"input": bytes_at_load((rows[0], 2)), "axis": int32(0), "indices": chosen(rows[1])}
        outputs = {"output": result("quant8", (4, 2))}
        yield positive(f"quant8_indices_need_more_than_{bits}_bits", OPERATION, inputs, outputs, since="1.2")
    for kind in ("float32", "float16"):
        inputs = {"input": special_floats(kind, (4, 3)), "axis": int32(1), "indices": chosen([2, 1, 0])}
        yield positive(f"{kind}_special_values", OPERATION, inputs, {"output": result(kind, (4, 3))}, since="1.2")
    inputs = {"input": source("float32", (3, 2)), "axis": int32(0), "indices": late(chosen([[1, 0], [2, 2]]))}
    yield from opened(OPERATION, inputs, (2, 2, 2), "1.2", hazards=["lookup-misses"])
    for name, dimensions in {"size": (0, 2), "rank": ()}.items():
        arguments = {**inputs, "indices": unknown(inputs["indices"], dimensions)}
        outputs = {"output": result("float32", (2, 2, 2))}
        yield positive(f"float32_indices_of_unknown_{name}", OPERATION, arguments, outputs, since="1.2")
    inputs = {"input": source("float32", (3, 2, 2)), "axis": late(int32(1)), "indices": chosen([[1, 0, 0]])}
    outputs = {"output": result("float32", (3, 1, 3, 2))}
    yield positive("float32_axis_with_the_request", OPERATION, inputs, outputs, since="1.2", hazards=["lookup-misses"])
    yield from _rejected()
    yield from long_axes(OPERATION)


def _rejected() -> Vectors:
    floats, indices = source("float32", (3, 4)), chosen([2, 0])
    for name, axis in {"2": 2, "minus_3": -3}.items():
        inputs = {"input": floats, "axis": int32(axis), "indices": indices}
        yield rejection(OPERATION, f"axis_{name}", "C1", inputs, {"output": result("float32", ())}, "1.2")
    for name, index in {"3": 3, "minus_1": -1, "far_beyond": 2**31 - 1}.items():
        wrong = chosen([2, index])
        for full, operand in {f"index_{name}": wrong, f"index_{name}_with_the_request": late(wrong)}.items():
            inputs = {"input": floats, "axis": int32(0), "indices": operand}
            yield rejection(OPERATION, full, "C2", inputs, {"output": result("float32", (2, 4))}, "1.2")
    inputs = {"input": floats, "axis": int32(-1), "indices": late(chosen([[0, 4]]))}
    yield rejection(OPERATION, "index_4_of_last_axis", "C2", inputs, {"output": result("float32", (3, 1, 2))}, "1.2")
    arguments = {"axis": int32(0), "indices": chosen([2, 0])}
    yield from rejected_outputs(OPERATION, arguments, (3, 4), (2, 4), ("C4", ""), "1.2")
