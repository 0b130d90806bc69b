"""The generator of TOPK_V2."""

import math
from collections.abc import Sequence

import numpy

from npu_conformance.corpus.generators._as_reals import as_reals
from npu_conformance.corpus.generators._elementwise import SHORT
from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._many_results import many_results
from npu_conformance.corpus.generators.base import INTERNAL, Vectors, positive, rejected
from npu_conformance.corpus.generators.data import FAR_EXTREMES
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, int32, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32, INT32, QUANT8, SIGNED
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.documents.vectors import GeneratorDocument
from npu_conformance.specs.neuralnetworks.enums import OperandType

_OPERATION = "TOPK_V2"
Shape = tuple[int, ...]
_CASES: dict[str, tuple[Shape, int]] = {
    "rank1_first": ((7,), 1),
    "rank1_some": ((7,), 3),
    "rank1_all": ((6,), 6),
    "rank2_some": ((3, 5), 2),
    "rank2_of_one": ((2, 1), 1),
    "rank3_all": ((2, 3, 4), 4),
    "rank4_some": ((2, 1, 3, 6), 3),
    "rank5_some": ((1, 2, 1, 2, 5), 2),
}
"""Shape of the input, and k."""


def vectors() -> Vectors:
    """Pairwise: type, rank and k; the limits; equal elements, whose order is open; open dimensions.

    What a NaN gives is left out.
    """
    rows = pairwise({"type": [FLOAT32, FLOAT16, INT32, QUANT8, SIGNED], "case": list(_CASES)})
    for seed, row in enumerate(rows):
        kind, (shape, k) = row["type"], _CASES[row["case"]]
        yield _positive(f"{SHORT[kind]}_{row['case']}", _distinct(kind, shape, seed), k)
    for kind in (FLOAT32, QUANT8, INT32):
        yield as_reals(_positive(f"{SHORT[kind]}_found", _distinct(kind, (3, 7), 70), 3), "indices")
    yield _positive("int32_indices_need_more_than_16_bits", tensor(INT32, (100_001,), FAR_EXTREMES), 2)
    yield from many_results("TOPK_V2")
    yield from _ties()
    yield from _limits()
    yield from _open()
    yield from _rejected()
    yield from long_axes(_OPERATION)


