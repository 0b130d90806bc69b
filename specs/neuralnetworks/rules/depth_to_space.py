"""Rules of DEPTH_TO_SPACE: channels spread over blocks of pixels."""

from collections.abc import Sequence

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, rules
from npu_conformance.specs.neuralnetworks.rules.common import blocks, general, quantization, window


def _output_shapes(view: OperationView) -> Shapes:
    given, side = window.image(view), blocks.side(view)
    if side is None:
        return (window.arrange(view, window.Image(given.batch, None, None, None)),)
    height, width = blocks.times(given.height, side), blocks.times(given.width, side)
    channels = blocks.share(given.channels, side * side)
    return (window.arrange(view, window.Image(given.batch, height, width, channels)),)


def _parts(view: OperationView) -> Sequence[tuple[str, int | None, int]]:
    side = blocks.side(view)
    return [] if side is None else [("depth", window.image(view).channels, side * side)]


RULES = rules(
    "DEPTH_TO_SPACE",
    _output_shapes,
    general.ranks("C1"),
    blocks.positive_side("C2"),
    blocks.divisible("C3", "The depth of the input divides by the square of the block size.", _parts),
    general.empty("C4"),
    general.declared_outputs("C5", _output_shapes),
    quantization.same_as_input("C6"),
)
