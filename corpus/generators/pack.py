"""The generator of PACK.

By hand: of a b and c d, axis 0 gives the shape [2, 2] with a b / c d, axis 1 gives a c / b d.
"""

from collections.abc import Sequence

from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._many_results import many_results
from npu_conformance.corpus.generators._moves import FIVE, late, result, source, special_floats, unknown
from npu_conformance.corpus.generators.base import Vectors, positive, rejection
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, int32, tensor
from npu_conformance.corpus.generators.types import INT32
from npu_conformance.corpus.vectors import Vector

OPERATION = "PACK"
CASES: dict[str, tuple[tuple[int, ...], int, int]] = {
    "rank1_axis0": ((3,), 2, 0),
    "rank1_axis1": ((3,), 2, 1),
    "rank2_axis0": ((2, 3), 3, 0),
    "rank2_axis1": ((2, 3), 2, 1),
    "rank2_axis2": ((2, 3), 3, 2),
    "rank3_axis1": ((2, 1, 3), 2, 1),
    "rank3_axis3": ((2, 1, 2), 3, 3),
    "rank4_axis2": ((1, 2, 2, 2), 2, 2),
    "rank4_axis4": ((1, 2, 2, 2), 2, 4),
    "one_tensor": ((2, 3), 1, 1),
    "six_tensors": ((1, 2), 6, 2),
    "19_tensors": ((2,), 19, 1),
}
"""Dimensions of each input, number of them, axis."""


def stacked(dimensions: Sequence[int], count: int, axis: int) -> tuple[int, ...]:
    """Dimensions of the output."""
    return (*dimensions[:axis], count, *dimensions[axis:])


def vectors() -> Vectors:
    """Every type; every axis of several ranks; one tensor and many; zero points; open shapes; rejections."""
    for kind in FIVE:
        for name, (dimensions, count, axis) in CASES.items():
            tensors = [source(kind, dimensions, first=20 * index % 230) for index in range(count)]
            yield _positive(f"{kind}_{name}", axis, tensors, result(kind, stacked(dimensions, count, axis)))
    yield from many_results("PACK")
    for kind in ("quant8", "quant8_signed"):
        for zero_point in (0, 255):
            point = {"zero_point": zero_point}
            pair = [source(kind, (2, 3), first=first, **point) for first in (0, 20)]
            yield _positive(f"{kind}_zero_point_{zero_point}", 1, pair, result(kind, (2, 2, 3), **point))
    for kind in ("float32", "float16"):
        pair = [special_floats(kind, (3,)), special_floats(kind, (3,))]
        yield _positive(f"{kind}_special_values", 1, pair, result(kind, (3, 2)))
    first, second = source("float32", (2, 3)), source("float32", (2, 3), first=20)
    shapes = {"sizes": ((2, 0), (0, 3), (2, 2, 3)), "ranks": ((), (), (2, 2, 3)), "everything": ((), (), ())}
    for name, (one, other, output) in shapes.items():
        yield _positive(
            f"float32_unknown_{name}", 1, [unknown(first, one), unknown(second, other)], result("float32", output)
        )
    for axis, output in enumerate(((2, 2, 3), (2, 2, 3), (2, 3, 2))):
        inputs = {**_arguments(axis, [first, second]), "axis": late(int32(axis))}
        outputs = {"output": result("float32", output)}
        yield positive(f"float32_axis_{axis}_with_the_request", OPERATION, inputs, outputs, since="fl6")
    by_hand = [tensor(INT32, (2,), [10, 20]), tensor(INT32, (2,), [30, 40])]
    about = "by hand: 10 20 and 30 40 as columns give 10 30 / 20 40"
    yield _positive("int32_by_hand", 1, by_hand, tensor(INT32, (2, 2)), about)
    yield from _rejected()
    yield from long_axes(OPERATION)


def _rejected() -> Vectors:
    pair, output = [source("float32", (2, 3)), source("float32", (2, 3), first=20)], result("float32", (2, 2, 3))
    for name, axis in {"minus_1": -1, "3": 3}.items():
        yield _rejection(f"axis_{name}", "C1", axis, pair, output)
    for name, shape in {"size": (2, 4), "rank": (2, 3, 1), "transposed": (3, 2)}.items():
        yield _rejection(f"other_{name}", "C2", 0, [pair[0], source("float32", shape)], output)
    yield _rejection("no_tensor", "MODEL.P3", 0, [], output)
    for name, declared in {"of_first_input": (2, 3), "on_other_axis": (2, 3, 2), "too_large": (3, 2, 3)}.items():
        yield _rejection(f"output_{name}", "C5", 0, pair, result("float32", declared))
    for kind in ("quant8", "quant8_signed"):
        alike = result(kind, (2, 2, 3))
        for name, scale, zero_point in (("scale", 0.25, 3), ("zero_point", 0.5, 4)):
            bytes_ = [source(kind, (2, 3)), source(kind, (2, 3), scale=scale, zero_point=zero_point)]
            yield _rejection(f"{kind}_second_{name}", "C3", 0, bytes_, alike)
            yield _rejection(f"{kind}_first_{name}", "C3", 0, bytes_[::-1], alike)
            other = result(kind, (2, 2, 3), scale=scale, zero_point=zero_point)
            yield _rejection(f"{kind}_output_{name}", "C3", 0, [bytes_[0], bytes_[0]], other)


def _arguments(axis: int, tensors: Sequence[OperandSpec]) -> Operands:
    return {"axis": int32(axis)} | {f"input{index}": spec for index, spec in enumerate(tensors)}


def _positive(
    name: str, axis: int, tensors: Sequence[OperandSpec], output: OperandSpec, description: str = ""
) -> Vector:
    inputs = _arguments(axis, tensors)
    return positive(name, OPERATION, inputs, {"output": output}, since="fl6", description=description)


def _rejection(name: str, clause: str, axis: int, tensors: Sequence[OperandSpec], output: OperandSpec) -> Vector:
    return rejection(OPERATION, name, clause, _arguments(axis, tensors), {"output": output}, "fl6")
