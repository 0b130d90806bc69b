"""Rules of DETECTION_POSTPROCESSING: anchors moved by deltas, the best of them without overlaps, in a fixed number."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, rules
from npu_conformance.specs.neuralnetworks.rules.common import boxes, general
from npu_conformance.specs.neuralnetworks.rules.common.filters import size_of


def _output_shapes(view: OperationView) -> Shapes:
    count, rows = size_of(view, "scores", 0), _rows(view)
    return ((count, rows), (count, rows, 4), (count, rows), (count,))


def _rows(view: OperationView) -> int | None:
    regular = view.integer("use_regular_nms")
    if regular is None:
        return None
    return boxes.product(view, "max_detections", *(() if regular else ("max_classes_per_detection",)))


RULES = rules(
    "DETECTION_POSTPROCESSING",
    _output_shapes,
    general.ranks("C1"),
    boxes.sizes("C2", scores="b, a, c", deltas="b, a, d", anchors="a, 4"),
    boxes.least("C3", "deltas", 4, "columns"),
    boxes.least("C4", "scores", 2, "classes"),
    boxes.positive("C5", "scale_y", "scale_x", "scale_h", "scale_w"),
    boxes.not_negative("C6", "score_threshold", "iou_threshold"),
    boxes.positive("C7", "max_detections"),
    boxes.positive("C8", "max_detections_per_class", where=("use_regular_nms", True)),
    boxes.positive("C9", "max_classes_per_detection", where=("use_regular_nms", False)),
    general.empty("C10"),
    general.declared_outputs("C11", _output_shapes),
)
