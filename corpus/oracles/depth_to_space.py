"""DEPTH_TO_SPACE: channels become pixels of a block; a channel index is (row, column, output channel).

Hazard: block-order.
"""

from npu_conformance.corpus.oracles._blocks import Pixel, is_channels_first, moved_pixels, pixel_of
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present


def depth_to_space(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: image, block size, channels first or not."""
    source, block = present(inputs[0]), int(present(inputs[1]).scalar)
    first = is_channels_first(inputs[2] if len(inputs) > 2 else None)
    batches, height, width, depth = pixel_of(source.dimensions, first)
    channels = depth // (block * block)

    def origin(batch: int, row: int, column: int, channel: int) -> Pixel:
        within = (row % block) * block + column % block
        return batch, row // block, column // block, within * channels + channel

    return [moved_pixels(source, first, (batches, height * block, width * block, channels), origin)]
