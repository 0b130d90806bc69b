"""SPACE_TO_BATCH_ND: after padding with real zeros the pixels of a block become batches.

Hazards: pad-raw-zero and block-order.
"""

from npu_conformance.corpus.oracles._blocks import Pixel, is_channels_first, moved_pixels, pixel_of
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present


def space_to_batch_nd(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: image, height and width of the block, paddings [[top, bottom], [left, right]], channels first or not."""
    source, (down, right) = present(inputs[0]), present(inputs[1]).integers
    top, bottom, left, far = present(inputs[2]).integers
    first = is_channels_first(inputs[3] if len(inputs) > 3 else None)
    batches, height, width, channels = pixel_of(source.dimensions, first)

    def origin(many: int, row: int, column: int, channel: int) -> Pixel | None:
        within, batch = divmod(many, batches)
        shift_down, shift_right = divmod(within, right)
        y, x = row * down + shift_down - top, column * right + shift_right - left
        return (batch, y, x, channel) if 0 <= y < height and 0 <= x < width else None

    tall, wide = (height + top + bottom) // down, (width + left + far) // right
    return [moved_pixels(source, first, (batches * down * right, tall, wide, channels), origin)]
