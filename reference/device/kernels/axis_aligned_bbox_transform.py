"""AXIS_ALIGNED_BBOX_TRANSFORM."""

import numpy

from npu_conformance.reference.device.boxes import clipped, decoded
from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def axis_aligned_bbox_transform(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[n, class] = roi[n] moved and resized by deltas[n, class], clipped to the image of its batch."""
    rois, deltas, images = (real(required(inputs[position])) for position in (0, 1, 3))
    count, columns = deltas.shape
    boxes = decoded(rois[:, numpy.newaxis], deltas.reshape(count, columns // 4, 4))
    inside = clipped(boxes, images[required(inputs[2]).data][:, numpy.newaxis])
    return (store(inside.reshape(count, columns), outputs[0]),)
