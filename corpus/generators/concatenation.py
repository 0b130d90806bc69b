"""The generator of CONCATENATION."""

from collections.abc import Sequence

from msgspec.structs import replace

from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._moves import FOUR, KINDS, quantization, result, signed_zeros, source
from npu_conformance.corpus.generators._rejections import RANK5, RANK_CLAUSE
from npu_conformance.corpus.generators._shared_quantization import shared_quantization
from npu_conformance.corpus.generators._zero_sized import zero_sized
from npu_conformance.corpus.generators.base import Vectors, positive, rejection
from npu_conformance.corpus.generators.data import integers
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, int32, tensor
from npu_conformance.corpus.vectors import Vector

CASES: dict[str, tuple[tuple[tuple[int, ...], ...], int]] = {
    "rank1": (((3,), (2,)), 0),
    "rank2_axis0": (((1, 3), (2, 3)), 0),
    "rank2_axis1": (((2, 3), (2, 1)), 1),
    "rank3_axis1_three": (((2, 1, 3), (2, 3, 3), (2, 2, 3)), 1),
    "rank4_axis0": (((1, 2, 3, 2), (2, 2, 3, 2)), 0),
    "rank4_axis1": (((2, 1, 3, 2), (2, 2, 3, 2)), 1),
    "rank4_axis2": (((2, 2, 3, 2), (2, 2, 1, 2)), 2),
    "rank4_axis3": (((1, 2, 3, 2), (1, 2, 3, 1), (1, 2, 3, 4)), 3),
    "hypercubes_axis1": (((2, 2, 2, 2), (2, 2, 2, 2)), 1),
    "one_input": (((2, 3),), 1),
    "six_inputs": (((1, 2), (1, 2), (1, 2), (1, 2), (1, 2), (1, 2)), 0),
    "19_inputs": (((1, 2),) * 19, 0),
}
"""Dimensions of the inputs, axis."""


def joined(shapes: Sequence[tuple[int, ...]], axis: int) -> tuple[int, ...]:
    """Dimensions of the output."""
    first = shapes[0]
    return (*first[:axis], sum(shape[axis] for shape in shapes), *first[axis + 1 :])


def vectors() -> Vectors:
    """Every type, rank and axis with inputs of different lengths; requantisation; batch 0; rejections."""
    for kind in FOUR:
        for name, (shapes, axis) in CASES.items():
            inputs = {f"input{index}": _source(kind, shape, index) for index, shape in enumerate(shapes)}
            yield _positive(f"{kind}_{name}", inputs, axis, result(kind, joined(shapes, axis)))
    for kind in FOUR:
        inputs = {f"input{index}": _source(kind, (2, 3, 2), index) for index in range(2)}
        yield _positive(f"{kind}_equal_shapes_inner_axis", inputs, 1, result(kind, (2, 6, 2)))
    for kind in ("float32", "float16"):
        inputs = {f"input{index}": signed_zeros(kind, (2, 3)) for index in range(2)}
        yield _positive(f"{kind}_negative_zeros", inputs, 1, result(kind, (2, 6)))
    for kind in ("quant8", "quant8_signed"):
        yield from _requantized(kind)
    first, second = (tensor(KINDS["quant8"], (2, 3), integers(seed, (2, 3), 0, 255)) for seed in (81, 82))
    inputs = {"input0": first, "input1": second, "axis": int32(0)}
    outputs = {"output": tensor(KINDS["quant8"], (4, 3))}
    yield from shared_quantization("CONCATENATION", inputs, outputs, (0.5, 0.3, 0.7), (90, 150, 100), apart_since="1.2")
    for kind in FOUR:
        yield _batch_zero(kind)
    yield from _rejected()
    yield from long_axes("CONCATENATION")


def _rejected() -> Vectors:
    pair = {"input0": source("float32", (2, 3)), "input1": source("float32", (2, 3), first=20)}
    output = {"output": result("float32", (2, 6))}
    for name, axis in {"negative": -1, "beyond": 2}.items():
        yield rejection("CONCATENATION", f"axis_{name}", "C2", {**pair, "axis": int32(axis)}, output)
    for name, shape in {"other_size": (4, 3), "other_rank": (2, 3, 1), "transposed": (3, 2)}.items():
        inputs = {"input0": pair["input0"], "input1": source("float32", shape), "axis": int32(1)}
        yield rejection("CONCATENATION", name, "C3", inputs, output)
    for name, shape in {"too_large": (2, 7), "of_first_input": (2, 3), "on_other_axis": (4, 3)}.items():
        wrong = {"output": result("float32", shape)}
        yield rejection("CONCATENATION", f"output_{name}", "C6", {**pair, "axis": int32(1)}, wrong)
    yield from _rejected_ranks()
    for name, scale, zero_point in (("scale", 0.25, 3), ("zero_point", 0.5, 4)):
        other = source("quant8", (2, 3), scale=scale, zero_point=zero_point, first=20)
        inputs = {"input0": source("quant8", (2, 3)), "input1": other, "axis": int32(1)}
        joint = {"output": result("quant8", (2, 6))}
        yield rejection("CONCATENATION", f"{name}_before_1_2", "C4", inputs, joint, "1.0", "1.1")


