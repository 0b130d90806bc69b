"""Convolutions and poolings: layout, paddings, output sizes, and the clauses they share."""

from collections.abc import Sequence
from dataclasses import dataclass

from npu_conformance.specs.neuralnetworks.enums import PaddingScheme
from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Clause, Shape, clause

_RANK = 4


@dataclass(frozen=True)
class Image:
    """Sizes of an image whatever its layout; None where unknown."""

    batch: int | None
    height: int | None
    width: int | None
    channels: int | None


@dataclass(frozen=True)
class Axis:
    """The window along height or width. head and tail are explicit paddings; scheme is an implicit one or None."""

    name: str
    size: int | None
    window: int | None
    stride: int | None
    dilation: int | None
    head: int | None = 0
    tail: int | None = 0
    scheme: int | None = None
    is_explicit: bool = False

    @property
    def effective_window(self) -> int | None:
        """Elements that the dilated window spans."""
        if self.window is None or self.dilation is None:
            return None
        return (self.window - 1) * self.dilation + 1

    @property
    def output_size(self) -> int | None:
        """Size of the output along this axis, None where unknown; negative where the window does not fit."""
        size, window, stride = self.size, self.effective_window, self.stride
        if size is None or window is None or stride is None or stride <= 0:
            return None
        if self.is_explicit:
            return (
                None if self.head is None or self.tail is None else _fit(size + self.head + self.tail, window, stride)
            )
        if self.scheme is None:
            return None
        return -(-size // stride) if self.scheme == PaddingScheme.SAME else _fit(size, window, stride)


def _fit(size: int, window: int, stride: int) -> int:
    return (size - window + stride) // stride


def image(view: OperationView) -> Image:
    """Sizes of input 0 by its layout."""
    return view.once(_image)


def _image(view: OperationView) -> Image:
    dimensions, nchw = view.dimensions(0), view.integer("nchw_layout")
    if dimensions is None or len(dimensions) != _RANK or nchw is None:
        return Image(None, None, None, None)
    batch, *rest = dimensions
    height, width, channels = (rest[1], rest[2], rest[0]) if nchw else rest
    return Image(batch, height, width, channels)


def arrange(view: OperationView, result: Image) -> Shape:
    """Shape of an image in the layout of the operation; sizes unknown where the layout is."""
    nchw = view.integer("nchw_layout")
    if nchw is None:
        return (result.batch, None, None, None)
    if nchw:
        return (result.batch, result.channels, result.height, result.width)
    return (result.batch, result.height, result.width, result.channels)


def axes(view: OperationView, window_height: int | None, window_width: int | None) -> tuple[Axis, Axis]:
    """The height and the width axis of a convolution or pooling, given the sizes of its window."""
    given = image(view)
    return (
        _axis(view, "height", given.height, window_height, "pad_top", "pad_bottom"),
        _axis(view, "width", given.width, window_width, "pad_left", "pad_right"),
    )


def _axis(view: OperationView, name: str, size: int | None, window: int | None, head: str, tail: str) -> Axis:
    dilation = view.integer(f"dilation_{name}") if view.knows(f"dilation_{name}") else 1
    stride = view.integer(f"stride_{name}")
    if view.variant == "explicit":
        pads = view.integer(head), view.integer(tail)
        return Axis(name, size, window, stride, dilation, pads[0], pads[1], is_explicit=True)
    return Axis(name, size, window, stride, dilation, scheme=view.integer("padding_scheme"))


def filter_axes(view: OperationView) -> tuple[Axis, Axis]:
    """The axes of a convolution, whose window is dimensions 1 and 2 of its filter."""
    dimensions = view.dimensions("filter")
    if dimensions is None or len(dimensions) != _RANK:
        return axes(view, None, None)
    return axes(view, dimensions[1], dimensions[2])


def pool_axes(view: OperationView) -> tuple[Axis, Axis]:
    """The axes of a pooling, whose window is given by two scalars."""
    return axes(view, view.integer("filter_height"), view.integer("filter_width"))


def window_axes(view: OperationView) -> tuple[Axis, Axis]:
    """The axes of either kind."""
    return view.once(_window_axes)


def _window_axes(view: OperationView) -> tuple[Axis, Axis]:
    return pool_axes(view) if view.signature is not None and view.has("filter_height") else filter_axes(view)


def output_image(view: OperationView, channels: int | None) -> Shape:
    """Shape of the output, given its channels; None where the window does not fit."""
    height, width = window_axes(view)
    return sized_image(view, height.output_size, width.output_size, channels)


def sized_image(view: OperationView, height: int | None, width: int | None, channels: int | None) -> Shape:
    """Shape of an output with the batch of the input; None where a size is negative."""
    if any(size is not None and size < 0 for size in (height, width)):
        return None
    return arrange(view, Image(image(view).batch, height, width, channels))


def positive_steps(number: str) -> Clause:
    """The clause that strides, dilations and window sizes are positive."""
    text = "Strides, dilations and sizes of the window are greater than 0."
    return clause(number, "execution", text, _check_steps)


def explicit_paddings(number: str) -> Clause:
    """The clause that paddings are not negative."""
    return clause(number, "execution", "Explicit paddings are not negative.", _check_paddings)


def head_paddings(number: str) -> Clause:
    """The clause that the first padding of each axis is not negative; the other may be."""
    text = "Explicit paddings on the left and at the top are not negative."
    return clause(number, "execution", text, _check_head_paddings)


def small_paddings(number: str) -> Clause:
    """The clause that a padding is smaller than the window."""
    text = "Each explicit padding is smaller than the dilated window."
    return clause(number, "execution", text, _check_small_paddings, "reference")


def fitting_window(number: str) -> Clause:
    """The clause that there is a position for the window."""
    text = "The dilated window fits into the padded input."
    return clause(number, "execution", text, _check_fit, "text")


def image_sizes(number: str) -> Clause:
    """The clause about images without elements."""
    text = "Height, width and channels of the input are not 0."
    return clause(number, "execution", text, _check_image)


def _check_steps(view: OperationView) -> str | None:
    for one in window_axes(view):
        for what, value in (("stride", one.stride), ("dilation", one.dilation), ("window", one.window)):
            if value is not None and value <= 0:
                return f"{what} {value} along the {one.name} must be greater than 0"
    return None


def _check_paddings(view: OperationView) -> str | None:
    axes = window_axes(view)
    return _negative(axes, [one.head for one in axes]) or _negative(axes, [one.tail for one in axes])


def _check_head_paddings(view: OperationView) -> str | None:
    axes = window_axes(view)
    return _negative(axes, [one.head for one in axes])


def _negative(axes: Sequence[Axis], paddings: Sequence[int | None]) -> str | None:
    for one, value in zip(axes, paddings, strict=True):
        if value is not None and value < 0:
            return f"padding {value} along the {one.name} must not be negative"
    return None


def _check_small_paddings(view: OperationView) -> str | None:
    for one in window_axes(view):
        window = one.effective_window
        for value in (one.head, one.tail):
            if one.is_explicit and value is not None and window is not None and value >= window > 0:
                return f"padding {value} along the {one.name} must be smaller than the window of {window}"
    return None


def _check_fit(view: OperationView) -> str | None:
    for one in window_axes(view):
        size = one.output_size
        if size is not None and size <= 0 and one.size != 0:
            return f"the window of {one.effective_window} does not fit into the padded {one.name} {one.size}"
    return None


def _check_image(view: OperationView) -> str | None:
    given = image(view)
    for what, size in (("height", given.height), ("width", given.width), ("channels", given.channels)):
        if size == 0:
            return f"the input has {what} 0"
    return None
