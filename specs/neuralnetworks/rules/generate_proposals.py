"""Rules of GENERATE_PROPOSALS: anchors at each place of a grid, moved by deltas, the best of them without overlaps."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import boxes, general

_OTHERS = {"anchors": "a, 4", "image_info": "b, 2"}
_NHWC = {"scores": "b, h, w, a", "bbox_deltas": "b, h, w, 4*a", **_OTHERS}
_NCHW = {"scores": "b, a, h, w", "bbox_deltas": "b, 4*a, h, w", **_OTHERS}
_output_shapes = boxes.output_shapes({}, "m", "m, 4", "m")


def _sizes(view: OperationView) -> str | None:
    nchw = view.integer("nchw_layout")
    return None if nchw is None else boxes.mismatch(view, _NCHW if nchw else _NHWC)


RULES = rules(
    "GENERATE_PROPOSALS",
    _output_shapes,
    general.ranks("C1"),
    clause("C2", "execution", "Scores, deltas, anchors and image information agree in their sizes.", _sizes),
    boxes.quantization("C3", "anchors", "image_info", outputs=(1,), signed=False),
    boxes.quantization("C4", "anchors", "image_info", outputs=(1,), signed=True, basis="text"),
    boxes.same_scores("C5"),
    general.empty("C6"),
    general.declared_outputs("C7", _output_shapes),
)
