"""Rules of HEATMAP_MAX_KEYPOINT: the refined place of the largest element of each heatmap."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import boxes, general, window


def _output_shapes(view: OperationView) -> Shapes:
    heatmap = window.image(view)
    return ((heatmap.batch, heatmap.channels), (heatmap.batch, heatmap.channels, 2))


def _square(view: OperationView) -> str | None:
    heatmap = window.image(view)
    sides = [side for side in (heatmap.height, heatmap.width) if side is not None]
    if 1 in sides or len(set(sides)) > 1:
        return f"a heatmap of height {heatmap.height} and width {heatmap.width}"
    return None


RULES = rules(
    "HEATMAP_MAX_KEYPOINT",
    _output_shapes,
    general.ranks("C1"),
    boxes.sizes("C2", heatmap="n, x, y, z", boxes="n, 4"),
    clause("C3", "execution", "Heatmaps are square, with sides of at least 2.", _square),
    boxes.ordered("C4", "boxes"),
    boxes.quantization("C5", "boxes", outputs=(1,)),
    general.empty("C6"),
    general.declared_outputs("C7", _output_shapes),
    reads_data=True,
)
