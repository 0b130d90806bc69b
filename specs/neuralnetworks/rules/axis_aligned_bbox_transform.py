"""Rules of AXIS_ALIGNED_BBOX_TRANSFORM: boxes moved and resized by deltas, and clipped to their image."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import boxes, general

_INPUTS = {"roi": "n, 4", "bbox_deltas": "n, 4*c", "batch_indices": "n", "image_info": "b, 2"}
_output_shapes = boxes.output_shapes(_INPUTS, "n, 4*c")

RULES = rules(
    "AXIS_ALIGNED_BBOX_TRANSFORM",
    _output_shapes,
    general.ranks("C1"),
    boxes.sizes("C2", **_INPUTS),
    boxes.only_rows_empty("C3", "bbox_deltas"),
    boxes.batches("C4", "image_info"),
    boxes.ordered("C5", "roi"),
    boxes.quantization("C6", "roi", "image_info", outputs=(0,)),
    general.empty("C7"),
    general.declared_outputs("C8", _output_shapes),
    reads_data=True,
)
