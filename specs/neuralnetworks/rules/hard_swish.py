"""Rules of HARD_SWISH: x * min(6, max(0, x + 3)) / 6 of each element."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import clause
from npu_conformance.specs.neuralnetworks.rules.common.elementwise import unary

_FRACTION = 128
"""Centred bytes have 7 bits behind the point; bringing them to the scale of the output must not enlarge them."""


def _output_scale(view: OperationView) -> str | None:
    given, output = view.operand(0).scale, view.outputs[0].scale
    if given == 0 or given < _FRACTION * output:
        return None
    return f"output scale {output} is too small for the input scale {given}"


RULES = unary(
    "HARD_SWISH",
    clause(
        "C3",
        "model",
        "A quantised output has a scale greater than the input scale divided by 128.",
        _output_scale,
        "reference",
    ),
)
