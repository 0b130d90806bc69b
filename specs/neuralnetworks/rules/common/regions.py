"""What ROI_ALIGN and ROI_POOLING share beyond boxes: the shape of their output, and the limits of its scale."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Clause, Shapes, clause
from npu_conformance.specs.neuralnetworks.rules.common import window
from npu_conformance.specs.neuralnetworks.rules.common.filters import size_of
from npu_conformance.specs.neuralnetworks.rules.common.quantization import is_quantized


def output_shapes(view: OperationView) -> Shapes:
    """An image of the wanted height and width for each roi."""
    wanted = (view.integer("out_height"), view.integer("out_width"))
    height, width = (None if size is None or size <= 0 else size for size in wanted)
    result = window.Image(size_of(view, "rois", 0), height, width, window.image(view).channels)
    return (window.arrange(view, result),)


def fixed_point_scale(number: str) -> Clause:
    """The clause about scales that Android's fixed-point arithmetic cannot do."""
    text = "For a quantised input and given sample counts, its scale is less than 255 * samples times the output's."
    return clause(number, "execution", text, _check_scale, "reference")


def _check_scale(view: OperationView) -> str | None:
    given, output = view.operand("input"), view.outputs[0]
    samples = (view.integer("sampling_h") or 0) * (view.integer("sampling_w") or 0)
    if not is_quantized(given) or samples <= 0 or given.scale < 255 * samples * output.scale:
        return None
    return f"the input has scale {given.scale}, the output {output.scale}, with {samples} samples in each cell"
