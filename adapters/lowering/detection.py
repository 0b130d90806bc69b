"""AXIS_ALIGNED_BBOX_TRANSFORM by its formula, DETECTION_POSTPROCESSING by LiteRT's custom operator."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from npu_conformance.adapters.lowering.context import Step
from npu_conformance.adapters.lowering.graph import Tensor
from npu_conformance.adapters.lowering.operands import check_size
from npu_conformance.specs.neuralnetworks.enums import OperandType

POSTPROCESS = "TFLite_Detection_PostProcess"


def axis_aligned_bbox_transform(step: Step) -> None:
    """AXIS_ALIGNED_BBOX_TRANSFORM on pairs (x, y): centre moved by deltas times the size, half the size times e^deltas,
    clipped to the image.
    """
    count, columns = step.dimensions(1)
    rois, images = (_positions(step, position) for position in (0, 3))
    rois = step.reshaped(rois, (count, 1, 4))
    deltas = step.reshaped(step.dequantized(step.tensor(1)), (count, columns // 4, 4))
    low, high, moves, growths = (
        _pair(step, rois, 0),
        _pair(step, rois, 2),
        _pair(step, deltas, 0),
        _pair(step, deltas, 2),
    )
    size, half = _float(step, "SUB", high, low), step.floats([0.5])
    middle = _float(step, "MUL", _float(step, "ADD", low, high), half)
    middle = _float(step, "ADD", middle, _float(step, "MUL", moves, size))
    growth = step.graph.add(Tensor("float32"))
    step.graph.emit("EXP", [growths], growth, "Exp")
    reach = _float(step, "MUL", _float(step, "MUL", growth, size), half)
    limits = _limits(step, images, count)
    ends = [_clipped(step, _float(step, name, middle, reach), limits) for name in ("SUB", "ADD")]
    boxes = step.graph.add(Tensor("float32"))
    step.graph.emit("CONCATENATION", ends, boxes, "Concatenation", axis=2)
    _bind_positions(step, step.reshaped(boxes, (count, columns)))


def _positions(step: Step, position: int) -> int:
    """An input's real values: LiteRT has no kernels for 16 bits without sign, but casts them."""
    if not step.is_type(position, OperandType.TENSOR_QUANT16_ASYMM):
        return step.tensor(position)
    stored = step.graph.add(Tensor("float32"))
    step.graph.emit("CAST", [step.tensor(position)], stored, "Cast")
    return _float(step, "MUL", stored, step.floats([step.operand(position).scale]))


def _bind_positions(step: Step, number: int) -> None:
    """Store real values, none of which is negative, as the output: rounded to the nearest, ties up."""
    result = step.result()
    if result.type != OperandType.TENSOR_QUANT16_ASYMM:
        step.bind(number)
        return
    rounded = step.graph.add(Tensor("float32"))
    steps = _float(step, "ADD", _float(step, "MUL", number, step.floats([1 / result.scale])), step.floats([0.5]))
    step.graph.emit("FLOOR", [_float(step, "MINIMUM", steps, step.floats([65535.0]))], rounded)
    step.graph.emit("CAST", [rounded], step.output(), "Cast")


def _float(step: Step, builtin: str, first: int, second: int) -> int:
    result = step.graph.add(Tensor("float32"))
    options = {"MAXIMUM": "MaximumMinimum", "MINIMUM": "MaximumMinimum"}.get(builtin, builtin.capitalize())
    step.graph.emit(builtin, [first, second], result, options)
    return result


def _pair(step: Step, number: int, first: int) -> int:
    """Two columns of the last of three axes."""
    return step.sliced(number, (0, 0, first), (-1, -1, 2))


def _limits(step: Step, images: int, count: int) -> int:
    """Width and height of the image of each roi. images: height and width of each."""
    turned, chosen = step.graph.add(Tensor("float32")), step.graph.add(Tensor("float32"))
    step.graph.emit("GATHER", [images, step.integers([1, 0])], turned, "Gather", axis=1)
    step.graph.emit("GATHER", [turned, step.tensor(2)], chosen, "Gather", axis=0)
    return step.reshaped(chosen, (count, 1, 2))


def _clipped(step: Step, number: int, limits: int) -> int:
    return _float(step, "MAXIMUM", _float(step, "MINIMUM", number, limits), step.floats([0.0]))


