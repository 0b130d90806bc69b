"""The generator of LOCAL_RESPONSE_NORMALIZATION."""

from typing import NamedTuple

from npu_conformance.corpus.generators._elementwise import SHORT
from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._normalizations import SHAPES, Along, Shape, real_scalar
from npu_conformance.corpus.generators.base import Vectors, positive, rejected
from npu_conformance.corpus.generators.data import dyadic, uniform
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, int32, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.extension_codes import AnyOperandType

_OPERATION = "LOCAL_RESPONSE_NORMALIZATION"


class _Factors(NamedTuple):
    """The scalars of the formula."""

    radius: int = 1
    bias: float = 1.0
    alpha: float = 0.5
    beta: float = 0.5

    def operands(self, kind: AnyOperandType) -> Operands:
        """The scalars as inputs beside a tensor of this type."""
        reals = {"bias": self.bias, "alpha": self.alpha, "beta": self.beta}
        return {"radius": int32(self.radius), **{name: real_scalar(kind, value) for name, value in reals.items()}}


def _source(kind: OperandType, shape: Shape, seed: int) -> OperandSpec:
    return tensor(kind, shape, dyadic(seed, shape, -2.0, 2.0))


_ALONG = Along(_OPERATION, _source, _Factors().operands, tensor)


def vectors() -> Vectors:
    """Every rank and axis; pairwise radius, bias, alpha, beta; windows at the borders and wider than the tensor."""
    for kind in (FLOAT32, FLOAT16):
        for rank, shape in SHAPES.items():
            yield _ALONG.vector(f"{SHORT[kind]}_rank{rank}", kind, _source(kind, shape, rank), None)
    yield from _factors()
    yield from _ALONG.axes((FLOAT32, FLOAT16))
    yield from _ALONG.open()
    yield from _borders()
    yield from _ALONG.rejected_ranks("C1", "C2")
    yield from _ALONG.rejections("C3", "C5")
    yield rejected(
        "axis_until_1_1",
        _OPERATION,
        {"input": _source(FLOAT32, SHAPES[4], 1), **_Factors().operands(FLOAT32), "axis": int32(-1)},
        {"output": tensor(FLOAT32, SHAPES[4])},
        clause="MODEL.P3",
        until="1.1",
    )
    yield from long_axes(_OPERATION)


def _factors() -> Vectors:
    rows = pairwise(
        {
            "type": [FLOAT32, FLOAT16],
            "radius": [0, 1, 2, 5],
            "bias": [1.0, 4.0, 0.5],
            "alpha": [0.25, 1.0, 0.0],
            "beta": [0.5, 1.0, 0.75, 0.0],
        }
    )
    for seed, row in enumerate(rows):
        kind = row["type"]
        yield _positive(
            f"{SHORT[kind]}_factors_{seed}", _source(kind, (1, 2, 1, 8), seed), _Factors(*list(row.values())[1:])
        )


def _borders() -> Vectors:
    ones = [1.0, 2.0, 1.0, 1.0, 1.0, 2.0, 0.5, -1.0]
    for kind in (FLOAT32, FLOAT16):
        # Bias 1 and alpha 2: with S = 1 + 4 at the border the divisor is 11; divided by the window's size it is not.
        about = "the window is cut off at the borders, and the sum is not divided by its size"
        factors = _Factors(1, 1.0, 2.0, 1.0)
        yield _positive(f"{SHORT[kind]}_borders", tensor(kind, (1, 1, 1, 8), ones), factors, about)
        source = _source(kind, (1, 1, 2, 3), 6)
        yield _positive(f"{SHORT[kind]}_window_beyond", source, _Factors(20), "every window is the whole slice")
    source = tensor(FLOAT32, (1, 1, 2, 7), uniform(4, (1, 1, 2, 7)))
    yield _positive("float32_all_bits", source, _Factors(2), "float16 inside would round bits away")


def _positive(name: str, source: OperandSpec, factors: _Factors, about: str = "") -> Vector:
    kind = source.operand.type
    inputs = {"input": source, **factors.operands(kind)}
    return positive(
        name, _OPERATION, inputs, {"output": tensor(kind, source.shape)}, hazards=["lrn-window-sum"], description=about
    )
