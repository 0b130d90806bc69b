"""Rules of MUL: element-wise product with broadcasting."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import clause
from npu_conformance.specs.neuralnetworks.rules.common.elementwise import arithmetic
from npu_conformance.specs.neuralnetworks.rules.common.quantization import is_quantized, scale_product


def _output_scale(view: OperationView) -> str | None:
    one, other, output = view.operand(0), view.operand(1), view.outputs[0]
    if not is_quantized(one) or output.scale > scale_product(one, other):
        return None
    return f"output scale {output.scale} must be greater than {one.scale} * {other.scale}"


RULES = arithmetic(
    "MUL",
    clause(
        "C7", "model", "A quantised output has a scale greater than the product of the input scales.", _output_scale
    ),
    text_alone=("C3",),
)
