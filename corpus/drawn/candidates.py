"""The candidates of an operation: one for each number, from which `choosing` takes those that are run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy
from msgspec.structs import replace

from npu_conformance.corpus import strategies
from npu_conformance.corpus.drawn.hardware import HardwareCall
from npu_conformance.corpus.random_graphs import results
from npu_conformance.corpus.random_graphs.dice import Dice
from npu_conformance.corpus.strategies.calls import Form, Item, Unfit
from npu_conformance.corpus.vector_types import Example, Vector
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array
    from npu_conformance.specs.versions import Version

BLOCKS = 1_000_000
"""From this number on, candidates have a second size of blocks."""
_MOST_WORK = 12_000
"""Elements of the result, times what each of them is the sum of."""
_SLOW = {"ROI_ALIGN": 10, "ROI_POOLING": 10, "LSH_PROJECTION": 2, "INSTANCE_NORMALIZATION": 3}
"""How many times as long as others the oracles of some operations take for an element; of cells see `_CELL`."""
_CELL = 3
_MOST_ELEMENTS = 2048
_WIDEST, _WIDEST_CELL = 129, 33
_SIZES = {"ROI_ALIGN": 4, "ROI_POOLING": 4, "BATCH_MATMUL": 5}
"""How many sizes recipes ask for, where these are more than 3: the last one is that of channels or columns."""
_LONG = (
    "weights", "filter", "recurrent_weights", "fw_recurrent_weights", "recurrent_to_forget", "fw_recurrent_to_forget",
    "recurrent_to_forget_weights", "feature_weights",
)  # fmt: skip
"""Weights, each row of which makes an element."""
_SATURATED = 0.8
"""A result with a larger share of elements at the ends of its type or of its activation says too little."""
_LIMITS: Mapping[int, tuple[float, float]] = {1: (0.0, math.inf), 2: (-1.0, 1.0), 3: (0.0, 6.0)}
"""Where an activation ends."""
_FEW_VALUES, _INSIDE = 8, 2
"""A decision of more values, such as the number of a row, is one of both ends, or one of so many inside."""


class _EdgeDice(Dice):
    """Dice that prefer the ends of a long range."""

    def below(self, limit: int) -> int:
        if limit <= _FEW_VALUES:
            return super().below(limit)
        values = (0, limit - 1, *(super(_EdgeDice, self).below(limit) for _ in range(_INSIDE)))
        return values[super().below(len(values))]

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items, all equally likely."""
        return items[super().below(len(items))]


def candidate(operation: str, number: int, version: Version) -> Vector:
    """The model of a number, with inputs and no results. Raises Unfit where it would be illegal or too large."""
    return numbered(strategies.forms(version, operation), operation, number, version)


def numbered(forms: Sequence[Form], operation: str, number: int, version: Version) -> Vector:
    """The same where the forms of the version are at hand."""
    return candidate_of(forms, f"{operation} {number}", version, blocks=number >= BLOCKS)


def candidate_of(forms: Sequence[Form], seed: str, version: Version, *, blocks: bool = False) -> Vector:
    """The same of any text. blocks: a second size is one of blocks, and batches are wide."""
    decisions = _EdgeDice(seed)
    form = decisions.pick(forms)
    count = strategies.input_count(form, version, decisions)
    widest = _WIDEST_CELL if _is_cell(form.operation) else _WIDEST
    sizes = _SIZES.get(form.operation, 3)
    call = HardwareCall(
        form, version, decisions, Dice(f"{seed} elements"), count, widest=widest, sizes=sizes, blocks=blocks
    )
    vector = strategies.assembled(call, strategies.recipes()[form.operation](call))
    results.check_sizes(vector, _MOST_ELEMENTS)
    if work(vector) > _MOST_WORK:
        raise Unfit(f"more work than {_MOST_WORK}")
    return vector


def with_results(vector: Vector) -> Vector:
    """The model with what it has to compute. Raises Unfit where that says too little."""
    (operation,) = vector.operations
    found = strategies.expected(vector)
    _check_values(vector, found)
    ignored = [name for position, name in enumerate(found) if results.is_ignored(operation.type, position)]
    example = Example(vector.examples[0].inputs, found)
    return replace(vector, examples=(example,), witnesses=("oracle",), ignored=tuple(ignored))


def work(vector: Vector) -> int:
    """About how much an oracle has to do: elements times terms."""
    operands, compared = vector.operands, vector.outputs[vector.operation == "LSTM" :]
    result = max(math.prod(operands[name].dimensions) for name in compared)
    weights = [operands[name].dimensions for name in _LONG if name in operands]
    rows = 3 if vector.operation == "DEPTHWISE_CONV_2D" else 0
    terms = max((math.prod(shape) // max(shape[rows], 1) for shape in weights), default=1)
    for name in ("filter_height", "filter_width"):
        value = operands[name].value if name in operands else None
        terms *= int(value) if value is not None else 1
    slowness = _CELL if _is_cell(vector.operation) else _SLOW.get(vector.operation, 1)
    return result * terms * slowness


def _is_cell(operation: str) -> bool:
    return operation.endswith(("LSTM", "RNN"))


def _may_differ(operation: str, values: Array) -> bool:
    """False for truth values, which say something also where all are alike, and where the operation has one value."""
    return values.dtype != numpy.bool_ and operation != "FILL"


def _check_values(vector: Vector, found: Mapping[str, Array]) -> None:
    """Raises Unfit where results are not finite, too large, all alike, or mostly at the ends of what they may be."""
    (operation,) = vector.operations
    for position, (name, values) in enumerate(found.items()):
        if results.is_ignored(operation.type, position) or not values.size:
            continue
        results.check_magnitude(name, values)
        if values.size > 1 and _may_differ(operation.type, values) and bool((values == values.flat[0]).all()):
            raise Unfit(f"all elements of {name} are equal")
        low, high = _ends(vector, name, values)
        if float(((values <= low) | (values >= high)).mean()) > _SATURATED:
            raise Unfit(f"{name} is saturated")


def _ends(vector: Vector, name: str, values: Array) -> tuple[float, float]:
    """Between which values a result can say something: those of 8 bits, and of the activation."""
    operand = vector.operands[name]
    is_byte = values.dtype.kind in "iu" and values.itemsize == 1 and operand.scale > 0
    info = numpy.iinfo(values.dtype) if is_byte else None
    low, high = (float(info.min), float(info.max)) if info else (-math.inf, math.inf)
    activation = vector.operands.get("activation")
    limits = _LIMITS.get(int(activation.value)) if activation is not None and activation.value is not None else None
    if limits is None or (values.dtype.kind != "f" and not OPERAND_TYPES[operand.type].is_quantized):
        return low, high
    scale, zero = (operand.scale, operand.zero_point) if operand.scale else (1.0, 0)
    return max(low, zero + limits[0] / scale), min(high, zero + limits[1] / scale)
