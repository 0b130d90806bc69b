"""CAST."""

import numpy

from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, element_type, required


def cast(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = the stored elements as another type, without scale and zero point; integers truncated and saturated."""
    data, target = required(inputs[0]).data, element_type(outputs[0].operand_type)
    if data.dtype == target or target.kind == "f":
        return (data.astype(target),)
    limits = numpy.iinfo(target)
    return (numpy.clip(numpy.trunc(data.astype(numpy.float64)), limits.min, limits.max).astype(target),)