def detection_postprocessing(step: Step) -> None:
    """LiteRT's operator takes one batch, counts boxes where NNAPI counts rows, and leaves what is behind them as it is.

    It gives float32 only, never counts the background as a class, and has no rows for classes that do not exist.
    """
    (batches, anchors, classes), width = step.dimensions(0), step.dimensions(1)[2]
    wanted = step.scalar(8) * (1 if step.scalar(7) else step.scalar(9))
    check_size((batches, wanted, 4))
    per_box = 1 if step.scalar(7) else min(step.scalar(9), classes - 1)
    options = _options(step, classes, per_box)
    found = []
    for batch in range(batches):
        deltas = step.sliced(step.tensor(1), (batch, 0, 0), (1, anchors, width))
        scores = step.sliced(step.tensor(0), (batch, 0, 0), (1, anchors, classes))
        outputs = [step.graph.add(Tensor("float32")) for _ in range(4)]
        step.graph.emit_custom(POSTPROCESS, [deltas, scores, step.tensor(2)], outputs, options)
        found.append(outputs)
    boxes, labels, scores, counts = (_stacked(step, parts) for parts in zip(*found, strict=True))
    counts = _float(step, "MUL", counts, step.floats([float(per_box)]))
    if step.scalar(13):
        labels = _float(step, "ADD", labels, step.floats([1.0]))
    rows = Rows(batches, step.scalar(8) * per_box, wanted)
    step.bind(_filled(step, rows, scores, counts, ()), 0)
    step.bind(_filled(step, rows, boxes, counts, (4,)), 1)
    step.graph.emit("CAST", [_filled(step, rows, labels, counts, ())], step.output(2), "Cast")
    step.graph.emit("CAST", [counts], step.output(3), "Cast")


@dataclass(frozen=True)
class Rows:
    """The number of rows of results in each batch: from LiteRT, and for NNAPI."""

    batches: int
    given: int
    wanted: int


def _options(step: Step, classes: int, per_box: int) -> bytes:
    """per_box: rows for each box.

    Scores have to be above NNAPI's threshold and to reach LiteRT's; with overlaps it is the other way round.
    """
    regular = bool(step.scalar(7))
    score, overlap = (np.float32(step.scalar(position)) for position in (11, 12))
    settings: dict[str, int | float | bool] = {
        "max_detections": step.scalar(8),
        "max_classes_per_detection": per_box,
        "detections_per_class": step.scalar(10),
        "use_regular_nms": regular,
        "nms_score_threshold": float(np.nextafter(score, np.float32(np.inf))),
        "nms_iou_threshold": float(np.nextafter(overlap, np.float32(0))),
        "num_classes": classes - 1,
        **{
            name: float(step.scalar(3 + place))
            for place, name in enumerate(("y_scale", "x_scale", "h_scale", "w_scale"))
        },
    }
    return bytes(importlib.import_module("flatbuffers.flexbuffers").Dumps(settings))


def _stacked(step: Step, parts: Sequence[int]) -> int:
    if len(parts) == 1:
        return parts[0]
    whole = step.graph.add(Tensor("float32"))
    step.graph.emit("CONCATENATION", parts, whole, "Concatenation", axis=0)
    return whole


def _filled(step: Step, rows: Rows, number: int, counts: int, inner: tuple[int, ...]) -> int:
    """A result with zeros in the rows behind those that count. inner: shape of what stands in a row."""
    places: npt.NDArray[Any] = np.arange(rows.given, dtype=np.float32).reshape(1, rows.given, *(1 for _ in inner))
    valid, kept, filled = step.graph.add(Tensor("bool")), step.like(number), step.like(number)
    limits = step.reshaped(counts, (rows.batches, 1, *(1 for _ in inner)))
    step.graph.emit("LESS", [step.graph.constant(places), limits], valid, "Less")
    step.graph.emit("SELECT_V2", [valid, number, step.floats([0.0])], kept, "SelectV2")
    tails = [(0, 0), (0, rows.wanted - rows.given), *((0, 0) for _ in inner)]
    step.graph.emit("PAD", [kept, step.integers(np.array(tails))], filled, "Pad")
    return filled
