"""What operations on boxes [x1, y1, x2, y2] share: shapes, quantisation, coordinates, and the batches of boxes."""

import itertools
import math
from collections.abc import Mapping

from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Basis, Clause, ShapeRule, Shapes, clause
from npu_conformance.specs.neuralnetworks.rules.common import window
from npu_conformance.specs.neuralnetworks.rules.common.filters import size_of
from npu_conformance.specs.neuralnetworks.rules.common.quantization import is_quantized
from npu_conformance.specs.neuralnetworks.types import Operand

SCALE = 0.125
"""The scale of quantised coordinates: eighths of a pixel."""

_ROUNDING = 1 + 2.0**-10
"""By how much the quotient of a coordinate on the edge and its ratio may exceed the size: what float16 rounds away."""

ONLY_ROWS = "Only the first dimension of an input may be 0."


def sizes(number: str, **patterns: str) -> Clause:
    """The clause that inputs have these shapes, as in `boxes="n, 4*c"`: a letter is one size everywhere."""
    text = "Shapes agree: " + "; ".join(f"{name} is [{pattern}]" for name, pattern in patterns.items()) + "."

    return clause(number, "execution", text, lambda view: mismatch(view, patterns))


def mismatch(view: OperationView, patterns: Mapping[str, str]) -> str | None:
    """What is wrong with the first input whose shape is not as written."""
    return _solve(view, patterns)[1]


def output_shapes(inputs: Mapping[str, str], *outputs: str) -> ShapeRule:
    """The shape rule of outputs that are written like inputs; a letter that no input has is known after execution."""

    def shapes(view: OperationView) -> Shapes:
        found, _ = _solve(view, inputs)
        return [tuple(_size(term, found) for term in pattern.split(", ")) for pattern in outputs]

    return shapes


def only_rows_empty(number: str, *names: str) -> Clause:
    """The clause that there may be no boxes, but no boxes without classes. names: inputs of rank 2."""

    def check(view: OperationView) -> str | None:
        return next((f"{name} has dimensions [.., 0]" for name in names if size_of(view, name, 1) == 0), None)

    return clause(number, "execution", ONLY_ROWS, check, basis="reference")


def quantization(
    number: str, *names: str, outputs: tuple[int, ...] = (), signed: bool | None = None, basis: Basis = "both"
) -> Clause:
    """The clause about the scale of quantised boxes. names: inputs, outputs: positions of outputs that are boxes.

    signed: whether it is about boxes beside signed or unsigned scores only.
    """
    beside = "" if signed is None else f", beside {'signed' if signed else 'unsigned'} scores"

    def check(view: OperationView) -> str | None:
        if signed is not None and signed != (view.operand("scores").type == OperandType.TENSOR_QUANT8_ASYMM_SIGNED):
            return None
        given = [(name, view.operand(name)) for name in names]
        given += [(f"output {position}", view.outputs[position]) for position in outputs]
        return next((f"{name} {found}" for name, operand in given if (found := _wrong_quantization(operand))), None)

    return clause(number, "model", f"Quantised boxes{beside} have scale 1/8 and zero point 0.", check, basis)


def batches(number: str, name: str) -> Clause:
    """The clause that each batch index names a batch. name: the input whose dimension 0 counts them."""
    text = f"Each batch index is at least 0 and less than dimension 0 of {name}."

    def check(view: OperationView) -> str | None:
        count, indices = size_of(view, name, 0), view.integers("batch_indices") or ()
        wrong = [index for index in indices if index < 0 or (count is not None and index >= count)]
        return f"batch index {wrong[0]} with {count} batches" if wrong else None

    return clause(number, "execution", text, check)


def positive(number: str, *names: str, where: tuple[str, bool] | None = None) -> Clause:
    """The clause that scalars are greater than 0. where: a flag, and the value that it must have for the clause."""
    text = f"{', '.join(names).capitalize()}: each is greater than 0"
    text += f", where {where[0]} is {str(where[1]).lower()}." if where else "."

    def check(view: OperationView) -> str | None:
        if where and view.integer(where[0]) != where[1]:
            return None
        values = ((name, view.real(name)) for name in names)
        return next((f"{name} {value}" for name, value in values if value is not None and not value > 0), None)

    return clause(number, "execution", text, check)


def product(view: OperationView, *names: str) -> int | None:
    """The product of integer scalars; None where one is unknown, or not greater than 0."""
    values = [view.integer(name) or 0 for name in names]
    return math.prod(values) if min(values) > 0 else None


def not_negative(number: str, *names: str) -> Clause:
    """The clause that scalars are 0 or greater."""
    text = f"{', '.join(names).capitalize()}: each is 0 or greater."

    def check(view: OperationView) -> str | None:
        values = ((name, view.real(name)) for name in names)
        return next((f"{name} {value}" for name, value in values if value is not None and not value >= 0), None)

    return clause(number, "execution", text, check)


