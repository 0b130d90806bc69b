"""RESIZE_BILINEAR."""

import numpy

from npu_conformance.reference.device.resizing import Resizing, read_resizing
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, element_type
from npu_conformance.reference.device.windows import from_nhwc


def resize_bilinear(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = both neighbours along height and width, weighted by nearness; quantised: of stored values, rounded."""
    given = read_resizing(inputs, outputs[0])
    rows, row_parts = _interpolate(given.data.astype(numpy.float64), 1, given)
    values, parts = _interpolate(rows, 2, given)
    dtype = element_type(outputs[0].operand_type)
    means = values / (row_parts * parts)
    result = means if dtype.kind == "f" else numpy.rint(means)
    return (from_nhwc(result.astype(dtype), given.nchw),)


def _interpolate(values: Array, axis: int, given: Resizing) -> tuple[Array, int]:
    """Interpolate along an axis. The results are too large by the returned factor, so that integers stay integers."""
    last = values.shape[axis] - 1
    numerators, parts = given.positions(axis, offset=1)
    whole, rest = numpy.divmod(numpy.clip(numerators, 0, last * parts), parts)
    before = values.take(whole, axis)
    after = values.take(numpy.minimum(whole + 1, last), axis)
    weights = rest[:, None, None] if axis == 1 else rest[:, None]
    return before * (parts - weights) + after * weights, parts
