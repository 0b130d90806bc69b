"""Rules of ROI_POOLING: the largest element of each cell of each region of interest."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import boxes, general, quantization, regions

RULES = rules(
    "ROI_POOLING",
    regions.output_shapes,
    general.ranks("C1"),
    boxes.sizes("C2", rois="n, 4", batch_indices="n"),
    boxes.batches("C3", "input"),
    boxes.positive("C4", "out_height", "out_width", "height_ratio", "width_ratio"),
    boxes.ordered("C5", "rois"),
    boxes.inside("C6"),
    boxes.quantization("C7", "rois"),
    general.empty("C8"),
    general.declared_outputs("C9", regions.output_shapes),
    quantization.same_as_input("C10"),
    reads_data=True,
)
