"""What RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR share: sizes of the output, given or by factors, and the flags."""

import math

from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Clause, Rules, Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, quantization, window

_LARGEST = 2**31 - 1


def resize_rules(name: str) -> Rules:
    """The rules of one of the two: they have the same."""
    return rules(
        name,
        _output_shapes,
        general.ranks("C1"),
        _positive_sizes("C2"),
        clause("C3", "execution", "Corners are not aligned while pixels have half-pixel centers.", _check_flags),
        window.image_sizes("C4"),
        general.empty("C5"),
        general.declared_outputs("C6", _output_shapes),
        quantization.same_as_input("C7"),
    )


def _output_shapes(view: OperationView) -> Shapes:
    given = window.image(view)
    height, width = _size(view, "height", given.height), _size(view, "width", given.width)
    if not all(size is None or 0 < size <= _LARGEST for size in (height, width)):
        return (None,)
    return (window.arrange(view, window.Image(given.batch, _whole(height), _whole(width), given.channels)),)


def _size(view: OperationView, name: str, size: int | None) -> float | None:
    """The size of the output along an axis; a factor that is not positive stays itself, a huge one gives infinity."""
    if view.operand(name).type == OperandType.INT32:
        return view.integer(name)
    factor = view.real(name)
    if factor is None or not factor > 0:
        return factor
    return None if size is None else _floor(size * factor)


def _floor(product: float) -> float:
    """Rounded down, after the product was rounded to float32 as devices do."""
    if not product <= _LARGEST:
        return math.inf
    return math.floor(quantization.as_float32(product))


def _whole(size: float | None) -> int | None:
    return None if size is None else int(size)


def _positive_sizes(number: str) -> Clause:
    text = "Width and height of the output are greater than 0, and the factors where they are given by such."
    return clause(number, "execution", text, _check_sizes)


def _check_sizes(view: OperationView) -> str | None:
    given = window.image(view)
    for name, size in (("height", given.height), ("width", given.width)):
        result = _size(view, name, size)
        if size != 0 and result is not None and not 0 < result <= _LARGEST:
            return f"{name} {result} of the output is not in 1..{_LARGEST}"
    return None


def _check_flags(view: OperationView) -> str | None:
    if view.integer("align_corners") and view.integer("half_pixel_centers"):
        return "align_corners and half_pixel_centers are both true"
    return None
