"""Types of operands as specifications write them: `("TENSOR_FLOAT32", [1, 2])`, or a name and `"{1, 2}, 0.5f, 128"`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

ELEMENTS = {
    "INT32": "int32",
    "UINT32": "uint32",
    "FLOAT32": "float32",
    "FLOAT16": "float16",
    "BOOL": "bool8",
    "TENSOR_INT32": "int32",
    "TENSOR_FLOAT16": "float16",
    "TENSOR_FLOAT32": "float32",
    "TENSOR_QUANT8_ASYMM": "uint8",
    "TENSOR_QUANT8_SYMM": "int8",
    "TENSOR_QUANT16_ASYMM": "uint16",
    "TENSOR_QUANT16_SYMM": "int16",
    "TENSOR_BOOL8": "bool8",
    "TENSOR_QUANT8_SYMM_PER_CHANNEL": "int8",
    "TENSOR_QUANT8_ASYMM_SIGNED": "int8",
    "TENSOR_OEM_BYTE": "uint8",
    "SUBGRAPH": "",
}
"""The element of each type; a SUBGRAPH has none."""


class SymmPerChannelQuantParams:
    """A scale for each slice along `channelDim`. hide: the operand is emitted without them (per-channel biases)."""

    def __init__(self, channelDim: int, scales: Sequence[float], hide: bool = False) -> None:
        self.channelDim, self.scales, self.hide = channelDim, list(scales), hide

    def GetScalesBroadcastArray(self, dimensions: Sequence[int]) -> Any:
        """The scales (float64), shaped so that they spread over values of these dimensions."""
        import numpy

        shape = [1] * len(dimensions)
        shape[self.channelDim] = len(self.scales)
        return numpy.array(self.scales).reshape(shape)


@dataclass(frozen=True)
class Type:
    """The type of an operand.

    type: its name. dimensions: 0 and [] also where unknown. scale, zeroPoint: 0 where there is none. extraParams: of
    per-channel types.
    """

    type: str
    dimensions: list[int]
    scale: float = 0.0
    zeroPoint: int = 0
    extraParams: SymmPerChannelQuantParams | None = None

    def __post_init__(self) -> None:
        if self.type not in ELEMENTS:
            raise ValueError(f"unknown operand type {self.type!r}")

    @staticmethod
    def of(written: Sequence[Any], extra: SymmPerChannelQuantParams | None = None) -> Type:
        """The type of a tuple or list: name, dimensions, then perhaps scale, zero point and extra parameters."""
        if len(written) not in (2, 3, 4, 5):
            raise ValueError(f"expected (TYPE, [dimensions], scale, zero point), found {written!r}")
        omitted: tuple[Any, ...] = (0.0, 0, extra)[len(written) - 2 :]
        name, dimensions, scale, zero_point, extra = *written, *omitted
        return Type(name, list(map(int, dimensions)), float(scale), int(zero_point), extra)

    @staticmethod
    def parse(name: str, shape: str, extra: SymmPerChannelQuantParams | None = None) -> Type:
        """The type of a name and a text: `{1, 2}, 0.5f, 128`; `{}` and nothing are a scalar's."""
        inside, _, after = shape.strip().removeprefix("{").partition("}")
        dimensions = [int(part) for part in inside.split(",") if part.strip()]
        quant = [part.strip().removesuffix("f") for part in after.split(",") if part.strip()]
        return Type.of((name, dimensions, *quant), extra)

    def with_dimensions(self, dimensions: Sequence[int]) -> Type:
        """The same type in another shape."""
        return Type(self.type, list(map(int, dimensions)), self.scale, self.zeroPoint, self.extraParams)

    def GetNumberOfElements(self) -> int:
        """How many elements the dimensions span: 1 for a scalar, 0 where one of them is 0."""
        return math.prod(self.dimensions)

    def IsScalar(self) -> bool:
        """True for a type that is not a tensor's."""
        return not self.type.startswith("TENSOR_")

    def IsFloat(self) -> bool:
        """True for elements of float16 and float32."""
        return ELEMENTS[self.type].startswith("float")
