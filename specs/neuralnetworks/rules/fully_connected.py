"""Rules of FULLY_CONNECTED: the input flattened to rows of the weights' length, times the weights transposed."""

import math

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import filters, general, quantization


def _output_shapes(view: OperationView) -> Shapes:
    units, length, elements = filters.size_of(view, "weights", 0), filters.size_of(view, "weights", 1), _elements(view)
    return ((elements // length if elements is not None and length else None, units),)


def _elements(view: OperationView) -> int | None:
    sizes = [size for size in view.dimensions("input") or (None,) if size is not None]
    return math.prod(sizes) if len(sizes) == len(view.dimensions("input") or (None,)) else None


def _divisible(view: OperationView) -> str | None:
    elements, length = _elements(view), filters.size_of(view, "weights", 1)
    if elements is None or not length or elements % length == 0:
        return None
    return f"{elements} input elements are no multiple of {length}"


RULES = rules(
    "FULLY_CONNECTED",
    _output_shapes,
    general.ranks("C1"),
    clause("C2", "execution", "The input's elements are a multiple of the weights' row length.", _divisible),
    filters.bias_length("C3", "weights", 0),
    general.activation("C4"),
    general.empty("C5"),
    quantization.bias_scale("C6", "weights"),
    quantization.output_scale("C7", "weights"),
    general.declared_outputs("C8", _output_shapes),
    text_alone=("C4",),
)
