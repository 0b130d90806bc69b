"""What the generators of convolutions and pools share: scalar arguments, output sizes and operand types."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from npu_conformance.corpus.generators.operands import Operands, boolean, int32, int32s

NONE, RELU, RELU1, RELU6 = range(4)
ACTIVATIONS = {"none": NONE, "relu": RELU, "relu1": RELU1, "relu6": RELU6}

Pair = tuple[int, int]
"""Height first, then width."""
Pads = tuple[int, int, int, int]
"""Left, right, top, bottom: the order of the arguments."""


@dataclass(frozen=True)
class Window:
    """Geometry of a vector. padding: the scheme SAME or VALID by name, or explicit pads. nchw None: not in the list."""

    padding: str | Pads = "valid"
    stride: Pair = (1, 1)
    dilation: Pair | None = None
    nchw: bool | None = None
    activation: int = NONE

    @property
    def since(self) -> str:
        """The version that brought the last of the arguments used."""
        return "1.0" if self.nchw is None else "1.2"

    def arguments(self, middle: Mapping[str, int]) -> Operands:
        """The scalar inputs in order; `middle` stands between the strides and the activation."""
        if isinstance(self.padding, str):
            scalars = {"padding_scheme": {"same": 1, "valid": 2}[self.padding]}
        else:
            names = ("pad_left", "pad_right", "pad_top", "pad_bottom")
            scalars = dict(zip(names, self.padding, strict=True))
        scalars |= {"stride_width": self.stride[1], "stride_height": self.stride[0], **middle}
        inputs = {name: int32(value) for name, value in {**scalars, "activation": self.activation}.items()}
        if self.nchw is not None:
            inputs["nchw_layout"] = boolean(self.nchw)
        if self.dilation is not None:
            inputs["dilation_width"], inputs["dilation_height"] = map(int32, reversed(self.dilation))
        return inputs

    def output_size(self, sizes: Sequence[int], windows: Sequence[int]) -> Pair:
        """Height and width of the output by the size formula of the operations' definition."""
        height, width = (self._output(axis, sizes[axis], windows[axis]) for axis in (0, 1))
        return height, width

    def shape(self, batches: int, size: Sequence[int], channels: int) -> tuple[int, ...]:
        """Dimensions of an activation tensor in this layout."""
        return (batches, channels, *size) if self.nchw else (batches, *size, channels)

    def _output(self, axis: int, size: int, window: int) -> int:
        stride = self.stride[axis]
        if self.padding == "same":
            return (size + stride - 1) // stride
        extent = (window - 1) * (self.dilation[axis] if self.dilation else 1) + 1
        head, tail = (0, 0) if isinstance(self.padding, str) else self.padding[2:] if axis == 0 else self.padding[:2]
        return (size - extent + stride + head + tail) // stride


@dataclass(frozen=True)
class TransposedWindow(Window):
    """That of TRANSPOSE_CONV_2D. wanted: the output's shape in its layout, which a scheme needs to choose padding."""

    wanted: tuple[int, ...] = ()

    def arguments(self, middle: Mapping[str, int]) -> Operands:
        """The inputs behind the bias, in order."""
        shape = {"output_shape": int32s(*self.wanted)} if isinstance(self.padding, str) else {}
        return {**shape, **super().arguments(middle)}

    def _output(self, axis: int, size: int, window: int) -> int:
        if self.padding == "same":
            return transposed_size((size, size), self.stride)[axis]
        head, tail = (0, 0) if isinstance(self.padding, str) else self.padding[2:] if axis == 0 else self.padding[:2]
        return (size - 1) * self.stride[axis] + window - head - tail


def transposed_size(sizes: Pair, strides: Pair) -> Pair:
    """Height and width of the output of scheme SAME: a forward convolution of them gives the sizes of the input."""
    return sizes[0] * strides[0], sizes[1] * strides[1]


PADDINGS = ("same", "valid", "heads", "tails", "uneven")
"""Schemes, and explicit pads: only before, only after, and different everywhere."""


def pads(padding: str, windows: Sequence[int]) -> str | Pads:
    """The argument of Window for one of PADDINGS: as large as the window (height, width) allows."""
    height, width = windows[0] - 1, windows[1] - 1
    explicit = {
        "heads": (width, 0, height, 0),
        "tails": (0, width, 0, height),
        "uneven": (min(1, width), width, height, min(1, height) if height > 1 else 0),
    }
    return explicit.get(padding, padding)