def _rejected_ranks() -> Vectors:
    elements = [0.25 * step for step in range(6)]
    for late in (False, True):
        inputs = {
            f"input{index}": tensor(KINDS["float32"], () if late else RANK5, elements, shape=RANK5) for index in (0, 1)
        }
        output = tensor(KINDS["float32"], () if late else (2, *RANK5[1:]))
        name, clause, since = ("rank5_at_execution", "C1", "1.2") if late else ("rank5", RANK_CLAUSE, "1.0")
        yield rejection("CONCATENATION", name, clause, {**inputs, "axis": int32(0)}, {"output": output}, since)


def _positive(name: str, inputs: Operands, axis: int, output: OperandSpec, since: str = "1.0") -> Vector:
    return positive(
        name,
        "CONCATENATION",
        {**inputs, "axis": int32(axis)},
        {"output": output},
        since=since,
        hazards=["concatenation-quantization"],
    )


def _source(kind: str, shape: tuple[int, ...], index: int) -> OperandSpec:
    return source(kind, shape, first=20 * index % 230)


def _requantized(kind: str) -> Vectors:
    """Inputs with parameters of their own, some beyond the range of the output."""
    parameters = {
        "other_zero_point": ((0.5, 10), (0.5, 200), (0.5, 100)),
        "other_scale": ((0.25, 100), (1.0, 100), (0.5, 100)),
        "all_different": ((0.0431, 0), (0.7, 255), (0.31, 117)),
        "first_equal": ((0.3, 40), (0.11, 77), (0.3, 40)),
        "all_saturate": ((3.0, 130), (9.0, 120), (0.01, 128)),
    }
    several = ((0.5, 100), (0.25, 30), (0.5, 60), (0.5, 100), (1.0, 200), (0.125, 10))
    inputs = {f"input{place}": _bytes(kind, 20 + place, (2, 3), *one) for place, one in enumerate(several)}
    joint = result(kind, (2, 18), zero_point=100)
    vector = _positive(f"{kind}_requantized_six_inputs", inputs, 1, joint, since="1.2")
    yield replace(vector, requirements=("NNHAL-OPERATION-004",))
    many = {f"input{place}": _bytes(kind, 40 + place, (1, 2), *several[1 + place % 5]) for place in range(33)}
    vector = _positive(f"{kind}_requantized_33_inputs", many, 0, result(kind, (33, 2), zero_point=100), since="1.2")
    yield replace(vector, requirements=("NNHAL-OPERATION-004",))
    for seed, (name, (first, second, output)) in enumerate(parameters.items()):
        inputs = {"input0": _bytes(kind, seed, (2, 7), *first), "input1": _bytes(kind, seed + 9, (2, 5), *second)}
        scale, zero_point = output
        joint = result(kind, (2, 12), zero_point=zero_point, scale=scale)
        vector = _positive(f"{kind}_requantized_{name}", inputs, 1, joint, since="1.2")
        yield replace(vector, requirements=("NNHAL-OPERATION-004",))


def _bytes(kind: str, seed: int, shape: tuple[int, ...], scale: float, zero_point: int) -> OperandSpec:
    data = integers(seed, shape, 0, 255) - (128 if kind == "quant8_signed" else 0)
    return tensor(KINDS[kind], shape, data, **quantization(kind, zero_point, scale))


def _batch_zero(kind: str) -> Vector:
    scale = quantization(kind, 128, 0.1)
    feature_map = tensor(KINDS[kind], (0, 2, 2, 2), **scale)
    output = tensor(KINDS[kind], (0, 2, 2, 4), **scale)
    return zero_sized(
        f"{kind}_batch_zero",
        "CONCATENATION",
        feature_map,
        {"input0": None, "input1": None, "axis": int32(3)},
        {"output": output},
    )
