"""Rules of ROI_ALIGN: the mean of interpolated samples in each cell of each region of interest."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import boxes, general, regions

RULES = rules(
    "ROI_ALIGN",
    regions.output_shapes,
    general.ranks("C1"),
    boxes.sizes("C2", rois="n, 4", batch_indices="n"),
    boxes.batches("C3", "input"),
    boxes.positive("C4", "out_height", "out_width", "height_ratio", "width_ratio"),
    boxes.not_negative("C5", "sampling_h", "sampling_w"),
    boxes.ordered("C6", "rois"),
    boxes.inside("C7"),
    boxes.quantization("C8", "rois"),
    general.empty("C9"),
    general.declared_outputs("C10", regions.output_shapes),
    regions.fixed_point_scale("C11"),
    reads_data=True,
)
