"""Rules of DEPTHWISE_CONV_2D: filter [1, height, width, output channels] in either layout."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import filters, general, quantization, window


def _output_shapes(view: OperationView) -> Shapes:
    return (window.output_image(view, filters.size_of(view, "filter", 3)),)


def _first_dimension(view: OperationView) -> str | None:
    size = filters.size_of(view, "filter", 0)
    return None if size in (None, 1) else f"dimension 0 of the filter is {size}, expected 1"


def _output_channels(view: OperationView) -> str | None:
    channels, multiplier = window.image(view).channels, view.integer("depth_multiplier")
    found = filters.size_of(view, "filter", 3)
    if channels is None or multiplier is None or found is None or found == channels * multiplier:
        return None
    return f"the filter has {found} channels, expected {channels} * {multiplier}"


def _multiplier(view: OperationView) -> str | None:
    multiplier = view.integer("depth_multiplier")
    return None if multiplier is None or multiplier > 0 else f"depth multiplier {multiplier} must be greater than 0"


RULES = rules(
    "DEPTHWISE_CONV_2D",
    _output_shapes,
    general.ranks("C1"),
    clause("C2", "execution", "Dimension 0 of the filter is 1.", _first_dimension),
    clause("C3", "execution", "The filter has input channels times depth multiplier channels.", _output_channels),
    clause("C4", "execution", "The depth multiplier is greater than 0.", _multiplier),
    filters.bias_length("C5", "filter", 3),
    window.positive_steps("C6"),
    window.explicit_paddings("C7"),
    window.small_paddings("C8"),
    general.activation("C9"),
    window.image_sizes("C10"),
    general.empty("C11"),
    quantization.bias_scale("C12", "filter"),
    quantization.channel_dimension("C13", 3),
    quantization.output_scale("C14", "filter"),
    general.declared_outputs("C15", _output_shapes),
    window.fitting_window("C16"),
)
