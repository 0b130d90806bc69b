"""What ADD and SUB share beyond broadcasting."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Clause, clause
from npu_conformance.specs.neuralnetworks.rules.common.quantization import is_quantized

_SHIFT = 20
"""Left shift of the fixed-point sum: the result is scaled by twice the larger scale over 2^20 * output scale."""


def output_scale(number: str) -> Clause:
    """The clause about the smallest output scale that fixed-point sums can reach."""
    text = "A quantised output has a scale greater than twice the larger input scale divided by 2^20."
    return clause(number, "model", text, _check_output_scale, "reference")


def _check_output_scale(view: OperationView) -> str | None:
    scales = [view.operand(0).scale, view.operand(1).scale]
    if not is_quantized(view.operand(0)) or view.outputs[0].scale * 2**_SHIFT > 2 * max(scales):
        return None
    return f"output scale {view.outputs[0].scale} is too small for input scales {scales}"
