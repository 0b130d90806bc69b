"""The generator of RESHAPE."""

from npu_conformance.corpus.generators._moves import (
    FOUR,
    rejected_outputs,
    rejected_ranks,
    result,
    signed_zeros,
    source,
)
from npu_conformance.corpus.generators.base import Vectors, positive, rejection
from npu_conformance.corpus.generators.operands import int32s, tensor
from npu_conformance.corpus.generators.types import INT32
from npu_conformance.corpus.vectors import Vector

CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = {
    "flatten": ((2, 3, 4), (24,), (24,)),
    "rank1_to_rank4": ((24,), (2, 3, 1, 4), (2, 3, 1, 4)),
    "regroup": ((2, 6), (4, 3), (4, 3)),
    "inferred_first": ((2, 3, 4), (-1, 6), (4, 6)),
    "inferred_middle": ((2, 3, 4), (2, -1, 3), (2, 4, 3)),
    "inferred_only": ((2, 3, 2, 2), (-1,), (24,)),
    "inferred_one": ((4, 3), (3, 4, -1), (3, 4, 1)),
    "same": ((2, 3), (2, 3), (2, 3)),
    "one_element": ((1,), (1, 1, 1), (1, 1, 1)),
}
"""Dimensions, the shape operand, dimensions of the output."""


def vectors() -> Vectors:
    """Every type; all ways to state a shape; -1 at every place; zero points at both ends; rejections."""
    for kind in (*FOUR, "int32"):
        for name, (dimensions, shape, output) in CASES.items():
            yield _positive(f"{kind}_{name}", kind, dimensions, shape, output, 3)
    for zero_point in (0, 255):
        yield _positive(f"quant8_zero_point_{zero_point}", "quant8", *CASES["regroup"], zero_point)
    for kind in ("float32", "float16"):
        inputs = {"input": signed_zeros(kind, (2, 6)), "shape": int32s(4, 3)}
        yield positive(f"{kind}_negative_zeros", "RESHAPE", inputs, {"output": result(kind, (4, 3))})
    for kind in FOUR:
        regrouped = tensor(INT32, (0,), (4, 3), shape=(2,))
        yield positive(
            f"{kind}_shape_of_unknown_length",
            "RESHAPE",
            {"input": source(kind, (2, 6)), "shape": regrouped},
            {"output": result(kind, (4, 3))},
            description="the rank of the output is known from the request only",
        )
    yield from _rejected()


def _rejected() -> Vectors:
    yield from rejected_ranks("RESHAPE", {"shape": int32s(1, 2, 1, 1, 3)})
    floats, anything = source("float32", (2, 3, 4)), result("float32", (24,))
    shapes = {"two_inferred": (-1, -1), "size_0": (0, 24), "size_minus_2": (-2, 12)}
    for name, shape in shapes.items():
        yield rejection("RESHAPE", name, "C2", {"input": floats, "shape": int32s(*shape)}, {"output": anything})
    counts = {"too_few_elements": (4, 5), "too_many_elements": (5, 5), "indivisible": (-1, 5)}
    for name, shape in counts.items():
        output = result("float32", tuple(abs(size) for size in shape))
        yield rejection("RESHAPE", name, "C3", {"input": floats, "shape": int32s(*shape)}, {"output": output})
    yield from rejected_outputs("RESHAPE", {"shape": int32s(4, 6)}, (2, 3, 4), (4, 6), ("C5", "C6"))


def _positive(
    name: str, kind: str, dimensions: tuple[int, ...], shape: tuple[int, ...], output: tuple[int, ...], zero_point: int
) -> Vector:
    return positive(
        name,
        "RESHAPE",
        {"input": source(kind, dimensions, zero_point=zero_point), "shape": int32s(*shape)},
        {"output": result(kind, output, zero_point=zero_point)},
        since="fl6" if kind == "int32" else "1.0",
        hazards=["optional-shape-operand"],
    )
