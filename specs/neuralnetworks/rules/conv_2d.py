"""Rules of CONV_2D: filter [output channels, height, width, input channels] in either layout."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, rules
from npu_conformance.specs.neuralnetworks.rules.common import filters, general, quantization, window


def _output_shapes(view: OperationView) -> Shapes:
    return (window.output_image(view, filters.size_of(view, "filter", 0)),)


RULES = rules(
    "CONV_2D",
    _output_shapes,
    general.ranks("C1"),
    filters.input_channels("C2", "The filter has as many input channels as the input."),
    filters.bias_length("C3", "filter", 0),
    window.positive_steps("C4"),
    window.explicit_paddings("C5"),
    window.small_paddings("C6"),
    general.activation("C7"),
    window.image_sizes("C8"),
    general.empty("C9"),
    quantization.bias_scale("C10", "filter"),
    quantization.channel_dimension("C11", 0),
    quantization.output_scale("C12", "filter"),
    general.declared_outputs("C13", _output_shapes),
    window.fitting_window("C14"),
)
