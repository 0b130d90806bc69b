"""The generator of LOG_SOFTMAX."""

from npu_conformance.corpus.generators._elementwise import SHORT
from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._normalizations import SHAPES, Along, Shape, real_scalar
from npu_conformance.corpus.generators.base import Vectors, positive, rejected
from npu_conformance.corpus.generators.data import dyadic, uniform
from npu_conformance.corpus.generators.operands import OperandSpec, int32, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.neuralnetworks.enums import OperandType

_OPERATION = "LOG_SOFTMAX"
_SHAPES = {**SHAPES, 5: (2, 1, 3, 2, 2)}


def _source(kind: OperandType, shape: Shape, seed: int) -> OperandSpec:
    return tensor(kind, shape, dyadic(seed, shape, -2.0, 2.0))


_ALONG = Along(_OPERATION, _source, lambda kind: {"beta": real_scalar(kind, 0.5)}, tensor)


def vectors() -> Vectors:
    """Every type, rank, beta and axis; values so far apart that only one counts; one element alone."""
    rows = pairwise({"type": [FLOAT32, FLOAT16], "rank": list(_SHAPES), "beta": [1.0, 0.25, 3.0]})
    for seed, row in enumerate(rows):
        kind, beta = row["type"], row["beta"]
        name = f"{SHORT[kind]}_rank{row['rank']}_beta{str(beta).replace('.', '_')}"
        yield _positive(name, _source(kind, _SHAPES[row["rank"]], seed), beta, -1)
    yield from _ALONG.axes((FLOAT32, FLOAT16))
    yield from _ALONG.open()
    yield from _extremes()
    yield from _ALONG.rejections("C2", "C4")
    yield rejected(
        "axis_left_off",
        _OPERATION,
        {"input": _source(FLOAT32, (2, 3), 1), "beta": real_scalar(FLOAT32, 1.0)},
        {"output": tensor(FLOAT32, (2, 3))},
        clause="MODEL.P3",
        since="1.2",
        description="unlike that of SOFTMAX the axis is required",
    )
    yield from long_axes(_OPERATION)


def _extremes() -> Vectors:
    far = [1000.0, 0.0, -1000.0, 5.0, 5.0, 5.0, -30.0, -20.0, -20.5]
    for kind in (FLOAT32, FLOAT16):
        about = "without subtracting the largest value the exponential overflows, and the logarithm meets 0"
        yield _positive(f"{SHORT[kind]}_far_apart", tensor(kind, (3, 3), far), 1.0, 1, about)
        for axis in (0, 1, 2):
            shape = [1, 1, 1]
            shape[axis] = 9
            yield _positive(f"{SHORT[kind]}_far_apart_axis_{axis}", tensor(kind, shape, far), 0.5, axis, about)
        about = "each is all there is: the logarithm of 1"
        yield _positive(f"{SHORT[kind]}_alone", tensor(kind, (2, 1), [3.0, -7.0]), 2.0, 1, about)
    about = "rows and columns are no multiples of a block"
    yield _positive("float32_19_by_5", _source(FLOAT32, (19, 5), 71), 3.0, 1, about)
    yield _positive("float32_2_by_67", _source(FLOAT32, (2, 67), 72), 3.0, 1, about)
    source = tensor(FLOAT32, (2, 7), uniform(4, (2, 7)))
    yield _positive("float32_all_bits", source, 1.0, 1, "float16 inside would round bits away")


def _positive(name: str, source: OperandSpec, beta: float, axis: int, about: str = "") -> Vector:
    kind = source.operand.type
    inputs = {"input": source, "beta": real_scalar(kind, beta), "axis": int32(axis)}
    return positive(name, _OPERATION, inputs, {"output": tensor(kind, source.shape)}, description=about)
