"""The generator of PRELU."""

import math

from npu_conformance.corpus.generators import _rejections
from npu_conformance.corpus.generators._elementwise import SHAPES, SHORT, Shape, all_bytes, stored_bytes
from npu_conformance.corpus.generators._shared_quantization import shared_quantization
from npu_conformance.corpus.generators._squares import squares
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.data import dyadic, uniform
from npu_conformance.corpus.generators.operands import Operands, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32, QUANT8, SIGNED
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.documents.vectors import GeneratorDocument
from npu_conformance.specs.neuralnetworks.enums import OperandType

_QUANTIZATIONS = {
    "usual": ((0.1, 120), (0.005, 100), (0.1, 120)),
    "coarse_output": ((0.05, 128), (0.01, 128), (0.2, 90)),
    "fine_output": ((0.25, 100), (0.0078125, 0), (0.05, 60)),
    "mostly_negative": ((0.1, 200), (0.02, 30), (0.15, 180)),
}
"""Scale and (unsigned) zero point of input, alpha and output. The second enlarges nothing, the third saturates."""

_SHAPES = {**SHAPES, "same": ((3, 4), (3, 4), (3, 4)), "row": ((3, 4), (4,), (3, 4))}
_NAMES = ("input", "alpha")


def vectors() -> Vectors:
    """Every type and way of broadcasting, alphas below zero and above one, three quantisations apart, infinities."""
    yield from _floats()
    yield from _quantized()
    yield from _every_byte()
    yield from _shared()
    yield from _special()
    yield from _shapes()
    yield from _rejections.binary("PRELU", activation=False, mismatch="C1", outputs="C3", names=_NAMES)
    yield _rejections.mixed_types("PRELU", activation=False, names=_NAMES)
    yield from squares("PRELU", _NAMES, sign=-1.0)


def _floats() -> Vectors:
    for seed, row in enumerate(pairwise({"type": [FLOAT32, FLOAT16], "shapes": list(SHAPES)})):
        kind, (first, second, output) = row["type"], SHAPES[row["shapes"]]
        alpha = dyadic(seed + 50, second, -1.0, 2.0)
        yield positive(
            f"{SHORT[kind]}_{row['shapes']}",
            "PRELU",
            {"input": tensor(kind, first, _signs(seed, first)), "alpha": tensor(kind, second, alpha)},
            {"output": tensor(kind, output)},
        )
    yield positive(
        "float32_all_bits",
        "PRELU",
        {"input": tensor(FLOAT32, (4, 6), uniform(5, (4, 6))), "alpha": tensor(FLOAT32, (6,), uniform(6, (6,), 0.0))},
        {"output": tensor(FLOAT32, (4, 6))},
        description="values that float16 arithmetic inside would round away",
    )


def _signs(seed: int, shape: Shape) -> list[float]:
    """Seeded data whose first element is negative, since there may be one only."""
    values = [float(value) for value in dyadic(seed, shape).ravel()]
    values[0] = -1.5
    return values


def _quantized() -> Vectors:
    rows = pairwise(
        {"type": [QUANT8, SIGNED], "shapes": ["same", "row", "both", "rank4"], "quantization": list(_QUANTIZATIONS)}
    )
    for seed, row in enumerate(rows):
        kind, (first, second, output) = row["type"], _SHAPES[row["shapes"]]
        shift = 128 if kind is SIGNED else 0
        data = stored_bytes(seed, first, shift), stored_bytes(seed + 40, second, shift)
        name = f"{SHORT[kind]}_{row['shapes']}_{row['quantization']}"
        yield _of_bytes(name, kind, (first, second, output), data, row["quantization"])
    for seed, kind in enumerate((QUANT8, SIGNED)):
        shift = 128 if kind is SIGNED else 0
        data = stored_bytes(seed + 80, (3, 4), shift), [30 - shift]
        yield _of_bytes(f"{SHORT[kind]}_one_alpha", kind, ((3, 4), (1,), (3, 4)), data, "usual")


def _shared() -> Vectors:
    inputs = {name: tensor(QUANT8, (3, 4), stored_bytes(71 + index, (3, 4), 0)) for index, name in enumerate(_NAMES)}
    outputs = {"output": tensor(QUANT8, (3, 4))}
    yield from shared_quantization("PRELU", inputs, outputs, (1 / 64, 1 / 50, 1 / 20), (90, 150, 100))


def _every_byte() -> Vectors:
    """Every stored value with alphas of either sign, 0 and more than 1."""
    for kind in (QUANT8, SIGNED):
        shift = 128 if kind is SIGNED else 0
        slopes = [value - shift for value in (0, 30, 31, 60, 80, 90, 200, 255)]
        for name in ("fine_output", "mostly_negative"):
            shapes = (32, 8), (8,), (32, 8)
            yield _of_bytes(f"{SHORT[kind]}_every_value_{name}", kind, shapes, (all_bytes(shift), slopes), name)


def _of_bytes(
    name: str,
    kind: OperandType,
    shapes: tuple[Shape, Shape, Shape],
    data: tuple[list[int], list[int]],
    quantization: str,
) -> Vector:
    shift = 128 if kind is SIGNED else 0
    given = zip(shapes, (*data, None), _QUANTIZATIONS[quantization], strict=True)
    x, alpha, output = (
        tensor(kind, shape, values, scale=scale, zero_point=point - shift) for shape, values, (scale, point) in given
    )
    return positive(name, "PRELU", {"input": x, "alpha": alpha}, {"output": output}, hazards=["operands-of-own-scale"])


def _special() -> Vectors:
    for kind in (FLOAT32, FLOAT16):
        yield positive(
            f"{SHORT[kind]}_special_values",
            "PRELU",
            {
                "input": tensor(kind, (8,), [0.0, -0.0, math.inf, -math.inf, -math.inf, math.nan, -32752.0, 3.0]),
                "alpha": tensor(kind, (8,), [2.0, 2.0, 0.5, 0.5, -0.5, 0.5, 2.0, -2.0]),
            },
            {"output": tensor(kind, (8,))},
            description="alpha times -infinity, by either sign; a negative alpha does not touch what is positive",
        )


def _shapes() -> Vectors:
    first, second = (2, 1, 3, 1, 2), (1, 2, 1, 2, 1)
    inputs: Operands = {
        "input": tensor(FLOAT32, first, dyadic(1, first)),
        "alpha": tensor(FLOAT32, second, dyadic(2, second)),
    }
    yield positive("float32_rank5", "PRELU", inputs, {"output": tensor(FLOAT32, (2, 2, 3, 2, 2))})
    yield positive(
        "float32_open_shapes",
        "PRELU",
        {
            "input": tensor(FLOAT32, (0, 3), _signs(3, (2, 3)), shape=(2, 3)),
            "alpha": tensor(FLOAT32, (), [0.25, -0.5, 1.5], shape=(3,)),
        },
        {"output": tensor(FLOAT32, ())},
        description="the request brings the shapes",
    )
    yield positive(
        "float32_realistic",
        "PRELU",
        {
            "input": tensor(FLOAT32, (1, 28, 28, 16), GeneratorDocument(kind="uniform", seed=28, low=-2.0, high=2.0)),
            "alpha": tensor(FLOAT32, (1, 1, 16), uniform(29, (1, 1, 16), 0.0, 0.5), constant=True),
        },
        {"output": tensor(FLOAT32, (1, 28, 28, 16))},
        description="a feature map, with a constant alpha for each channel",
    )
