"""TOPK_V2."""

import numpy

from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required


def topk_v2(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """values, indices = the k largest elements along the last axis, descending; of equal ones the later one first."""
    data, k = required(inputs[0]).data, integer(inputs[1])
    places = numpy.argsort(data, axis=-1, kind="stable")[..., ::-1][..., :k].reshape(outputs[1].dimensions)
    return (numpy.take_along_axis(data, places, axis=-1), places.astype(numpy.int32))