def _distinct(kind: OperandType, shape: Shape, seed: int) -> OperandSpec:
    """Elements of which no two are equal, so that the indices are certain."""
    order = numpy.random.default_rng(seed).permutation(math.prod(shape))
    if kind in (FLOAT32, FLOAT16):
        return tensor(kind, shape, order * 0.5 - 4.0)
    if kind is INT32:
        return tensor(kind, shape, order * 1000 - 5000)
    shift = 128 if kind is SIGNED else 0
    return tensor(kind, shape, order * (255 // order.size) - shift, scale=0.25, zero_point=90 - shift)


def _outputs(source: OperandSpec, shape: Sequence[int]) -> Operands:
    operand = source.operand
    values = tensor(operand.type, shape, scale=operand.scale, zero_point=operand.zero_point)
    return {"values": values, "indices": tensor(INT32, shape)}


def _positive(
    name: str,
    source: OperandSpec,
    k: int,
    about: str = "",
    ignored: tuple[str, ...] = (),
    excluded: tuple[str, ...] = (),
) -> Vector:
    return positive(
        name,
        _OPERATION,
        {"input": source, "k": int32(k)},
        _outputs(source, (*source.shape[:-1], k)),
        hazards=["topk-ties"],
        description=about,
        ignored=ignored,
        excluded=excluded,
    )


def _ties() -> Vectors:
    elements = [1, 7, 7, 3, 7, 5, 5, 5, 5, 5, 2, 9, 2, 9, 9]
    for kind in (FLOAT32, FLOAT16, INT32, QUANT8, SIGNED):
        scale, point = (0.5, 4) if kind in (QUANT8, SIGNED) else (0.0, 0)
        source = tensor(kind, (3, 5), elements, scale=scale, zero_point=point)
        about = "equal elements count one by one; which of them comes first is open"
        yield _positive(f"{SHORT[kind]}_ties", source, 4, about, ignored=("indices",))


def _limits() -> Vectors:
    top, bottom = 2**31 - 1, -(2**31)
    exact, more = 2**24, 2**24 + 1
    elements = [0, bottom, -1, top, top, 0, 1, bottom, exact, 0, -7, more, more, 0, -7, exact]
    about = "a comparison in float32 would not tell 2^24 + 1 from 2^24"
    yield _positive("int32_limits", tensor(INT32, (4, 4), elements), 4, about)
    for kind in (QUANT8, SIGNED):
        shift = 128 if kind is SIGNED else 0
        elements = [element - shift for element in (127, 128, 255, 0, 0, 255, 129, 126, 1, 2, 254, 253)]
        source = tensor(kind, (3, 4), elements, scale=0.5, zero_point=255 - shift)
        yield _positive(f"{SHORT[kind]}_limits", source, 3)
    for kind in (FLOAT32, FLOAT16):
        values = [1.0, math.inf, -2.0, -math.inf, -math.inf, 3.0, 60000.0, math.inf, -1.0, -2.0, -60000.0, -3.0]
        yield _positive(f"{SHORT[kind]}_infinities", tensor(kind, (3, 4), values), 4)
    one = 1.0 + 2.0**-23
    source = tensor(FLOAT32, (2, 4), [1.0, -9.0, -8.0, one, -one, -9.0, -8.0, -1.0])
    about = "float16 does not tell the two largest from each other"
    yield _positive("float32_last_bit", source, 2, about, excluded=("relaxed", "float16", INTERNAL))
    classes = tensor(FLOAT32, (2, 1001), GeneratorDocument(kind="uniform", seed=5, low=0.0, high=1.0))
    about = "five of a thousand classes, too close for float16"
    yield _positive("float32_classes", classes, 5, about, excluded=("relaxed", "float16"))


def _open() -> Vectors:
    """Sizes or rank that only the request tells, and a k that it brings."""
    source = _distinct(FLOAT32, (2, 3, 4), 80)
    for name, declared, output in (("rank", (), ()), ("sizes", (0, 3, 0), (0, 0, 2))):
        yield positive(
            f"float32_unknown_{name}",
            _OPERATION,
            {"input": tensor(FLOAT32, declared, source.data, shape=(2, 3, 4)), "k": int32(2)},
            _outputs(source, output),
        )
    for k, output in ((1, (2, 3, 1)), (3, (2, 3, 0)), (4, ())):
        yield positive(
            f"float32_k_of_the_request_{k}",
            _OPERATION,
            {"input": source, "k": tensor(OperandType.INT32, (), [k])},
            _outputs(source, output),
            description="k is a model input",
        )


def _rejected() -> Vectors:
    source = _distinct(FLOAT32, (2, 3), 1)
    for name, k, declared in (("too_large", 4, (2, 4)), ("zero", 0, ()), ("negative", -1, ())):
        yield rejected(
            f"k_{name}",
            _OPERATION,
            {"input": source, "k": int32(k)},
            _outputs(source, declared),
            clause=f"{_OPERATION}.C1",
        )
    right, wrong = (2, 2), {"whole": (2, 3), "of_other_rank": (2,), "transposed": (3, 2)}
    for name, shape in wrong.items():
        for which in ("values", "indices"):
            outputs = {**_outputs(source, right), which: _outputs(source, shape)[which]}
            yield rejected(
                f"{which}_declared_{name}",
                _OPERATION,
                {"input": source, "k": int32(2)},
                outputs,
                clause=f"{_OPERATION}.C3",
            )
    for name, scale, point in (("scale", 0.5, 90), ("zero_point", 0.25, 91)):
        bytes_ = _distinct(QUANT8, (2, 3), 1)
        yield rejected(
            f"quant8_values_{name}",
            _OPERATION,
            {"input": bytes_, "k": int32(2)},
            {"values": tensor(QUANT8, right, scale=scale, zero_point=point), "indices": tensor(INT32, right)},
            clause=f"{_OPERATION}.C4",
        )
    yield rejected(
        "indices_of_the_input_type",
        _OPERATION,
        {"input": source, "k": int32(2)},
        {"values": tensor(FLOAT32, right), "indices": tensor(FLOAT32, right)},
        clause="MODEL.P3",
        since="1.2",
    )
