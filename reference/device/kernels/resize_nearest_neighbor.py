"""RESIZE_NEAREST_NEIGHBOR."""

from npu_conformance.reference.device.resizing import Resizing, read_resizing
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs
from npu_conformance.reference.device.windows import from_nhwc


def resize_nearest_neighbor(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[n, y, x, c] = input[n, origin(y), origin(x), c]."""
    given = read_resizing(inputs, outputs[0])
    copied = given.data.take(_origins(given, 1), axis=1).take(_origins(given, 2), axis=2)
    return (from_nhwc(copied, given.nchw),)


def _origins(given: Resizing, axis: int) -> Array:
    """Where each element comes from: rounded to nearest (halves up) between aligned corners, else rounded down."""
    numerators, parts = given.positions(axis, offset=0)
    return (2 * numerators + parts) // (2 * parts) if given.align_corners else numerators // parts
