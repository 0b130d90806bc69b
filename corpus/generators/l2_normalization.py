"""The generator of L2_NORMALIZATION."""

from npu_conformance.corpus.generators import _rejections
from npu_conformance.corpus.generators._elementwise import SHORT, stored_bytes
from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._normalizations import SHAPES, Along, Shape
from npu_conformance.corpus.generators.base import Vectors, positive, rejected
from npu_conformance.corpus.generators.data import dyadic, uniform
from npu_conformance.corpus.generators.operands import OperandSpec, int32, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32, QUANT8, SIGNED
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.specs.documents.vectors import GeneratorDocument
from npu_conformance.specs.neuralnetworks.enums import OperandType

_OPERATION = "L2_NORMALIZATION"
_WHOLE = ("relaxed", "float16")
"""Variations whose floats are too short for such numbers."""
_KINDS = (FLOAT32, FLOAT16, QUANT8, SIGNED)


def _source(kind: OperandType, shape: Shape, seed: int) -> OperandSpec:
    if kind in (FLOAT32, FLOAT16):
        return tensor(kind, shape, dyadic(seed, shape))
    shift = 128 if kind is SIGNED else 0
    return tensor(kind, shape, stored_bytes(seed, shape, shift), scale=0.25, zero_point=100 - shift)


def _output(kind: OperandType, shape: Shape) -> OperandSpec:
    if kind in (FLOAT32, FLOAT16):
        return tensor(kind, shape)
    return tensor(kind, shape, scale=1 / 128, zero_point=0 if kind is SIGNED else 128)


_ALONG = Along(_OPERATION, _source, lambda kind: {}, _output)


def vectors() -> Vectors:
    """Every type, rank and axis; slices of zeros (since 1.3); lengths far apart; limits of the stored values.

    Slices shorter than 1e-6 are left out but for zeros: Android's own implementation divides by no less than that.
    """
    for seed, row in enumerate(pairwise({"type": list(_KINDS), "rank": list(SHAPES)})):
        kind, shape = row["type"], SHAPES[row["rank"]]
        yield _ALONG.vector(f"{SHORT[kind]}_rank{row['rank']}", kind, _source(kind, shape, seed), None)
    yield from _ALONG.axes(_KINDS)
    yield from _ALONG.open()
    yield from _zeros()
    yield from _lengths()
    yield from long_axes(_OPERATION)
    yield from _ALONG.rejected_ranks("C1", "C2")
    yield from _ALONG.rejections("C3", "C5")
    yield from _rejections.output_quantization(_OPERATION, "C6", (1 / 128, 128))
    yield rejected(
        "axis_until_1_1",
        _OPERATION,
        {"input": _source(FLOAT32, SHAPES[4], 1), "axis": int32(-1)},
        {"output": _output(FLOAT32, SHAPES[4])},
        clause="MODEL.P3",
        until="1.1",
    )


def _zeros() -> Vectors:
    for kind in _KINDS:
        shift, point = (0, 0) if kind in (FLOAT32, FLOAT16) else (128 if kind is SIGNED else 0, 100)
        elements = [element + point - shift for element in (0, 0, 0, 3, 0, -4, 0, 1, 0)]
        source = tensor(kind, (3, 3), elements, scale=0.5 if point else 0.0, zero_point=point - shift)
        yield positive(
            f"{SHORT[kind]}_zeros",
            _OPERATION,
            {"input": source, "axis": int32(1)},
            {"output": _output(kind, (3, 3))},
            since="1.3",
            hazards=["zero-vector-norm"],
            description="a slice of zeros stays zeros; before 1.3 that was undefined",
        )


def _lengths() -> Vectors:
    far_apart = [3.0, 4.0, 0.0, -0.03125, 0.0, 0.0, 96.0, 0.0, -28.0, 0.25, 0.25, 0.5]
    for kind in (FLOAT32, FLOAT16):
        yield _ALONG.vector(f"{SHORT[kind]}_lengths", kind, tensor(kind, (4, 3), far_apart), None)
    short = tensor(FLOAT32, (4, 3), [3e-4, 4e-4, 0.0, -6e-5, 0.0, 8e-5, 4e-6, 3e-6, 0.0, 0.0, -2e-6, 0.0])
    about = "lengths from 5e-4 to 2e-6: a guard against 0 changes nothing"
    yield _ALONG.vector("float32_short", FLOAT32, short, 1, about, _WHOLE)
    source = tensor(FLOAT32, (2, 7), uniform(4, (2, 7)))
    yield _ALONG.vector("float32_all_bits", FLOAT32, source, 1, "float16 inside would round bits away")
    large = tensor(FLOAT32, (2, 3), [3e15, 4e15, 0.0, -5e15, 1e15, 2e15])
    yield _ALONG.vector("float32_large", FLOAT32, large, 1, "squares up to 2.5e31", _WHOLE)
    for kind in (QUANT8, SIGNED):
        shift = 128 if kind is SIGNED else 0
        elements = [element - shift for element in (0, 255, 128, 0, 0, 0, 255, 255, 255, 100, 255, 100)]
        source = tensor(kind, (4, 3), elements, scale=0.02, zero_point=100 - shift)
        about = "a slice with one element: 1 saturates, for 128 / 128 is not stored"
        yield _ALONG.vector(f"{SHORT[kind]}_limits", kind, source, 1, about)
    generator = GeneratorDocument(kind="dyadic", seed=7, low=-1.0, high=1.0, step=0.25)
    source = tensor(FLOAT32, (8, 768), generator)
    yield _ALONG.vector("float32_long", FLOAT32, source, -1, "slices of 768 elements")
