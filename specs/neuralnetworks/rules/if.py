"""Rules of IF. What its branches must look like are rules of the model (MODEL.P5, P7): here is nothing to add."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shape, rules


def _output_shapes(view: OperationView) -> Sequence[Shape]:
    return (None,) * len(view.outputs)


RULES = rules("IF", _output_shapes)
