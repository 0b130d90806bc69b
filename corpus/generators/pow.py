"""The generator of POW."""

import math

from npu_conformance.corpus.generators import _rejections
from npu_conformance.corpus.generators._elementwise import SHAPES, SHORT
from npu_conformance.corpus.generators._squares import squares
from npu_conformance.corpus.generators.base import Vectors, positive, rejected
from npu_conformance.corpus.generators.data import dyadic, uniform
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32, INT32
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.documents.vectors import GeneratorDocument

_NAMES = ("base", "exponent")


def vectors() -> Vectors:
    """Both types and every way of broadcasting; negative and fractional exponents, negative bases, zero, infinities.

    Where powers are no floats, bases and exponents stay small: an error in the logarithm is multiplied by the exponent.
    """
    yield from _floats()
    yield from squares("POW", _NAMES)
    yield from _special()
    yield _large()
    yield from _shapes()
    yield from _rejections.binary("POW", activation=False, mismatch="C1", outputs="C3", names=_NAMES)
    yield _rejections.mixed_types("POW", activation=False, names=_NAMES)
    yield rejected(
        "of_int32",
        "POW",
        _inputs(tensor(INT32, (2,), [2, 3]), tensor(INT32, (2,), [1, 2])),
        {"output": tensor(INT32, (2,))},
        clause="MODEL.P3",
        since="1.2",
    )


def _inputs(base: OperandSpec, exponent: OperandSpec) -> Operands:
    return {"base": base, "exponent": exponent}


def _floats() -> Vectors:
    for seed, row in enumerate(pairwise({"type": [FLOAT32, FLOAT16], "shapes": list(SHAPES)})):
        kind, (first, second, output) = row["type"], SHAPES[row["shapes"]]
        bases, exponents = dyadic(seed, first, 0.25, 4.0), dyadic(seed + 50, second, -2.0, 3.0, 0.5)
        yield positive(
            f"{SHORT[kind]}_{row['shapes']}",
            "POW",
            _inputs(tensor(kind, first, bases), tensor(kind, second, exponents)),
            {"output": tensor(kind, output)},
        )
    yield positive(
        "float32_all_bits",
        "POW",
        _inputs(
            tensor(FLOAT32, (3, 7), uniform(5, (3, 7), 0.5, 2.0)),
            tensor(FLOAT32, (3, 7), uniform(6, (3, 7), -2.0, 2.0)),
        ),
        {"output": tensor(FLOAT32, (3, 7))},
        description="values that float16 arithmetic inside would round away",
    )


_GROUPS: dict[str, tuple[list[float], list[float]]] = {
    "whole_exponents": ([-2.0, -2.0, -3.0, -0.5, 3.0, 10.0, -1.0, 2.0], [3.0, 2.0, -1.0, -2.0, 4.0, -2.0, 0.0, 10.0]),
    "zeros_and_ones": ([0.0, 2.5, 0.0, 1.0, -7.0, 0.0, 1.0], [2.0, 0.0, 0.5, 5.5, 1.0, 1.0, 0.0]),
    "infinities": ([math.inf, math.inf, 2.0, 0.5, 2.0], [2.0, -1.0, math.inf, math.inf, -math.inf]),
    "overflow": ([300.0, 1000.0, -300.0, 0.001], [20.0, -20.0, 21.0, 20.0]),
    "undefined_values": ([-2.0, -0.25, 0.0, 0.0, math.nan, 2.0, -8.0], [0.5, 1.5, 0.0, -1.0, 0.0, math.nan, -0.25]),
}
"""Bases and exponents. Roots of negative numbers, 0^0, 0 to a negative power and NaN are left open by the documents."""


def _special() -> Vectors:
    for kind in (FLOAT32, FLOAT16):
        for name, (bases, exponents) in _GROUPS.items():
            shape = (len(bases),)
            yield positive(
                f"{SHORT[kind]}_{name}",
                "POW",
                _inputs(tensor(kind, shape, bases), tensor(kind, shape, exponents)),
                {"output": tensor(kind, shape)},
                ignored=["output"] if name == "undefined_values" else [],
            )


def _large() -> Vector:
    """Powers that are floats themselves."""
    bases = [1000.0, 10.0, -100.0, 4096.0, 12.0, -3.0, 7.0, 255.0, 1024.0, 65536.0, -2.0, 10.0]
    exponents = [3.0, 10.0, 3.0, 5.0, 8.0, 15.0, 8.0, 2.0, -3.0, 4.0, 31.0, 8.0]
    shape = (len(bases),)
    return positive(
        "float32_large_bases",
        "POW",
        _inputs(tensor(FLOAT32, shape, bases), tensor(FLOAT32, shape, exponents)),
        {"output": tensor(FLOAT32, shape)},
        description="whole exponents, results up to 2^64",
        excluded=["float16", "relaxed"],
    )


def _shapes() -> Vectors:
    first, second = (2, 1, 3, 1, 2), (1, 2, 1, 2, 1)
    bases, exponents = dyadic(1, first, 0.25, 4.0), dyadic(2, second, -2.0, 3.0, 0.5)
    yield positive(
        "float32_rank5",
        "POW",
        _inputs(tensor(FLOAT32, first, bases), tensor(FLOAT32, second, exponents)),
        {"output": tensor(FLOAT32, (2, 2, 3, 2, 2))},
        description="the operation sets no limit to the rank",
    )
    yield positive(
        "float32_open_shapes",
        "POW",
        _inputs(
            tensor(FLOAT32, (0, 3), dyadic(3, (2, 3), 0.25, 4.0), shape=(2, 3)),
            tensor(FLOAT32, (), [0.5, -1.0, 2.0], shape=(3,)),
        ),
        {"output": tensor(FLOAT32, ())},
        description="the request brings the shapes",
    )
    yield positive(
        "float32_realistic",
        "POW",
        _inputs(
            tensor(FLOAT32, (1, 28, 28, 16), GeneratorDocument(kind="uniform", seed=28, low=0.25, high=2.0)),
            tensor(FLOAT32, (1,), [2.0], constant=True),
        ),
        {"output": tensor(FLOAT32, (1, 28, 28, 16))},
        description="the square of a feature map, its exponent a constant",
    )
