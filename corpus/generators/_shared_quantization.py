"""Operands that share their scale, their zero point or both: what drivers ask before they copy or compare codes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy
from msgspec import structs

from npu_conformance.corpus.generators._convolutions import Sizes, Values, operands
from npu_conformance.corpus.generators._elementwise import SHORT
from npu_conformance.corpus.generators._windows import Window
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, tensor
from npu_conformance.corpus.generators.types import INT32, QUANT8, SIGNED
from npu_conformance.specs.neuralnetworks.enums import OperandType

_ABOUT = {
    "scale": "one scale and several zero points",
    "zero_point": "one zero point and several scales",
    "quantization": "one scale and one zero point",
}


def shared_quantization(
    operation: str,
    inputs: Operands,
    outputs: Operands,
    scales: Sequence[float],
    zero_points: Sequence[int] = (0, 255, 100),
    *,
    types: Sequence[OperandType] = (QUANT8, SIGNED),
    apart_since: str = "1.0",
    **details: Any,
) -> Vectors:
    """One vector for each type and each thing that all quantised operands may share.

    inputs, outputs: the quantised ones of QUANT8; those of SIGNED get codes less 128. scales, zero_points: one for each
    quantised operand, in order, as of QUANT8; the first scale and the last zero point are those that are shared.
    apart_since: the version from which on the operands may be quantised apart.
    """
    for kind in types:
        for what, row in _rows(scales, zero_points):
            since = "1.0" if what == "quantization" else apart_since
            changed = _quantized({**inputs, **outputs}, kind, row)
            yield positive(
                f"{SHORT[kind]}_shared_{what}",
                operation,
                {name: changed[name] for name in inputs},
                {name: changed[name] for name in outputs},
                since=since,
                description=_ABOUT[what],
                **details,
            )


def shared_in_convolution(sizes: Sizes) -> Vectors:
    """Input, filter and output of a convolution."""
    inputs, outputs = operands(sizes, Window("valid", nchw=False), Values("quant8", seed=81))
    yield from shared_quantization(sizes.operation, inputs, outputs, (1 / 64, 1 / 100, 1 / 30), (110, 140, 120))


def _rows(scales: Sequence[float], zero_points: Sequence[int]) -> Iterator[tuple[str, list[tuple[float, int]]]]:
    pairs = list(zip(scales, zero_points, strict=True))
    yield "scale", [(scales[0], point) for _, point in pairs]
    yield "zero_point", [(scale, zero_points[-1]) for scale, _ in pairs]
    yield "quantization", [(scales[0], zero_points[-1]) for _ in pairs]


def _quantized(given: Operands, kind: OperandType, row: Sequence[tuple[float, int]]) -> Operands:
    """The operands with another type and other quantisation; a bias has the product of the scales before it."""
    rest, scales, found = iter(row), [], {}
    for name, spec in given.items():
        if spec.operand.type is QUANT8:
            scale, zero_point = next(rest)
            scales.append(scale)
            found[name] = _moved(spec, kind, scale, zero_point)
        elif spec.operand.type is INT32 and spec.operand.scale:
            found[name] = _bias(spec, scales)
        else:
            found[name] = spec
    return found


def _moved(spec: OperandSpec, kind: OperandType, scale: float, zero_point: int) -> OperandSpec:
    shift = 128 if kind is SIGNED else 0
    data = None if spec.data is None else numpy.asarray(spec.data).astype(numpy.int64) - shift
    quantization: Any = {"scale": scale, "zero_point": zero_point - shift}
    return tensor(kind, spec.operand.dimensions, data, constant=spec.constant, **quantization)


def _bias(spec: OperandSpec, scales: Sequence[float]) -> OperandSpec:
    scale = float(numpy.float32(scales[0]) * numpy.float32(scales[1]))
    return replace(spec, operand=structs.replace(spec.operand, scale=scale))
