"""SPACE_TO_DEPTH: the pixels of a block become channels, all channels of its first pixel first (hazard block-order)."""

from npu_conformance.corpus.oracles._blocks import Pixel, is_channels_first, moved_pixels, pixel_of
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present


def space_to_depth(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: image, block size, channels first or not."""
    source, block = present(inputs[0]), int(present(inputs[1]).scalar)
    first = is_channels_first(inputs[2] if len(inputs) > 2 else None)
    batches, height, width, channels = pixel_of(source.dimensions, first)

    def origin(batch: int, row: int, column: int, deep: int) -> Pixel:
        within, channel = divmod(deep, channels)
        down, right = divmod(within, block)
        return batch, row * block + down, column * block + right, channel

    sizes = (batches, height // block, width // block, channels * block * block)
    return [moved_pixels(source, first, sizes, origin)]
