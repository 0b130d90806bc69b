"""The generator of PAD_V2."""

from npu_conformance.corpus.generators._large_steps import large_steps
from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._moves import FOUR, result, signed_zeros, source
from npu_conformance.corpus.generators.base import Vectors, positive, rejection
from npu_conformance.corpus.generators.operands import scalar
from npu_conformance.corpus.generators.pad import CASES, padded, paddings, rejected_paddings
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.neuralnetworks.enums import OperandType

SCALARS = {"float32": OperandType.FLOAT32, "float16": OperandType.FLOAT16}


def vectors() -> Vectors:
    """Every type and rank; the value is a stored integer for quantised types, up to both limits; rejections."""
    for kind in FOUR:
        for name in CASES:
            value = -6.5 if kind.startswith("float") else 200 - _shift(kind)
            yield _positive(f"{kind}_{name}", kind, name, value)
    for kind in ("quant8", "quant8_signed"):
        for value in (0, 9, 255):
            yield _positive(f"{kind}_raw_value_{value}", kind, "rank2", value - _shift(kind))
    yield _positive("float32_value_all_bits", "float32", "rank3", 1000.1)
    for kind in ("float32", "float16"):
        yield _positive(f"{kind}_value_zero", kind, "rank3", 0.0)
        yield _positive(f"{kind}_value_large", kind, "rank3", 60000.0)
        yield _negative_zeros(kind)
    yield from _rejected()
    yield from long_axes("PAD_V2")
    yield from large_steps("PAD_V2")


def _negative_zeros(kind: str) -> Vector:
    inputs = {
        "input": signed_zeros(kind, (4,)),
        "paddings": paddings(((1, 1),)),
        "pad_value": scalar(SCALARS[kind], -0.0),
    }
    return positive(
        f"{kind}_negative_zeros",
        "PAD_V2",
        inputs,
        {"output": result(kind, (6,))},
        since="1.2",
        hazards=["pad-raw-zero"],
    )


def _rejected() -> Vectors:
    value = {"pad_value": scalar(OperandType.FLOAT32, 1.0)}
    yield from rejected_paddings("PAD_V2", value, ("C5", ""), "1.2")
    pairs = paddings(((0, 2), (1, 0)))
    raw = {"paddings": pairs, "pad_value": scalar(OperandType.INT32, 9)}
    for kind in ("quant8", "quant8_signed"):
        for name, scale, zero_point in (("scale", 0.25, 3), ("zero_point", 0.5, 4)):
            inputs = {"input": source(kind, (2, 3)), **raw}
            outputs = {"output": result(kind, (4, 4), scale=scale, zero_point=zero_point)}
            yield rejection("PAD_V2", f"{kind}_output_{name}", "C6", inputs, outputs, "1.2")
    inputs = {"input": source("quant8", (2, 3)), "paddings": pairs, **value}
    yield rejection("PAD_V2", "real_value_for_quant8", "MODEL.P3", inputs, {"output": result("quant8", (4, 4))}, "1.2")


def _shift(kind: str) -> int:
    return 128 if kind == "quant8_signed" else 0


def _positive(name: str, kind: str, case: str, value: float) -> Vector:
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
        hazards=["pad-raw-zero"],
    )
