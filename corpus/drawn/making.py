"""Makes the models of a seed one after the other: each is to be what those before it were not."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy
from msgspec.structs import replace

from npu_conformance.corpus import strategies
from npu_conformance.corpus.drawn.covering import Covering, History
from npu_conformance.corpus.drawn.hardware import HardwareCall
from npu_conformance.corpus.random_graphs import results
from npu_conformance.corpus.random_graphs.dice import Dice
from npu_conformance.corpus.strategies.calls import Form, Unfit
from npu_conformance.corpus.vector_types import Example, Vector

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array
    from npu_conformance.specs.versions import Version

_MODELS = 18
_OTHERS: Mapping[str, int] = {
    **dict.fromkeys((
        "ABS", "CAST", "DEQUANTIZE", "ELU", "EXP", "FLOOR", "HARD_SWISH", "LOG", "LOGICAL_NOT", "LOGISTIC", "NEG",
        "QUANTIZE", "RANK", "RELU", "RELU1", "RELU6", "RSQRT", "SIN", "SQRT", "TANH", "FILL", "IF", "WHILE",
        "EXPAND_DIMS", "RESHAPE", "SQUEEZE", "LOGICAL_AND", "LOGICAL_OR", "SELECT", "LSH_PROJECTION",
    ), 12),
    **dict.fromkeys((
        "LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_LSTM", "QUANTIZED_LSTM", "ROI_ALIGN",
        "QUANTIZED_16BIT_LSTM", "RNN", "UNIDIRECTIONAL_SEQUENCE_RNN", "BIDIRECTIONAL_SEQUENCE_RNN", "ROI_POOLING",
        "AXIS_ALIGNED_BBOX_TRANSFORM", "HEATMAP_MAX_KEYPOINT", "INSTANCE_NORMALIZATION",
    ), 8),
    **dict.fromkeys((
        "ADD", "MUL", "AVERAGE_POOL_2D", "MAX_POOL_2D", "FULLY_CONNECTED", "RESIZE_NEAREST_NEIGHBOR",
        "GROUPED_CONV_2D", "TRANSPOSE_CONV_2D", "CONCATENATION", "PAD", "STRIDED_SLICE",
    ), 26),
    "DEPTHWISE_CONV_2D": 40, "CONV_2D": 48, "TRANSPOSE": 104,
}  # fmt: skip
"""How many models a seed has: more where there is more to choose by, fewer where there is less or each takes time."""
_ATTEMPTS = 8
"""How often a model is tried again that is not legal, too large or says nothing."""
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
"""A result with a larger share of codes at the ends of their type says too little."""


def models(operation: str, seed: int, version: Version) -> Iterator[Vector]:
    """See `drawn.models`."""
    forms, history = strategies.forms(version, operation), History()
    for number in range(_OTHERS.get(operation, _MODELS) if forms else 0):
        vector = _model(forms, version, history, f"{operation} {seed} {number}")
        if vector is not None:
            yield replace(vector, name=f"seed_{seed}_model_{number}")


def _model(forms: list[Form], version: Version, history: History, seed: str) -> Vector | None:
    for attempt in range(_ATTEMPTS):
        dice = Dice(f"{seed} {attempt}")
        covering = Covering(history, dice)
        try:
            return _attempt(forms, version, covering, dice)
        except Unfit:
            continue
        finally:
            # What leads to nothing counts too: it would be proposed for ever.
            history.add(covering.taken)
    return None


def _attempt(forms: list[Form], version: Version, covering: Covering, dice: Dice) -> Vector:
    form = covering.pick(forms)
    count = strategies.input_count(form, version, covering)
    widest = _WIDEST_CELL if _is_cell(form.operation) else _WIDEST
    sizes = _SIZES.get(form.operation, 3)
    call = HardwareCall(form, version, covering, dice, count, covering=covering, widest=widest, sizes=sizes)
    vector = strategies.assembled(call, strategies.recipes()[form.operation](call))
    _check_work(vector)
    found = strategies.expected(vector)
    _check_values(vector, found)
    ignored = [name for position, name in enumerate(found) if results.is_ignored(form.operation, position)]
    example = Example(vector.examples[0].inputs, found)
    return replace(vector, examples=(example,), witnesses=("oracle",), ignored=tuple(ignored))


def _is_cell(operation: str) -> bool:
    return operation.endswith(("LSTM", "RNN"))


def _check_work(vector: Vector) -> None:
    """Raises Unfit where a model is too large."""
    results.check_sizes(vector, _MOST_ELEMENTS)
    operands, compared = vector.operands, vector.outputs[vector.operation == "LSTM" :]
    result = max(math.prod(operands[name].dimensions) for name in compared)
    weights = [operands[name].dimensions for name in _LONG if name in operands]
    rows = 3 if vector.operation == "DEPTHWISE_CONV_2D" else 0
    terms = max((math.prod(shape) // max(shape[rows], 1) for shape in weights), default=1)
    for name in ("filter_height", "filter_width"):
        value = operands[name].value if name in operands else None
        terms *= int(value) if value is not None else 1
    slowness = _CELL if _is_cell(vector.operation) else _SLOW.get(vector.operation, 1)
    if result * terms * slowness > _MOST_WORK:
        raise Unfit(f"{result} elements of {terms} terms")


def _may_differ(operation: str, values: Array) -> bool:
    """False for truth values, which say something also where all are alike, and where the operation has one value."""
    return values.dtype != numpy.bool_ and operation != "FILL"


def _check_values(vector: Vector, found: Mapping[str, Array]) -> None:
    """Raises Unfit where results are not finite, too large, all alike, or mostly at the ends of their type."""
    (operation,) = vector.operations
    for position, (name, values) in enumerate(found.items()):
        if results.is_ignored(operation.type, position) or not values.size:
            continue
        results.check_magnitude(name, values)
        if values.size > 1 and _may_differ(operation.type, values) and bool((values == values.flat[0]).all()):
            raise Unfit(f"all elements of {name} are equal")
        if values.dtype.kind in "iu" and values.itemsize == 1:
            limits = numpy.iinfo(values.dtype)
            if float(((values == limits.min) | (values == limits.max)).mean()) > _SATURATED:
                raise Unfit(f"{name} is saturated")
