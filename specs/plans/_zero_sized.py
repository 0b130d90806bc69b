"""Tensors without elements: they can not come through a request, so operations before the tested one make them.

BOX_WITH_NMS_LIMIT keeps none of its boxes, and ROI_ALIGN over no box gives a feature map with batch 0. In the model
the internal operands have size 0 on that axis, which the HAL reads as unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy

from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.plans.base import Planned, boolean, constant, int32, scalar, tensor
from npu_conformance.specs.vector_values import dtype_of
from npu_conformance.specs.vectors import Example, Vector, VectorOperand, VectorOperation
from npu_conformance.specs.versions import Version

_SIDE = 2
_FLOATS = {OperandType.TENSOR_FLOAT32: OperandType.FLOAT32, OperandType.TENSOR_FLOAT16: OperandType.FLOAT16}


def zero_sized(
    name: str,
    operation: str,
    feature_map: Planned,
    arguments: Mapping[str, Planned | None],
    outputs: Mapping[str, Planned],
    *,
    nchw: bool = False,
    since: str = "1.2",
    traps: Sequence[int] = (),
) -> Vector:
    """A vector whose tested operation gets a tensor with batch 0.

    feature_map: type, quantisation and dimensions [0, 2, 2, channels] or, with nchw, [0, channels, 2, 2].
    arguments: inputs of the operation in order; None where it reads the feature map. All constants. Its outputs are
    empty, so the values expected of them are certain without any arithmetic.
    """
    boxes = _Boxes(feature_map, nchw)
    own = {key: planned for key, planned in arguments.items() if planned is not None}
    planned = {**boxes.operands, **own, **outputs}
    operands = {key: _operand(value) for key, value in planned.items()}
    read = tuple("feature_map" if value is None else key for key, value in arguments.items())
    tested = VectorOperation(operation, read, tuple(outputs))
    results = ("kept_scores", "kept_classes", *outputs)
    return Vector(
        name,
        operation,
        max(Version(since), Version.V1_3 if _signed(feature_map) else Version.V1_2),
        operands,
        (*boxes.operations, tested),
        ("image",),
        results,
        examples=(Example({"image": _array(boxes.operands["image"])}, _empty(operands, results)),),
        witnesses=("closed_form",),
        description="the operation gets a tensor with batch 0 and gives an empty result",
        traps=tuple(traps),
    )


class _Boxes:
    """The operations that make the feature map, and their operands."""

    def __init__(self, feature_map: Planned, nchw: bool) -> None:
        kind = feature_map.operand.type
        channels = feature_map.operand.dimensions[1 if nchw else 3]
        quantization: dict[str, Any] = {
            "scale": feature_map.operand.scale,
            "zero_point": feature_map.operand.zero_point,
        }
        number = _FLOATS.get(kind, OperandType.FLOAT32)
        selecting = self._selecting(kind, number, quantization)
        aligning: dict[str, Planned] = {
            "image": tensor(kind, (1, channels, 1, 1) if nchw else (1, 1, 1, channels), 1, **quantization),
            "output_height": int32(_SIDE),
            "output_width": int32(_SIDE),
            "height_ratio": scalar(number, 2.0),
            "width_ratio": scalar(number, 2.0),
            "height_samples": int32(4),
            "width_samples": int32(4),
            "image_layout": boolean(nchw),
        }
        kept = self._kept(kind, quantization)
        self.operands = {**selecting, **kept, **aligning, "feature_map": feature_map}
        scalars = tuple(key for key in aligning if key != "image")
        self.operations = (
            VectorOperation("BOX_WITH_NMS_LIMIT", tuple(selecting), tuple(kept)),
            VectorOperation("ROI_ALIGN", ("image", "kept_boxes", "kept_batches", *scalars), ("feature_map",)),
        )

    @staticmethod
    def _selecting(kind: OperandType, number: OperandType, quantization: Mapping[str, Any]) -> dict[str, Planned]:
        boxes, box_quantization = _box_type(kind)
        corners = [8, 8, 80, 80, 0, 0, 80, 80] if box_quantization else [1, 1, 10, 10, 0, 0, 10, 10]
        scores = (
            [quantization["zero_point"] + 9, quantization["zero_point"] + 1] if box_quantization else [0.875, 0.125]
        )
        return {
            "scores": constant(kind, (1, 2), scores, **quantization),
            "boxes": constant(boxes, (1, 8), corners, **box_quantization),
            "box_batches": constant(OperandType.TENSOR_INT32, (1,), [0]),
            "score_threshold": scalar(number, 100.0),
            "maximum_boxes": int32(-1),
            "suppression_kernel": int32(0),
            "overlap_threshold": scalar(number, 0.5),
            "sigma": scalar(number, 1.0),
            "suppressed_score_threshold": scalar(number, 0.25),
        }

    @staticmethod
    def _kept(kind: OperandType, quantization: Mapping[str, Any]) -> dict[str, Planned]:
        boxes, box_quantization = _box_type(kind)
        return {
            "kept_scores": tensor(kind, (0,), **quantization),
            "kept_boxes": tensor(boxes, (0, 4), **box_quantization),
            "kept_classes": tensor(OperandType.TENSOR_INT32, (0,)),
            "kept_batches": tensor(OperandType.TENSOR_INT32, (0,)),
        }


def _box_type(kind: OperandType) -> tuple[OperandType, dict[str, Any]]:
    return (kind, {}) if kind in _FLOATS else (OperandType.TENSOR_QUANT16_ASYMM, {"scale": 0.125, "zero_point": 0})


def _signed(feature_map: Planned) -> bool:
    return feature_map.operand.type is OperandType.TENSOR_QUANT8_ASYMM_SIGNED


def _operand(planned: Planned) -> VectorOperand:
    return replace(planned.operand, value=_array(planned)) if planned.constant else planned.operand


def _array(planned: Planned) -> numpy.ndarray[Any, Any]:
    if not isinstance(planned.data, numpy.ndarray):
        raise ValueError("the arguments of a zero-sized vector are constants")
    return planned.data


def _empty(operands: Mapping[str, VectorOperand], names: Sequence[str]) -> dict[str, numpy.ndarray[Any, Any]]:
    return {name: numpy.zeros(operands[name].dimensions, dtype_of(operands[name].type)) for name in names}
