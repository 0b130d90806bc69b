"""Rules of BATCH_TO_SPACE_ND: batches spread over blocks of pixels, without cropping."""

from collections.abc import Sequence

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, rules
from npu_conformance.specs.neuralnetworks.rules.common import blocks, general, quantization, window


def _output_shapes(view: OperationView) -> Shapes:
    given, block = window.image(view), blocks.block(view)
    if block is None:
        return (window.arrange(view, window.Image(None, None, None, given.channels)),)
    height, width = blocks.times(given.height, block[0]), blocks.times(given.width, block[1])
    batch = blocks.share(given.batch, block[0] * block[1])
    return (window.arrange(view, window.Image(batch, height, width, given.channels)),)


def _parts(view: OperationView) -> Sequence[tuple[str, int | None, int]]:
    block = blocks.block(view)
    return [] if block is None else [("batch", window.image(view).batch, block[0] * block[1])]


RULES = rules(
    "BATCH_TO_SPACE_ND",
    _output_shapes,
    general.ranks("C1"),
    blocks.two_elements("C2"),
    blocks.positive("C3"),
    blocks.divisible("C4", "The batches of the input divide by the area of the block.", _parts),
    general.empty("C5"),
    general.declared_outputs("C6", _output_shapes),
    quantization.same_as_input("C7"),
)
