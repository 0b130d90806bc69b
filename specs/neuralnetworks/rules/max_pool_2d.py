"""Rules of MAX_POOL_2D: largest element of each window."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, quantization, window


def _output_shapes(view: OperationView) -> Shapes:
    return (window.output_image(view, window.image(view).channels),)


RULES = rules(
    "MAX_POOL_2D",
    _output_shapes,
    general.ranks("C1"),
    window.positive_steps("C2"),
    window.explicit_paddings("C3"),
    window.small_paddings("C4"),
    general.activation("C5"),
    window.image_sizes("C6"),
    general.empty("C7"),
    general.declared_outputs("C8", _output_shapes),
    quantization.same_as_input("C9"),
    window.fitting_window("C10"),
)