def ordered(number: str, name: str) -> Clause:
    """The clause that no box ends before it begins."""
    text = f"Each box of {name} has x1 <= x2 and y1 <= y2."

    def check(view: OperationView) -> str | None:
        for x1, y1, x2, y2 in coordinates(view, name):
            if not (x1 <= x2 and y1 <= y2):
                return f"{name}: the box {[x1, y1, x2, y2]} ends before it begins"
        return None

    return clause(number, "execution", text, check, "reference")


def ordered_by_batch(number: str) -> Clause:
    """The clause about boxes of classes: Android's CPU looks at as many boxes of each batch as it has rois."""
    text = "In each run of one batch index, of n rois, the first n boxes have x1 <= x2 and y1 <= y2."

    def check(view: OperationView) -> str | None:
        given, indices, classes = coordinates(view, "rois"), view.integers("batch_indices"), size_of(view, "scores", 1)
        if indices is None or classes is None or len(given) != len(indices) * classes:
            return None
        runs = [len(list(run)) for _, run in itertools.groupby(indices)]
        for first, length in zip(itertools.accumulate(runs, initial=0), runs, strict=False):
            for x1, y1, x2, y2 in given[first * classes : first * classes + length]:
                if not (x1 <= x2 and y1 <= y2):
                    return f"rois: the box {[x1, y1, x2, y2]} ends before it begins"
        return None

    return clause(number, "execution", text, check, "reference")


def least(number: str, name: str, size: int, what: str) -> Clause:
    """The clause that the last dimension of an input, which counts something, is large enough."""

    def check(view: OperationView) -> str | None:
        dimensions = view.dimensions(name)
        if not dimensions or dimensions[-1] is None or dimensions[-1] >= size:
            return None
        return f"{name} has dimensions {list(dimensions)}, expected at least {size} {what}"

    return clause(number, "execution", f"{name.capitalize()} are of at least {size} {what}.", check)


def same_scores(number: str) -> Clause:
    """The clause that the first output keeps the quantisation of the scores."""
    text = "Quantised scores of the output have the scale and zero point of the input."
    return clause(number, "model", text, _check_scores)


def inside(number: str) -> Clause:
    """The clause that regions, divided by the ratios, lie in the feature map; its far edges belong to it."""
    text = "No coordinate of a roi is negative, or beyond the size of the input times the ratio."
    return clause(number, "execution", text, _check_inside, "reference")


def coordinates(view: OperationView, name: str) -> list[tuple[float, float, float, float]]:
    """The boxes of an input in pixels, whatever its columns; empty where they are unknown or no whole boxes."""
    value = view.value(name)
    if value is None or value.size % 4:
        return []
    scale = SCALE if is_quantized(view.operand(name)) else 1.0
    return [(x1 * scale, y1 * scale, x2 * scale, y2 * scale) for x1, y1, x2, y2 in value.reshape(-1, 4).tolist()]


def _wrong_quantization(operand: Operand) -> str:
    if not is_quantized(operand) or (operand.scale == SCALE and operand.zero_point == 0):
        return ""
    return f"has scale {operand.scale} and zero point {operand.zero_point}, expected 1/8 and 0"


def _solve(view: OperationView, patterns: Mapping[str, str]) -> tuple[dict[str, int], str | None]:
    """What the letters stand for, and what is wrong with the first input that does not fit."""
    found: dict[str, int] = {}
    for name, pattern in patterns.items():
        dimensions, terms = view.dimensions(name), pattern.split(", ")
        if dimensions is None or len(dimensions) != len(terms):
            continue
        for size, term in zip(dimensions, terms, strict=True):
            if size is not None and not _fits(size, term, found):
                return found, f"{name} has dimensions {list(dimensions)}, expected [{pattern}] with {found}"
    return found, None


def _fits(size: int, term: str, found: dict[str, int]) -> bool:
    """True where a size is the number of a term, or factor times the size that its letter stands for."""
    factor, _, letter = term.rpartition("*")
    if letter.isdigit():
        return size == int(letter)
    whole, rest = divmod(size, int(factor or 1))
    return rest == 0 and found.setdefault(letter, whole) == whole


def _size(term: str, found: Mapping[str, int]) -> int | None:
    factor, _, letter = term.rpartition("*")
    if letter.isdigit():
        return int(letter)
    return int(factor or 1) * found[letter] if letter in found else None


def _check_scores(view: OperationView) -> str | None:
    given, output = view.operand("scores"), view.outputs[0]
    if not is_quantized(given) or (output.scale, output.zero_point) == (given.scale, given.zero_point):
        return None
    found = f"scale {output.scale} and zero point {output.zero_point}"
    return f"output 0 has {found}, the scores {given.scale} and {given.zero_point}"


def _check_inside(view: OperationView) -> str | None:
    given, ratios = window.image(view), (view.real("width_ratio"), view.real("height_ratio"))
    limits = [
        math.inf if size is None or ratio is None or not ratio > 0 else size * ratio * _ROUNDING
        for size, ratio in zip((given.width, given.height), ratios, strict=True)
    ]
    for box in coordinates(view, "rois"):
        if not all(0 <= value <= limits[position % 2] for position, value in enumerate(box)):
            return f"the roi {list(box)} does not lie in the input"
    return None
