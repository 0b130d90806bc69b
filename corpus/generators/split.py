"""The generator of SPLIT."""

from dataclasses import replace

from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._moves import FOUR, result, signed_zeros, source
from npu_conformance.corpus.generators.base import Vectors, positive, rejection
from npu_conformance.corpus.generators.operands import Operands, int32, tensor
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.neuralnetworks.enums import OperandType

CASES: dict[str, tuple[tuple[int, ...], int, int]] = {
    "rank1": ((6,), 0, 3),
    "rank1_every_element": ((4,), 0, 4),
    "rank2_axis0": ((4, 3), 0, 2),
    "rank2_axis1": ((2, 6), 1, 3),
    "rank3_axis1": ((2, 4, 3), 1, 2),
    "rank4_axis2": ((1, 2, 6, 3), 2, 3),
    "rank4_axis3": ((2, 1, 3, 4), 3, 2),
    "axis_minus_one": ((3, 2, 4), -1, 2),
    "axis_minus_rank": ((4, 1, 2, 3), -4, 2),
    "hypercube_axis1": ((4, 4, 4, 4), 1, 2),
    "one_part": ((2, 3), 1, 1),
    "19_parts": ((2, 19), 1, 19),
}
"""Dimensions, axis, number of parts."""


def vectors() -> Vectors:
    """Every type; every rank; axes counted from both ends; rejections."""
    for kind in (*FOUR, "int32"):
        for name, (dimensions, axis, parts) in CASES.items():
            part = list(dimensions)
            part[axis] //= parts
            yield positive(
                f"{kind}_{name}",
                "SPLIT",
                {"input": source(kind, dimensions), "axis": int32(axis), "parts": int32(parts)},
                {f"output{index}": result(kind, part) for index in range(parts)},
                since="1.2",
            )
    for kind in ("float32", "float16"):
        inputs = {"input": signed_zeros(kind, (2, 4)), "axis": int32(0), "parts": int32(2)}
        outputs = {f"output{index}": result(kind, (1, 4)) for index in range(2)}
        yield positive(f"{kind}_negative_zeros", "SPLIT", inputs, outputs, since="1.2")
    yield from _open()
    yield from _rejected()
    yield from long_axes("SPLIT")


def _open() -> Vectors:
    """What the model leaves open: the rank of the input, the axis, the number of parts."""
    whole, outputs = source("float32", (4, 6)), {f"output{index}": result("float32", (2, 6)) for index in range(2)}
    arguments: Operands = {"input": whole, "axis": int32(0), "parts": int32(2)}
    changes = {
        "input_of_unknown_rank": {"input": tensor(OperandType.TENSOR_FLOAT32, (), whole.data, shape=(4, 6))},
        "axis_as_input": {"axis": replace(int32(0), constant=False)},
        "number_as_input": {"parts": replace(int32(2), constant=False)},
    }
    for name, change in changes.items():
        yield positive(f"float32_{name}", "SPLIT", {**arguments, **change}, outputs, since="1.2")


def _rejected() -> Vectors:
    for name, axis in {"beyond": 2, "before": -3}.items():
        yield _rejection(f"axis_{name}", "C1", axis, 2, (2, 3), 2)
    for name, parts, size in (("0", 0, 2), ("negative", -2, 2), ("above_outputs", 4, 1), ("below_outputs", 1, 4)):
        yield _rejection(f"number_{name}", "C2", 0, parts, (size, 6), 2)
    yield _rejection("indivisible", "C3", 1, 4, (4, 1), 4)
    yield _rejection("output_of_other_axis", "C5", 0, 2, (4, 3), 2)
    for name, scale, zero_point in (("scale", 0.25, 3), ("zero_point", 0.5, 4)):
        for kind in ("quant8", "quant8_signed"):
            outputs = {
                "output0": result(kind, (2, 6)),
                "output1": result(kind, (2, 6), scale=scale, zero_point=zero_point),
            }
            inputs = {"input": source(kind, (4, 6)), "axis": int32(0), "parts": int32(2)}
            yield rejection("SPLIT", f"{kind}_second_output_{name}", "C6", inputs, outputs, "1.2")


def _rejection(name: str, clause: str, axis: int, parts: int, output: tuple[int, ...], count: int) -> Vector:
    inputs = {"input": source("float32", (4, 6)), "axis": int32(axis), "parts": int32(parts)}
    outputs = {f"output{index}": result("float32", output) for index in range(count)}
    return rejection("SPLIT", name, clause, inputs, outputs, "1.2")
