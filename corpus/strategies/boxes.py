"""Recipes of operations on boxes and regions of images, of hashes, and of the LSTM of 16 bits.

Coordinates are eighths of a pixel and ratios powers of two, so that no device rounds an edge to another side.
"""

import numpy

from npu_conformance.corpus.generators import quantized_16bit_lstm
from npu_conformance.corpus.generators.data import Array
from npu_conformance.corpus.generators.operands import OperandSpec, boolean, int32, omitted, scalar, tensor
from npu_conformance.corpus.strategies.calls import Arguments, Call, Recipe
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.versions import Version

_EIGHTHS = 8
_RATIOS = (1.0, 2.0, 0.5)
_DENSE, _SPARSE, _DEPRECATED = 2, 3, 1


def _boxes(call: Call, name: str, eighths: Array) -> OperandSpec:
    """Coordinates in the type of an argument: floats, or stored eighths."""
    kind = call.kind(name)
    if OPERAND_TYPES[kind].is_quantized:
        return tensor(kind, eighths.shape, eighths, scale=1 / _EIGHTHS)
    return tensor(kind, eighths.shape, eighths / _EIGHTHS)


def _spans(call: Call, count: int, height: int, width: int) -> Array:
    """As many boxes within an image: x1, y1, x2, y2 in eighths of a pixel."""
    ends = [numpy.sort(call.random.integers(0, size * _EIGHTHS, (count, 2), endpoint=True)) for size in (width, height)]
    return numpy.stack([ends[0][:, 0], ends[1][:, 0], ends[0][:, 1], ends[1][:, 1]], axis=1)


def _batches(call: Call, count: int, batches: int) -> OperandSpec:
    """The image of each box."""
    indices = numpy.sort(call.random.integers(0, batches, (count,)))
    return call.tensor("batch_indices", (count,), indices, constant=call.flag())


def _regions(call: Call) -> Arguments:
    nchw, count = call.layout(), call.size()
    given = call.tensor("input", call.image(nchw, call.size(), call.size(), call.size()))
    batches, *rest = given.operand.dimensions
    height, width = rest[1:] if nchw else rest[:2]
    ratios = {"height_ratio": call.decisions.pick(_RATIOS), "width_ratio": call.decisions.pick(_RATIOS)}
    factors = [ratios["width_ratio"], ratios["height_ratio"]] * 2
    pixels = numpy.floor(_spans(call, count, height, width) * factors).astype(numpy.int64)
    found = {
        "input": given,
        "rois": _boxes(call, "rois", pixels),
        "batch_indices": _batches(call, count, batches),
        "out_height": int32(call.between(1, 3)),
        "out_width": int32(call.between(1, 3)),
        **{name: scalar(call.kind(name), value) for name, value in ratios.items()},
        "nchw_layout": boolean(nchw),
    }
    if call.form.operation == "ROI_ALIGN":
        found |= {"sampling_h": int32(call.between(0, 2)), "sampling_w": int32(call.between(0, 2))}
        call.results["output"] = (max(given.operand.scale, 0.0), given.operand.zero_point)
    return found


def _heatmap(call: Call) -> Arguments:
    nchw, side = call.layout(), call.between(2, 4)
    given = call.tensor("heatmap", call.image(nchw, side, side, call.size()))
    boxes = _spans(call, given.operand.dimensions[0], 16, 16)
    call.results["scores"] = (given.operand.scale, given.operand.zero_point)
    call.results["keypoints"] = (1 / _EIGHTHS, 0)
    return {"heatmap": given, "boxes": _boxes(call, "boxes", boxes), "nchw_layout": boolean(nchw)}


def _transformed(call: Call) -> Arguments:
    count, classes, batches, side = call.size(), call.between(1, 2), call.between(1, 2), 16
    call.results["output"] = (1 / _EIGHTHS, 0)
    deltas = call.random.integers(-8, 9, (count, 4 * classes)) / 16
    kind = call.kind("bbox_deltas")
    if OPERAND_TYPES[kind].is_quantized:
        zero = 0 if kind is OperandType.TENSOR_QUANT8_ASYMM_SIGNED else 128
        given = tensor(kind, deltas.shape, (deltas * 16).astype(numpy.int64) + zero, scale=1 / 16, zero_point=zero)
    else:
        given = tensor(kind, deltas.shape, deltas)
    return {
        "roi": _boxes(call, "roi", _spans(call, count, side, side)),
        "bbox_deltas": given,
        "batch_indices": _batches(call, count, batches),
        "image_info": _boxes(call, "image_info", numpy.full((batches, 2), side * _EIGHTHS)),
    }


def _hashed(call: Call) -> Arguments:
    rows = call.shape("input", (1, 2, 3))
    kinds = (_DENSE, _SPARSE, _DEPRECATED) if call.version >= Version.V1_2 else (_DENSE, _DEPRECATED)
    kind = call.decisions.pick(kinds)
    seed = call.kind("hash")
    is_dense = kind == _DENSE
    weight = call.tensor_of(seed, (rows[0],), positive=True, constant=True) if is_dense else omitted(seed, (rows[0],))
    return {
        "hash": call.tensor_of(seed, (call.size(), call.between(1, 4)), constant=True),
        "input": call.tensor("input", rows),
        "weight": weight,
        "type": int32(kind),
    }


def _lstm(call: Call) -> Arguments:
    shape = (call.between(1, 3), call.size(), call.size())
    inputs, outputs = quantized_16bit_lstm.operands(shape, call.decisions.below(1000))
    call.results.update({name: (spec.operand.scale, spec.operand.zero_point) for name, spec in outputs.items()})
    return inputs


RECIPES: dict[str, Recipe] = {
    **dict.fromkeys(("ROI_ALIGN", "ROI_POOLING"), _regions),
    "HEATMAP_MAX_KEYPOINT": _heatmap,
    "AXIS_ALIGNED_BBOX_TRANSFORM": _transformed,
    "LSH_PROJECTION": _hashed,
    "QUANTIZED_16BIT_LSTM": _lstm,
}
