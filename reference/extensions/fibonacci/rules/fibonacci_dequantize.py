"""Rules of FIBONACCI_DEQUANTIZE: the real values of a quantised sequence."""

from __future__ import annotations

import math
import struct

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, shapes


def _check_parameters(view: OperationView) -> str | None:
    extra = view.inputs[0].extra_params
    data = extra.extension if extra else None
    if data is None or len(data) != 16:
        return f"expected 16 bytes of parameters, found {'none' if data is None else len(data)}"
    scale, zero_point = struct.unpack("<dq", data)
    if not (math.isfinite(scale) and scale > 0):
        return f"the scale is {scale}"
    return None if -(2**31) <= zero_point < 2**31 else f"the zero point is {zero_point}"


RULES = rules(
    "FIBONACCI_DEQUANTIZE",
    shapes.same_as_input,
    clause("C1", "model", "The input has a scale greater than 0 and a zero point of 32 bit.", _check_parameters),
    general.declared_outputs("C2", shapes.same_as_input),
)
