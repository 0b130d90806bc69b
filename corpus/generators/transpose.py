"""The generator of TRANSPOSE."""

from itertools import permutations

from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._moves import (
    FOUR,
    KINDS,
    quantization,
    rejected_outputs,
    rejected_ranks,
    result,
    signed_zeros,
    source,
)
from npu_conformance.corpus.generators._zero_sized import zero_sized
from npu_conformance.corpus.generators.base import Vectors, positive, rejection
from npu_conformance.corpus.generators.operands import int32s, omitted, tensor
from npu_conformance.corpus.generators.types import INT32
from npu_conformance.corpus.vectors import Vector

SIZES = (2, 3, 4, 5)


def vectors() -> Vectors:
    """Every permutation of ranks 1 to 3, those of rank 4 spread over the types; omission; batch 0; rejections."""
    every = [order for rank in (1, 2, 3, 4) for order in permutations(range(rank))]
    for position, order in enumerate(every):
        yield _positive(FOUR[position % 4], order)
    for kind in FOUR:
        yield _omitted(kind)
        yield _batch_zero(kind)
    for kind in ("float32", "float16"):
        inputs = {"input": signed_zeros(kind, (2, 4)), "permutation": int32s(1, 0)}
        yield positive(f"{kind}_negative_zeros", "TRANSPOSE", inputs, {"output": result(kind, (4, 2))}, since="1.1")
    yield from _rejected()
    yield from long_axes("TRANSPOSE")


def _rejected() -> Vectors:
    yield from rejected_ranks("TRANSPOSE", {"permutation": int32s(0, 1, 2, 3, 4)}, "1.1")
    floats, output = source("float32", (2, 3, 4)), {"output": result("float32", (2, 3, 4))}
    inputs = {"input": floats, "permutation": int32s(1, 0)}
    yield rejection("TRANSPOSE", "permutation_too_short", "C2", inputs, output, "1.1")
    for name, order in {"beyond": (0, 1, 3), "negative": (0, 1, -1)}.items():
        inputs = {"input": floats, "permutation": int32s(*order)}
        yield rejection("TRANSPOSE", f"axis_{name}", "C3", inputs, output, "1.1")
    turned = {"permutation": int32s(2, 0, 1)}
    yield from rejected_outputs("TRANSPOSE", turned, (2, 3, 4), (4, 2, 3), ("C6", "C7"), "1.1")


def _positive(kind: str, order: tuple[int, ...]) -> Vector:
    dimensions = SIZES[: len(order)]
    return positive(
        f"{kind}_order_{''.join(map(str, order))}",
        "TRANSPOSE",
        {"input": source(kind, dimensions), "permutation": int32s(*order)},
        {"output": result(kind, [dimensions[axis] for axis in order])},
        since="1.1",
    )


def _omitted(kind: str) -> Vector:
    return positive(
        f"{kind}_omitted_rank2",
        "TRANSPOSE",
        {"input": source(kind, (2, 5)), "permutation": omitted(INT32, (0,))},
        {"output": result(kind, (5, 2))},
        since="1.1",
        hazards=["optional-shape-operand"],
        description="without a permutation the axes are reversed",
    )


def _batch_zero(kind: str) -> Vector:
    scale = quantization(kind, 128, 0.1)
    return zero_sized(
        f"{kind}_batch_zero",
        "TRANSPOSE",
        tensor(KINDS[kind], (0, 2, 2, 3), **scale),
        {"input": None, "permutation": int32s(0, 3, 1, 2)},
        {"output": tensor(KINDS[kind], (0, 3, 2, 2), **scale)},
    )
