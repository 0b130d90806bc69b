"""Rules of SPACE_TO_DEPTH: blocks of pixels gathered in channels."""

from collections.abc import Sequence

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, rules
from npu_conformance.specs.neuralnetworks.rules.common import blocks, general, quantization, window


def _output_shapes(view: OperationView) -> Shapes:
    given, side = window.image(view), blocks.side(view)
    if side is None:
        return (window.arrange(view, window.Image(given.batch, None, None, None)),)
    height, width = blocks.share(given.height, side), blocks.share(given.width, side)
    channels = blocks.times(given.channels, side * side)
    return (window.arrange(view, window.Image(given.batch, height, width, channels)),)


def _parts(view: OperationView) -> Sequence[tuple[str, int | None, int]]:
    given, side = window.image(view), blocks.side(view)
    return [] if side is None else [("height", given.height, side), ("width", given.width, side)]


RULES = rules(
    "SPACE_TO_DEPTH",
    _output_shapes,
    general.ranks("C1"),
    blocks.positive_side("C2"),
    blocks.divisible("C3", "Height and width of the input divide by the block size.", _parts),
    general.empty("C4"),
    general.declared_outputs("C5", _output_shapes),
    quantization.same_as_input("C6"),
)
