"""Rules of TRANSPOSE_CONV_2D: filter [output channels, height, width, input channels] in either layout."""

from npu_conformance.specs.neuralnetworks.enums import PaddingScheme
from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import filters, general, quantization, window

_RANK = 4


def _output_shapes(view: OperationView) -> Shapes:
    height, width = view.once(_output_size)
    return (window.sized_image(view, height, width, filters.size_of(view, "filter", 0)),)


def _output_size(view: OperationView) -> tuple[int | None, int | None]:
    """Height and width of the output, None where unknown."""
    height, width = window.filter_axes(view)
    wanted = view.integers("output_shape")
    if wanted is None or len(wanted) != _RANK:
        return _size(height, None), _size(width, None)
    rows, columns = wanted[2:] if view.integer("nchw_layout") else wanted[1:3]
    return _size(height, rows), _size(width, columns)


def _size(axis: window.Axis, wanted: int | None) -> int | None:
    """wanted: what the output shape tensor has, None where it is unknown; it only chooses the padding of SAME."""
    if axis.size is None or axis.stride is None or axis.window is None or axis.stride < 1:
        return None
    padding = _padding(axis, axis.stride, axis.window, wanted)
    return None if padding is None else (axis.size - 1) * axis.stride + axis.window - padding


def _padding(axis: window.Axis, stride: int, extent: int, wanted: int | None) -> int | None:
    """What is cut off both ends together; negative where something is added."""
    if axis.is_explicit:
        return None if axis.head is None or axis.tail is None else axis.head + axis.tail
    if axis.scheme != PaddingScheme.SAME:
        return None if axis.scheme is None else 0
    return None if wanted is None else (-(-wanted // stride) - 1) * stride + extent - wanted


def _shape_length(view: OperationView) -> str | None:
    shape = view.dimensions("output_shape")
    return None if shape in (None, (None,), (_RANK,)) else f"the output shape has dimensions {shape}"


def _positive(view: OperationView) -> str | None:
    sizes = view.once(_output_size)
    if any(size is not None and size < 1 for size in sizes):
        return f"height and width of the output are {sizes[0]} and {sizes[1]}"
    return None


RULES = rules(
    "TRANSPOSE_CONV_2D",
    _output_shapes,
    general.ranks("C1"),
    filters.input_channels("C2", "The filter has as many input channels as the input."),
    filters.bias_length("C3", "filter", 0),
    window.positive_steps("C4"),
    window.head_paddings("C5"),
    clause("C6", "execution", "The output shape has four elements.", _shape_length, "text"),
    clause("C7", "execution", "Height and width of the output are greater than 0.", _positive),
    general.activation("C8"),
    window.image_sizes("C9"),
    general.empty("C10"),
    quantization.bias_scale("C11", "filter"),
    quantization.channel_dimension("C12", 0),
    general.declared_outputs("C13", _output_shapes),
)
