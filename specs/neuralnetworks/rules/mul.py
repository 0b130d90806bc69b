"""Rules of MUL: element-wise product with broadcasting."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, shapes
from npu_conformance.specs.neuralnetworks.rules.common.quantization import is_quantized


def _output_scale(view: OperationView) -> str | None:
    one, other, output = view.operand(0), view.operand(1), view.outputs[0]
    if not is_quantized(one) or output.scale > one.scale * other.scale:
        return None
    return f"output scale {output.scale} must be greater than {one.scale} * {other.scale}"


RULES = rules(
    "MUL",
    shapes.broadcast_inputs,
    shapes.broadcastable("C1"),
    general.ranks("C2"),
    general.activation("C3"),
    general.integer_activation("C4"),
    general.empty("C5"),
    general.declared_outputs("C6", shapes.broadcast_inputs),
    clause(
        "C7", "model", "A quantised output has a scale greater than the product of the input scales.", _output_scale
    ),
)
