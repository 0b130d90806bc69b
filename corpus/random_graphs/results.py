"""What results of an operation must be like for a graph to go on with them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy

from npu_conformance.corpus.strategies.calls import Unfit

if TYPE_CHECKING:
    from npu_conformance.corpus.random_graphs.dice import Dice
    from npu_conformance.corpus.vectors import Array, Vector

_LARGEST = {4: 1e6, 2: 1e4}
"""The largest absolute value of a float of so many bytes: an error of the last bit must not decide about infinity."""
_LARGEST_INTEGER = 1 << 24
"""The largest absolute int32, so that a sum or a product behind it does not wrap and a float holds it exactly."""
ROOM = 1 << 12
"""How many elements an operand may have where the recipe says fewer of results: weights are larger than these."""
_SCALES = (1e-5, 1e4)
"""How small and how large the scale of a result may be."""

_IGNORED = {("LSTM", 0), ("TOPK_V2", 1)}
"""Results that are not compared: scratch memory, and the places of the largest elements, of which any equal one may be
first."""
_AMBIGUOUS = {
    ("BOX_WITH_NMS_LIMIT", 0),
    ("BOX_WITH_NMS_LIMIT", 1),
    ("BOX_WITH_NMS_LIMIT", 2),
    ("BOX_WITH_NMS_LIMIT", 3),
    ("HEATMAP_MAX_KEYPOINT", 1),
    ("AXIS_ALIGNED_BBOX_TRANSFORM", 0),
}
"""Results that are not connected: of equal elements any may come first, and boxes are data of their own kind."""


def is_ignored(operation: str, position: int) -> bool:
    """True for a result that is not compared, nor read."""
    return (operation, position) in _IGNORED


def may_be_read(operation: str, position: int) -> bool:
    """True for a result that another operation may read."""
    return (operation, position) not in _AMBIGUOUS


def check_sizes(alone: Vector, most_elements: int) -> None:
    """Raises Unfit where a result has more elements, or a scale that leads nowhere, or an operand has far more."""
    for name, operand in alone.operands.items():
        if math.prod(operand.dimensions) > max(most_elements, ROOM):
            raise Unfit(f"{name} has the dimensions {list(operand.dimensions)}")
    for name in alone.outputs:
        operand = alone.operands[name]
        if math.prod(operand.dimensions) > most_elements:
            raise Unfit(f"{name} has the dimensions {list(operand.dimensions)}")
        if operand.scale and not _SCALES[0] < operand.scale < _SCALES[1]:
            raise Unfit(f"{name} has the scale {operand.scale}")


def check_values(alone: Vector, found: Mapping[str, Array], dice: Dice) -> None:
    """Raises Unfit where a result is not finite or too large; mostly also where all its elements are equal."""
    (operation,) = alone.operations
    for position, (name, values) in enumerate(found.items()):
        if is_ignored(operation.type, position) or not values.size:
            continue
        check_magnitude(name, values)
        if values.size > 1 and bool((values == values.flat[0]).all()) and dice.chance(7, 8):
            raise Unfit(f"all elements of {name} are equal")


def check_magnitude(name: str, values: Array) -> None:
    """Raises Unfit where an element is not finite or too large for operations behind it."""
    if values.dtype.kind == "f":
        largest = _LARGEST[values.dtype.itemsize]
        # Not a number is not within any limits.
        if not bool((numpy.abs(values) <= largest).all()):
            raise Unfit(f"{name} has elements beyond {largest:g}")
    elif values.dtype == numpy.int32 and bool((numpy.abs(values.astype(numpy.int64)) > _LARGEST_INTEGER).any()):
        raise Unfit(f"{name} has elements beyond {_LARGEST_INTEGER}")
