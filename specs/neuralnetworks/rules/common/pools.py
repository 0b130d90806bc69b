"""What the three pools share."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Clause, Rules, Shapes, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, window


def pool(name: str, *more: Clause) -> Rules:
    """The rules of a pool. more: clauses from C9 on."""
    return rules(
        name,
        _output_shapes,
        general.ranks("C1"),
        window.positive_steps("C2"),
        window.explicit_paddings("C3"),
        window.small_paddings("C4"),
        general.activation("C5"),
        window.image_sizes("C6"),
        general.empty("C7"),
        general.declared_outputs("C8", _output_shapes),
        *more,
    )


def _output_shapes(view: OperationView) -> Shapes:
    return (window.output_image(view, window.image(view).channels),)
