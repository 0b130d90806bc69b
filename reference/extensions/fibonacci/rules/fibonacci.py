"""Rules of FIBONACCI: the first numbers of the sequence 0, 1, 1, 2, 3, 5, ..., quantised."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shape, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general

PARAMETERS = struct.Struct("<dq")
"""Of TENSOR_FIBONACCI_QUANT64: scale as a float64, zero point as an int64, both little-endian."""

_COUNTS = range(1, 80)
"""A float64 holds the first 79 numbers exactly."""

_ZERO_POINTS = range(-(2**31), 2**31)


def _output_shapes(view: OperationView) -> Sequence[Shape]:
    count = view.integer("count")
    return ((count,) if count in _COUNTS else (None,),)


def _check_parameters(view: OperationView) -> str | None:
    extra = view.outputs[0].extra_params
    data = extra.extension if extra else None
    if data is None or len(data) != PARAMETERS.size:
        return f"expected {PARAMETERS.size} bytes of parameters, found {'none' if data is None else len(data)}"
    scale, zero_point = PARAMETERS.unpack(data)
    if not (math.isfinite(scale) and scale > 0):
        return f"the scale is {scale}"
    return None if zero_point in _ZERO_POINTS else f"the zero point is {zero_point}"


def _check_count(view: OperationView) -> str | None:
    count = view.integer("count")
    return None if count is None or count in _COUNTS else f"the count is {count}"


RULES = rules(
    "FIBONACCI",
    _output_shapes,
    clause("C1", "model", "The output has a scale greater than 0 and a zero point of 32 bit.", _check_parameters),
    clause("C2", "execution", "The count is 1 to 79.", _check_count),
    general.declared_outputs("C3", _output_shapes),
)
