"""Rules of SPACE_TO_BATCH_ND: blocks of pixels of the padded input gathered in batches."""

from collections.abc import Sequence

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import blocks, general, padding, quantization, window

_COUNT = 4


def _padded(view: OperationView) -> tuple[int | None, int | None]:
    """Height and width after padding."""
    given, paddings = window.image(view), view.integers("paddings")
    if paddings is None or len(paddings) != _COUNT:
        return None, None
    height = None if given.height is None else given.height + paddings[0] + paddings[1]
    width = None if given.width is None else given.width + paddings[2] + paddings[3]
    return height, width


def _output_shapes(view: OperationView) -> Shapes:
    given, block = window.image(view), blocks.block(view)
    if block is None:
        return (window.arrange(view, window.Image(None, None, None, given.channels)),)
    height, width = _padded(view)
    batch = blocks.times(given.batch, block[0] * block[1])
    result = window.Image(batch, blocks.share(height, block[0]), blocks.share(width, block[1]), given.channels)
    return (window.arrange(view, result),)


def _paddings_shape(view: OperationView) -> str | None:
    shape = view.dimensions("paddings")
    wrong = [size for size in shape or () if size not in (None, 2)]
    return f"paddings have a dimension of {wrong[0]}, expected [2, 2]" if wrong else None


def _parts(view: OperationView) -> Sequence[tuple[str, int | None, int]]:
    block, (height, width) = blocks.block(view), _padded(view)
    return [] if block is None else [("padded height", height, block[0]), ("padded width", width, block[1])]


RULES = rules(
    "SPACE_TO_BATCH_ND",
    _output_shapes,
    general.ranks("C1"),
    blocks.two_elements("C2"),
    blocks.positive("C3"),
    clause("C4", "execution", "The paddings have the shape [2, 2].", _paddings_shape),
    padding.not_negative("C5"),
    blocks.divisible("C6", "Height and width of the padded input divide by those of the block.", _parts),
    padding.zero_point("C7"),
    general.empty("C8"),
    general.declared_outputs("C9", _output_shapes),
    quantization.same_as_input("C10"),
    text_alone=("C5",),
)
