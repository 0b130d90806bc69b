"""Rules of GROUPED_CONV_2D: filter [output channels, height, width, input channels / groups] in either layout."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import filters, general, quantization, window


def _output_shapes(view: OperationView) -> Shapes:
    return (window.output_image(view, filters.size_of(view, "filter", 0)),)


def _groups(view: OperationView) -> str | None:
    groups = view.integer("groups")
    return None if groups is None or groups > 0 else f"{groups} groups"


def _output_channels(view: OperationView) -> str | None:
    channels, groups = filters.size_of(view, "filter", 0), filters.groups_of(view)
    if channels is None or groups is None or channels % groups == 0:
        return None
    return f"{channels} output channels do not make {groups} groups"


RULES = rules(
    "GROUPED_CONV_2D",
    _output_shapes,
    general.ranks("C1"),
    clause("C2", "execution", "The number of groups is greater than 0.", _groups),
    filters.input_channels("C3", "The input has as many channels as the filter for all groups together."),
    clause("C4", "execution", "The output channels can be split into groups of equal size.", _output_channels),
    filters.bias_length("C5", "filter", 0),
    window.positive_steps("C6"),
    window.explicit_paddings("C7"),
    window.small_paddings("C8"),
    general.activation("C9"),
    general.empty("C10"),
    quantization.bias_scale("C11", "filter"),
    quantization.channel_dimension("C12", 0),
    general.declared_outputs("C13", _output_shapes),
    window.fitting_window("C14"),
    text_alone=("C7", "C9"),
)
