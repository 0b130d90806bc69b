"""The generator of FULLY_CONNECTED."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import msgspec
import numpy

from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._rejections import RANK_CLAUSE
from npu_conformance.corpus.generators._shared_quantization import shared_quantization
from npu_conformance.corpus.generators._windows import ACTIVATIONS
from npu_conformance.corpus.generators._zero_sized import zero_sized
from npu_conformance.corpus.generators.base import Vectors, positive, rejection
from npu_conformance.corpus.generators.data import dyadic, integers, uniform
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, constant, int32, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32, INT32, QUANT8, SIGNED
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.documents.vectors import GeneratorDocument

OPERATION = "FULLY_CONNECTED"
KINDS = {"float32": FLOAT32, "float16": FLOAT16, "quant8": QUANT8, "quant8_signed": SIGNED}
SHAPES: dict[str, tuple[tuple[int, ...], int, int]] = {
    "rank2": ((3, 5), 5, 4),
    "rank2_regrouped": ((2, 6), 4, 3),
    "rank3": ((2, 3, 4), 4, 5),
    "rank4": ((2, 1, 3, 4), 6, 2),
    "rank4_batch": ((3, 2, 1, 2), 4, 7),
}
"""Dimensions of the input, input size, units. The input is regrouped to rows of the input size."""
SCALES = {"dyadic": (1 / 16, 1 / 128, 1 / 16), "odd": (0.0431, 0.0117, 0.0473)}


@dataclass(frozen=True)
class Values:
    """Type, quantisation and data; zero points and bytes as of an unsigned type, signed ones get them less 128."""

    kind: str
    seed: int = 0
    scales: tuple[float, float, float] = SCALES["dyadic"]
    zero_points: tuple[int, int, int] = (121, 131, 117)
    source: Any = None
    weights: Any = None
    bias: Any = None

    @property
    def is_float(self) -> bool:
        """True for float32 and float16."""
        return self.kind.startswith("float")

    def quantization(self, position: int) -> dict[str, Any]:
        """Scale and zero point of input, weights or output."""
        if self.is_float:
            return {}
        return {"scale": self.scales[position], "zero_point": self.zero_points[position] - self.shift}

    @property
    def shift(self) -> int:
        """What stored integers of a signed type have less than those of the unsigned one."""
        return 128 if self.kind == "quant8_signed" else 0

    def elements(self, given: Any, seed: int, dimensions: Sequence[int], span: float) -> Any:
        """Given data, or seeded quarters within `span`, or bytes."""
        if isinstance(given, GeneratorDocument):
            return given
        if given is not None:
            return numpy.asarray(given) - self.shift
        if self.is_float:
            return dyadic(seed, dimensions, -span, span, 0.25)
        return integers(seed, dimensions, 0, 255) - self.shift


def operands(shape: tuple[tuple[int, ...], int, int], values: Values, activation: int = 0) -> tuple[Operands, Operands]:
    """Inputs and outputs of the operation."""
    dimensions, size, units = shape
    kind = KINDS[values.kind]
    source = values.elements(values.source, values.seed, dimensions, 2.0)
    weights = values.elements(values.weights, values.seed + 1000, (units, size), 1.0)
    inputs = {
        "input": tensor(kind, dimensions, source, **values.quantization(0)),
        "weights": tensor(kind, (units, size), weights, constant=True, **values.quantization(1)),
        "bias": _bias(units, values),
        "activation": int32(activation),
    }
    return inputs, {"output": tensor(kind, (prod(dimensions) // size, units), **values.quantization(2))}


def vectors() -> Vectors:
    """Pairwise: type, shape, activation, scales; quantised corners; long rows; batch 0; rejections."""
    yield from _cover()
    yield from _corners()
    yield from _long_rows()
    yield from _many_units()
    yield _wide_sums()
    yield from shared_quantization(
        OPERATION, *operands(SHAPES["rank2"], Values("quant8", seed=81)), (1 / 64, 1 / 100, 1 / 30), (110, 140, 120)
    )
    yield from _batch_zero()
    yield from long_axes(OPERATION)
    yield from _rejected()


def _positive(
    name: str, shape: tuple[tuple[int, ...], int, int], values: Values, activation: int = 0, **details: Any
) -> Vector:
    inputs, outputs = operands(shape, values, activation)
    return positive(name, OPERATION, inputs, outputs, **details)


def _bias(units: int, values: Values) -> OperandSpec:
    data = values.bias
    if values.is_float:
        floats = dyadic(values.seed + 2000, (units,), -2.0, 2.0, 0.25) if data is None else data
        return constant(KINDS[values.kind], (units,), floats)
    whole = integers(values.seed + 2000, (units,), -9000, 9000) if data is None else data
    scale = float(numpy.float32(values.scales[0]) * numpy.float32(values.scales[1]))
    return constant(INT32, (units,), whole, scale=scale)


def _cover() -> Vectors:
    parameters: Mapping[str, list[str]] = {
        "kind": list(KINDS),
        "shape": list(SHAPES),
        "activation": list(ACTIVATIONS),
        "scales": list(SCALES),
    }
    for seed, row in enumerate(pairwise(parameters)):
        kind, shape, activation, scales = row.values()
        name = f"{kind}_{shape}_{activation}" + ("" if kind.startswith("float") else f"_{scales}")
        yield _positive(
            name,
            SHAPES[shape],
            Values(kind, seed, SCALES[scales]),
            ACTIVATIONS[activation],
            hazards=["activation-in-quanta"],
        )
    bits = Values(
        "float32", source=uniform(1, (2, 3), 0.5, 1), weights=uniform(2, (4, 3), 0.5, 1), bias=uniform(3, (4,), 0.5, 1)
    )
    yield _positive("float32_all_bits", ((2, 3), 3, 4), bits, description="values that need all 24 bits")
    # Sums of 16 products below a half: float32 keeps them within 1e-5 in any order.
    blocks = Values(
        "float32", source=uniform(4, (2, 16), -1, 1), weights=uniform(5, (8, 16), -0.5, 0.5), bias=[0.0] * 8
    )
    about = "values that need all 24 bits, in rows of whole blocks of 16"
    yield _positive("float32_all_bits_in_blocks", ((2, 16), 16, 8), blocks, description=about)


def _corners() -> Vectors:
    shape = SHAPES["rank2"]
    for kind in ("quant8", "quant8_signed"):
        for name, points in {"low": (0, 0, 0), "input_high": (255, 0, 255), "weights_high": (0, 255, 255)}.items():
            yield _positive(
                f"{kind}_zero_points_{name}",
                shape,
                Values(kind, 3, (1 / 16, 1 / 128, 0.25), points),
                hazards=["bias-scale"],
            )
        yield _positive(f"{kind}_saturates", shape, Values(kind, 4, (0.5, 0.25, 0.3)))
        large = [2**20, -(2**20) - 70001, 2**21 + 3, -(2**19)]
        yield _positive(f"{kind}_large_bias", shape, Values(kind, 5, (1 / 16, 1 / 128, 12.0), bias=large))
        fine = Values(
            kind,
            6,
            (0.5, 0.25, 0.125),
            source=121 + integers(7, (3, 5), -2, 2),
            weights=131 + integers(8, (4, 5), -3, 3),
            bias=[5, -7, 0, 11],
        )
        description = "the output is finer than the product of the scales, which only 1.2 allows"
        yield _positive(
            f"{kind}_output_scale_below_product",
            shape,
            fine,
            since="1.2",
            hazards=["output-finer-than-product"],
            description=description,
        )


def _long_rows() -> Vectors:
    """Input sizes of language models. Floats are quarters: every partial sum is exact."""
    for size in (768, 3072):
        shape = ((2, size), size, 5)
        floats = GeneratorDocument(kind="dyadic", seed=size, low=-1.0, high=1.0, step=0.25)
        weights = GeneratorDocument(kind="dyadic", seed=size + 1, low=-1.0, high=1.0, step=0.25)
        description = "partial sums are exact in float32, in any order"
        yield _positive(
            f"float32_{size}", shape, Values("float32", source=floats, weights=weights), description=description
        )
        bytes_ = GeneratorDocument(kind="integers", seed=size, low=0, high=255)
        others = msgspec.structs.replace(bytes_, seed=size + 1)
        quantized = Values("quant8", size, (1 / 16, 1 / 128, 2.0), source=bytes_, weights=others)
        yield _positive(f"quant8_{size}", shape, quantized)
    few = GeneratorDocument(kind="dyadic", seed=16, low=-1.0, high=1.0, step=0.5)
    halves = Values("float16", source=few, weights=msgspec.structs.replace(few, seed=17, step=1.0))
    description = "products are multiples of a half: partial sums are exact in float16, in any order"
    yield _positive("float16_768", ((2, 768), 768, 5), halves, description=description)


def _many_units() -> Vectors:
    for kind in ("float32", "quant8"):
        about = "the number of a unit needs more than a byte; rows and units are no multiples of a block"
        yield _positive(f"{kind}_259_units", ((19, 3), 3, 259), Values(kind, 43), description=about)


def _wide_sums() -> Vector:
    bytes_ = GeneratorDocument(kind="integers", seed=51, low=200, high=255)
    scales = (1 / 16, 1 / 128, 1200 * 255 * 255 / 2048 / 255)
    values = Values(
        "quant8", scales=scales, zero_points=(0, 0, 0), source=bytes_, weights=msgspec.structs.replace(bytes_, seed=52)
    )
    about = "sums of products that need more than 24 bits"
    return _positive("quant8_wide_sums", ((2, 1200), 1200, 3), values, description=about)


def _batch_zero() -> Vectors:
    for kind in KINDS:
        dimensions = (0, 2, 2, 3)
        values = Values(kind, source=[])
        inputs, outputs = operands((dimensions, 6, 2), values)
        feature_map = tensor(KINDS[kind], dimensions, **values.quantization(0))
        yield zero_sized(f"{kind}_batch_zero", OPERATION, feature_map, {**inputs, "input": None}, outputs)


def _rejected() -> Vectors:
    shape = SHAPES["rank2"]
    floats, bytes_ = Values("float32", 1), Values("quant8", 1)
    product = float(numpy.float32(bytes_.scales[0]) * numpy.float32(bytes_.scales[1]))
    whole = integers(3, (4,), -9, 9)
    scales = {"double": 2 * product, "one_thousandth_off": 1.001 * product}
    yield _rejection("input_rank_5", RANK_CLAUSE, ((1, 1, 1, 3, 5), 5, 4), floats, {})
    late = {"input": tensor(FLOAT32, (), dyadic(1, (15,)), shape=(1, 1, 1, 3, 5)), "output": tensor(FLOAT32, ())}
    yield _rejection("input_rank_5_at_execution", "C1", shape, floats, late, since="1.2")
    yield _rejection(
        "weights_rank_3", RANK_CLAUSE, shape, floats, {"weights": constant(FLOAT32, (4, 5, 1), dyadic(2, (20,)))}
    )
    yield _rejection(
        "input_no_multiple_of_rows", "C2", shape, floats, {"weights": constant(FLOAT32, (4, 4), dyadic(2, (16,)))}
    )
    yield _rejection("bias_too_long", "C3", shape, floats, {"bias": constant(FLOAT32, (5,), dyadic(2, (5,)))})
    yield _rejection("bias_too_short", "C3", shape, floats, {"bias": constant(FLOAT32, (3,), dyadic(2, (3,)))})
    for code in (-1, 4):
        yield _rejection(f"activation_{code}".replace("-", "minus_"), "C4", shape, floats, {"activation": int32(code)})
    for name, scale in scales.items():
        bias = constant(INT32, (4,), whole, scale=scale)
        yield _rejection(f"quant8_bias_scale_{name}", "C6", shape, bytes_, {"bias": bias})
    yield _rejection("output_rows", "C8", shape, floats, {"output": tensor(FLOAT32, (4, 4))})
    yield _rejection("output_dimensions", "C8", shape, floats, {"output": tensor(FLOAT32, (4, 3))})


def _rejection(
    name: str,
    clause: str,
    shape: tuple[tuple[int, ...], int, int],
    values: Values,
    changes: Operands,
    since: str = "1.0",
) -> Vector:
    return rejection(OPERATION, name, clause, *operands(shape, values), since, changes=changes)
