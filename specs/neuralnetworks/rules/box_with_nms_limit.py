"""Rules of BOX_WITH_NMS_LIMIT: boxes left over after the suppression of overlapping ones, class by class."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import boxes, general

_INPUTS = {"scores": "n, c", "rois": "n, 4*c", "batch_indices": "n"}
_output_shapes = boxes.output_shapes(_INPUTS, "m", "m, 4", "m", "m")


def _kernel(view: OperationView) -> str | None:
    kernel = view.integer("nms_kernel")
    return f"nms_kernel {kernel} is not in 0..2" if kernel not in (None, 0, 1, 2) else None


RULES = rules(
    "BOX_WITH_NMS_LIMIT",
    _output_shapes,
    general.ranks("C1"),
    boxes.sizes("C2", **_INPUTS),
    boxes.least("C3", "scores", 2, "classes"),
    clause("C4", "execution", "The kernel is 0 (hard), 1 (linear) or 2 (gaussian).", _kernel),
    boxes.ordered_by_batch("C5"),
    boxes.quantization("C6", "rois", outputs=(1,)),
    boxes.same_scores("C7"),
    general.empty("C8"),
    general.declared_outputs("C9", _output_shapes),
    reads_data=True,
)
