"""BATCH_TO_SPACE_ND: batches become the pixels of a block; the batch index is (row, column, output batch).

Hazard: block-order.
"""

from npu_conformance.corpus.oracles._blocks import Pixel, is_channels_first, moved_pixels, pixel_of
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present


def batch_to_space_nd(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: image, height and width of the block, channels first or not."""
    source, (down, right) = present(inputs[0]), present(inputs[1]).integers
    first = is_channels_first(inputs[2] if len(inputs) > 2 else None)
    batches, height, width, channels = pixel_of(source.dimensions, first)
    fewer = batches // (down * right)

    def origin(batch: int, row: int, column: int, channel: int) -> Pixel:
        within = (row % down) * right + column % right
        return within * fewer + batch, row // down, column // right, channel

    return [moved_pixels(source, first, (fewer, height * down, width * right, channels), origin)]
