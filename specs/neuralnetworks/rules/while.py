"""Rules of WHILE. What its graphs must look like are rules of the model (MODEL.P6 to P8): here is nothing to add."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shape, rules


def _output_shapes(view: OperationView) -> Sequence[Shape]:
    return (None,) * len(view.outputs)


RULES = rules("WHILE", _output_shapes)
