"""The generator of ELU."""

import math
from collections.abc import Sequence

from npu_conformance.corpus.generators import _rejections
from npu_conformance.corpus.generators._elementwise import RANKS, SHORT, Shape
from npu_conformance.corpus.generators.base import Vectors, positive, rejected
from npu_conformance.corpus.generators.data import dyadic, uniform
from npu_conformance.corpus.generators.operands import Data, Operands, scalar, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32, QUANT8
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.documents.vectors import GeneratorDocument
from npu_conformance.specs.neuralnetworks.enums import OperandType

_SCALAR = {FLOAT32: OperandType.FLOAT32, FLOAT16: OperandType.FLOAT16}
_ALPHAS = {"1": 1.0, "half": 0.5, "2": 2.0, "0": 0.0, "minus_half": -0.5}


def vectors() -> Vectors:
    """Both types in every rank; alphas of either sign and 0; infinities.

    Left out: NaN, of which a maximum with 0 may make 0; inputs without elements, which the documents allow and
    Android's own implementation refuses.
    """
    yield from _ranks()
    yield from _alphas()
    yield from _special()
    yield from _shapes()
    yield from _rejected()


def _of(
    name: str,
    kind: OperandType,
    dimensions: Shape,
    data: Data,
    alpha: float = 1.0,
    shape: Sequence[int] | None = None,
    description: str = "",
) -> Vector:
    return positive(
        f"{SHORT[kind]}_{name}",
        "ELU",
        {"input": tensor(kind, dimensions, data, shape=shape), "alpha": scalar(_SCALAR[kind], alpha)},
        {"output": tensor(kind, dimensions)},
        description=description,
    )


def _ranks() -> Vectors:
    for kind in (FLOAT32, FLOAT16):
        for seed, shape in enumerate((*RANKS, (2, 1, 3, 1, 2))):
            yield _of(f"rank{len(shape)}", kind, shape, dyadic(seed, shape), 0.75)
    yield _of("all_bits", FLOAT32, (3, 7), uniform(5, (3, 7), -4.0, 2.0), 1.25)


def _alphas() -> Vectors:
    """max(0, x) + min(0, alpha * (e^x - 1)): an alpha below 0 keeps negative values and changes positive ones."""
    values = [-4.0, -1.0, -0.125, 0.0, 0.125, 0.5, 1.0, 2.0]
    for kind in (FLOAT32, FLOAT16):
        for name, alpha in _ALPHAS.items():
            description = "min(0, ...) is about the whole product, not about x" if alpha < 0 else ""
            yield _of(f"alpha_{name}", kind, (8,), values, alpha, description=description)
    yield positive(
        "float32_alpha_from_the_request",
        "ELU",
        {
            "input": tensor(FLOAT32, (2, 3), dyadic(8, (2, 3))),
            "alpha": tensor(OperandType.FLOAT32, (), [1.5]),
        },
        {"output": tensor(FLOAT32, (2, 3))},
        description="alpha is an input of the model",
    )


def _special() -> Vectors:
    for kind in (FLOAT32, FLOAT16):
        values = [0.0, -0.0, math.inf, -math.inf, 100.0, -100.0, 60000.0]
        yield _of("special_values", kind, (7,), values)
        yield _of("alpha_2_special_values", kind, (5,), [math.inf, -math.inf, 100.0, -100.0, 0.0], 2.0)


def _shapes() -> Vectors:
    description = "the request brings the shape"
    yield _of("open_size", FLOAT32, (0, 3), dyadic(6, (4, 3)), 0.5, (4, 3), description)
    yield _of("open_rank", FLOAT32, (), dyadic(7, (2, 3, 2)), 0.5, (2, 3, 2), description)
    data = GeneratorDocument(kind="uniform", seed=28, low=-3.0, high=3.0)
    yield _of("realistic", FLOAT32, (1, 28, 28, 16), data, 1.0, description="a feature map")


def _rejected() -> Vectors:
    """Outputs declared otherwise than the input; an alpha or a tensor of the wrong type; no alpha."""
    yield from _rejections.declared("ELU", FLOAT32, FLOAT32, "C2", {"alpha": scalar(OperandType.FLOAT32, 1.0)})
    one = tensor(FLOAT32, (2,), [1.0, -1.0])
    calls: dict[str, Operands] = {
        "float16_alpha_of_float32": {"input": one, "alpha": scalar(OperandType.FLOAT16, 1.0)},
        "float32_alpha_of_float16": {
            "input": tensor(FLOAT16, (2,), [1.0, -1.0]),
            "alpha": scalar(OperandType.FLOAT32, 1.0),
        },
        "alpha_of_int32": {"input": one, "alpha": scalar(OperandType.INT32, 1)},
        "without_alpha": {"input": one},
        "of_quant8": {"input": tensor(QUANT8, (2,), [1, 2], scale=0.5), "alpha": scalar(OperandType.FLOAT32, 1.0)},
    }
    for name, inputs in calls.items():
        given = inputs["input"].operand
        output = tensor(given.type, (2,), scale=given.scale)
        yield rejected(name, "ELU", inputs, {"output": output}, clause="MODEL.P3", since="1.3")
