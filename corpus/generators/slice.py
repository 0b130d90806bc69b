"""The generator of SLICE."""

from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._moves import (
    FAR,
    FOUR,
    KINDS,
    bytes_at_load,
    quantization,
    rejected_outputs,
    result,
    signed_zeros,
    source,
)
from npu_conformance.corpus.generators._rejections import RANK_CLAUSE
from npu_conformance.corpus.generators._zero_sized import zero_sized
from npu_conformance.corpus.generators.base import Vectors, positive, rejection
from npu_conformance.corpus.generators.operands import constant, int32s, tensor
from npu_conformance.corpus.generators.types import INT32

CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = {
    "rank1": ((7,), (2,), (3,)),
    "rank1_to_the_end": ((7,), (2,), (-1,)),
    "rank2": ((3, 5), (1, 0), (2, 4)),
    "rank2_one_element": ((3, 5), (2, 4), (1, 1)),
    "rank3": ((2, 4, 3), (0, 1, 2), (2, 2, 1)),
    "rank3_all": ((2, 4, 3), (0, 0, 0), (-1, -1, -1)),
    "rank4": ((2, 3, 4, 5), (1, 0, 2, 1), (1, 2, 2, 3)),
    "rank4_some_to_the_end": ((2, 3, 4, 5), (0, 2, 1, 3), (1, -1, 2, -1)),
    "rank5": ((1, 2, 3, 2, 3), (0, 1, 0, 0, 1), (1, 1, 2, -1, 2)),
}
"""Dimensions, begin, size."""


def vectors() -> Vectors:
    """Every type; every rank up to 5; sizes given and left to the end; batch 0; rejections."""
    for kind in (*FOUR, "int32"):
        for name, (dimensions, begin, size) in CASES.items():
            boxes = zip(dimensions, begin, size, strict=True)
            yield positive(
                f"{kind}_{name}",
                "SLICE",
                {"input": source(kind, dimensions), "begin": int32s(*begin), "size": int32s(*size)},
                {"output": result(kind, [end - start if length < 0 else length for end, start, length in boxes])},
                since="1.2",
            )
    for kind in ("float32", "float16"):
        inputs = {"input": signed_zeros(kind, (3, 4)), "begin": int32s(0, 0), "size": int32s(3, -1)}
        yield positive(f"{kind}_negative_zeros", "SLICE", inputs, {"output": result(kind, (3, 4))}, since="1.2")
    inputs = {"input": bytes_at_load((FAR,)), "begin": int32s(65537), "size": int32s(5)}
    outputs = {"output": result("quant8", (5,))}
    yield positive("quant8_begin_needs_more_than_16_bits", "SLICE", inputs, outputs, since="1.2")
    for kind in FOUR:
        scale = quantization(kind, 128, 0.1)
        yield zero_sized(
            f"{kind}_batch_zero",
            "SLICE",
            tensor(KINDS[kind], (0, 2, 2, 3), **scale),
            {"input": None, "begin": int32s(0, 1, 0, 1), "size": int32s(-1, 1, 2, -1)},
            {"output": tensor(KINDS[kind], (0, 1, 2, 2), **scale)},
        )
    yield from _rejected()
    yield from long_axes("SLICE")


def _rejected() -> Vectors:
    wrong = {
        "begin_too_short": ("C1", (1,), (2, 2), (2, 2)),
        "size_too_long": ("C1", (1, 1), (2, 2, 1), (2, 2)),
        "begin_beyond": ("C2", (4, 1), (-1, 2), ()),
        "size_beyond": ("C3", (1, 2), (3, 2), (3, 2)),
        "size_beyond_from_the_start": ("C3", (0, 0), (4, 5), (4, 5)),
        "size_beyond_of_open_output": ("C3", (0, 0), (4, 5), ()),
        "size_beyond_on_last_axis": ("C3", (1, 2), (2, 4), (2, 4)),
        "size_minus_2": ("C3", (1, 2), (-2, 2), ()),
    }
    for name, (clause, begin, size, output) in wrong.items():
        inputs = {"input": source("float32", (3, 5)), "begin": int32s(*begin), "size": int32s(*size)}
        yield rejection("SLICE", name, clause, inputs, {"output": result("float32", output)}, "1.2")
    flat = constant(INT32, (1, 2), (1, 0))
    for name in ("begin", "size"):
        inputs = {"input": source("float32", (3, 5)), "begin": int32s(1, 0), "size": int32s(2, 4), name: flat}
        yield rejection("SLICE", f"{name}_rank_2", RANK_CLAUSE, inputs, {"output": result("float32", (2, 4))}, "1.2")
    box = {"begin": int32s(1, 0), "size": int32s(2, 4)}
    yield from rejected_outputs("SLICE", box, (3, 5), (2, 4), ("C6", ""), "1.2")
