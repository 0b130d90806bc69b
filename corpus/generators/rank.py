"""The generator of RANK."""

import math

import numpy
from msgspec.structs import replace

from npu_conformance.corpus.generators._as_reals import as_reals
from npu_conformance.corpus.generators._elementwise import SHORT
from npu_conformance.corpus.generators.base import Vectors, positive, rejected
from npu_conformance.corpus.generators.data import integers
from npu_conformance.corpus.generators.operands import OperandSpec, tensor
from npu_conformance.corpus.vectors import Vector, VectorOperand, VectorOperation
from npu_conformance.specs.neuralnetworks.enums import OperandType

_T = OperandType
_KINDS = {
    **{kind: (name, 0.5 if name.startswith("quant8") else 0.0) for kind, name in SHORT.items()},
    _T.TENSOR_BOOL8: ("bool8", 0.0),
    _T.TENSOR_QUANT16_SYMM: ("quant16_symm", 0.5),
    _T.TENSOR_QUANT16_ASYMM: ("quant16_asymm", 0.5),
    _T.TENSOR_QUANT8_SYMM: ("quant8_symm", 0.5),
    _T.TENSOR_QUANT8_SYMM_PER_CHANNEL: ("per_channel", 0.0),
}
"""Every type: how it is spelled in names, and a scale."""

_SHAPES = ((5,), (4, 3), (1, 1, 1), (2, 1, 3, 2), (2, 1, 1, 2, 2), (1, 2, 1, 1, 1, 3))
"""One of each rank: the rank is none of the sizes but for the last ones, and sizes of 1 count."""

_LATER = (_T.TENSOR_FLOAT32, _T.TENSOR_QUANT8_ASYMM)
"""Types whose inputs also come without rank or sizes in the model."""


def vectors() -> Vectors:
    """Every type with two ranks, every rank; ranks and sizes that only the request tells; an output of another type."""
    for position, kind in enumerate(_KINDS):
        first, second = _SHAPES[position % 6], _SHAPES[(position + 3) % 6]
        for shape in (first, second):
            yield _positive(f"{_KINDS[kind][0]}_rank{len(shape)}", _input(kind, shape))
    for kind in _LATER:
        for shape in _SHAPES:
            yield _positive(f"{_KINDS[kind][0]}_rank{len(shape)}_of_the_request", _input(kind, shape, ()))
        yield _positive(f"{_KINDS[kind][0]}_unknown_sizes", _input(kind, (3, 1, 2), (0, 1, 0)))
    for shape in _SHAPES[1:4]:
        yield as_reals(
            _filled(_positive(f"float32_rank{len(shape)}_filled", _input(_T.TENSOR_FLOAT32, shape))), "filled"
        )
    yield rejected(
        "output_is_a_tensor",
        "RANK",
        {"input": _input(_T.TENSOR_FLOAT32, (2, 3))},
        {"output": tensor(_T.TENSOR_INT32, (1,))},
        clause="MODEL.P3",
        since="1.3",
    )


def _positive(name: str, source: OperandSpec) -> Vector:
    return positive(name, "RANK", {"input": source}, {"output": tensor(_T.INT32, ())})


def _filled(alone: Vector) -> Vector:
    """With FILL behind it: a tensor of int32 with the rank."""
    more = {"sizes": VectorOperand(_T.TENSOR_INT32, (1,)), "filled": VectorOperand(_T.TENSOR_INT32, (1,))}
    (example,) = alone.examples
    given = {**example.inputs, "sizes": numpy.array([1], numpy.int32)}
    return replace(
        alone,
        operands={**alone.operands, **more},
        operations=(*alone.operations, VectorOperation("FILL", ("sizes", "output"), ("filled",))),
        inputs=(*alone.inputs, "sizes"),
        outputs=("filled",),
        examples=(replace(example, inputs=given),),
    )


def _input(kind: OperandType, shape: tuple[int, ...], declared: tuple[int, ...] | None = None) -> OperandSpec:
    """declared: dimensions in the model, where they are not the shape."""
    quant = ((0.5,) * shape[-1], len(shape) - 1) if kind is _T.TENSOR_QUANT8_SYMM_PER_CHANNEL else None
    return tensor(
        kind,
        shape if declared is None else declared,
        integers(math.prod(shape), shape, 0, 1),
        scale=_KINDS[kind][1],
        channel_quant=quant,
        shape=shape,
    )
