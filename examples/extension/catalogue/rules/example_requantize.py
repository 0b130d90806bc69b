"""Rules of EXAMPLE_REQUANTIZE: the same real values, stored with another scale and zero point."""

from __future__ import annotations

import math
import struct

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, shapes
from npu_conformance.specs.neuralnetworks.types import Operand

PARAMETERS = struct.Struct("<dq")
"""ExampleTensorParams of the vendor's header: double scale, int64_t zeroPoint, little-endian."""

_ZERO_POINTS = range(-32768, 32768)


def _problem(operand: Operand) -> str | None:
    data = operand.extra_params.extension if operand.extra_params else None
    if data is None or len(data) != PARAMETERS.size:
        return f"expected {PARAMETERS.size} bytes of parameters, found {len(data or b'')}"
    scale, zero_point = PARAMETERS.unpack(data)
    if not (math.isfinite(scale) and scale > 0):
        return f"the scale is {scale}"
    return None if zero_point in _ZERO_POINTS else f"the zero point is {zero_point}"


def _check_parameters(view: OperationView) -> str | None:
    for name, operand in (("input", view.inputs[0]), ("output", view.outputs[0])):
        problem = _problem(operand)
        if problem is not None:
            return f"{name}: {problem}"
    return None


RULES = rules(
    "EXAMPLE_REQUANTIZE",
    shapes.same_as_input,
    clause("C1", "model", "Both tensors have a scale greater than 0 and a zero point of 16 bit.", _check_parameters),
    general.declared_outputs("C2", shapes.same_as_input),
)
