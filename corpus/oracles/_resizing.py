"""What RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR share: where an output element lies in the input.

Hazards: resize-pixel-centres and resize-width-first.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from npu_conformance.corpus.oracles._windows import Layout
from npu_conformance.corpus.oracles.base import Inputs, OracleOperand, present
from npu_conformance.specs.neuralnetworks.enums import OperandType


@dataclass(frozen=True)
class Resizing:
    """The arguments of a resize. rows, columns: of the output."""

    layout: Layout
    nchw: bool
    rows: int
    columns: int
    align_corners: bool
    half_pixel_centers: bool

    def step(self, size: int, target: int) -> Fraction:
        """Elements of the input for each element of the output, along an axis of `size` that becomes `target`."""
        if self.align_corners and target > 1:
            return Fraction(size - 1, target - 1)
        return Fraction(size, target)


def read(inputs: Inputs) -> Resizing:
    """Inputs: tensor, width, height (INT32: sizes, else factors), then up to three flags."""
    source, width, height = map(present, inputs[:3])
    flags = [bool(present(flag).scalar) for flag in inputs[3:]]
    nchw, align_corners, half_pixel_centers = flags + [False] * (3 - len(flags))
    layout = Layout(source.dimensions, nchw)
    _, rows, columns, _ = layout.sizes
    return Resizing(layout, nchw, _target(height, rows), _target(width, columns), align_corners, half_pixel_centers)


def _target(asked: OracleOperand, size: int) -> int:
    if asked.type is OperandType.INT32:
        return int(asked.scalar)
    return math.floor(size * Fraction(asked.scalar))
