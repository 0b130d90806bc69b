"""Rules of RANK: how many dimensions the input has, as a scalar."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, rules
from npu_conformance.specs.neuralnetworks.rules.common import general


def _output_shapes(view: OperationView) -> Shapes:
    return ((),)


RULES = rules(
    "RANK",
    _output_shapes,
    general.empty("C1"),
)
