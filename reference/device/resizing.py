"""Resizing height and width: what both resize operations share. Data is NHWC inside."""

from dataclasses import dataclass

import numpy

from npu_conformance.reference.device.tensors import Array, Inputs, OutputInfo, integer, required
from npu_conformance.reference.device.windows import MOST_ELEMENTS, to_nhwc


@dataclass(frozen=True)
class Resizing:
    """The inputs of a resize operation. data: stored elements, NHWC. sizes: of the output, (height, width)."""

    data: Array
    sizes: tuple[int, int]
    nchw: bool
    align_corners: bool
    half_pixel_centers: bool

    def positions(self, axis: int, offset: int) -> tuple[Array, int]:
        """Where the elements of the output lie along axis 1 or 2 of the input: numerators and their denominator.

        offset: half pixels to subtract where pixels have half-pixel centers.
        """
        size, target = self.data.shape[axis], self.sizes[axis - 1]
        places = numpy.arange(target, dtype=numpy.int64)
        if self.half_pixel_centers:
            return (2 * places + 1) * size - offset * target, 2 * target
        if self.align_corners and target > 1:
            return places * (size - 1), target - 1
        return places * size, target


def read_resizing(inputs: Inputs, output: OutputInfo) -> Resizing:
    """Read the inputs. The output's dimensions give its sizes, whether they were given or computed from factors.

    Raises MemoryError where height alone, resized first, makes too many elements.
    """
    nchw, align_corners, half_pixel_centers = ([bool(integer(flag)) for flag in inputs[3:]] + [False] * 3)[:3]
    height, width = output.dimensions[2:] if nchw else output.dimensions[1:3]
    data = to_nhwc(required(inputs[0]).data, nchw)
    batches, _, columns, channels = data.shape
    if batches * height * columns * channels > MOST_ELEMENTS:
        raise MemoryError(f"{height} rows of {columns} elements between the two axes")
    return Resizing(data, (height, width), nchw, align_corners, half_pixel_centers)
