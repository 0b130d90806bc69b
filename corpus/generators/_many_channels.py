"""Convolutions of many channels: what a device computes in whole blocks of them, and what it keeps in a table."""

import math
from collections.abc import Sequence

from npu_conformance.corpus.generators._convolutions import Sizes, Values, vector
from npu_conformance.corpus.generators._windows import Window
from npu_conformance.corpus.generators.base import Vectors
from npu_conformance.corpus.generators.data import uniform
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.documents.vectors import GeneratorDocument

_SCALE_CYCLE, _SCALE_STEP = 67, 7


def many_channels(blocks: Sizes, table: Sizes) -> Vectors:
    """blocks: with windows of whole blocks. table: with more than 64 output channels."""
    yield _blocks_need_all_bits(blocks)
    for kind in ("per_channel", "per_channel_signed"):
        scales = tuple(map(_channel_scale, range(table.out_channels)))
        values = Values(kind, scales=(1 / 16, 1.0, 0.25), filter_scales=scales, seed=31)
        about = "a scale for each of more than 64 channels: those 8, 16, 32 or 64 places apart differ"
        name = f"{kind}_{table.out_channels}_channels"
        yield vector(name, table, Window("valid", nchw=False), values, description=about, hazards=["bias-scale"])


def beyond_a_byte(sizes: Sizes) -> Vectors:
    """sizes: with more than 256 output channels, whose number is no multiple of a block."""
    for kind in ("float32", "quant8"):
        name, about = f"{kind}_{sizes.out_channels}_channels", "the number of a channel needs more than a byte"
        yield vector(name, sizes, Window("valid", nchw=False), Values(kind, seed=43), description=about)
    scales = tuple(map(_channel_scale, range(sizes.out_channels)))
    values = Values("per_channel_signed", scales=(1 / 16, 1.0, 0.25), filter_scales=scales, seed=47)
    name, about = "per_channel_signed_beyond_a_byte", "a table of scales with more than 256 places"
    yield vector(name, sizes, Window("valid", nchw=False), values, description=about, hazards=["bias-scale"])


def large_windows(sizes: Sizes) -> Vectors:
    """sizes: with a window of more than three rows that takes more than sixteen places in a row."""
    for kind in ("float32", "quant8"):
        about = "rows of more than a block under a window of five"
        yield vector(
            f"{kind}_large_window", sizes, Window("valid", nchw=False), Values(kind, seed=61), description=about
        )


def wide_sums(sizes: Sizes) -> Vectors:
    """Sums of many large products of one sign. sizes: with windows of 900 elements or more."""
    factors = math.prod(sizes.filter) // sizes.out_channels
    for kind, low, high in (("quant8", 200, 255), ("per_channel", 100, 127)):
        largest = (1 / 16) * (1 / 128) * factors * 255 * high
        values = Values(
            kind,
            scales=(1 / 16, 1 / 128, largest / 255),
            zero_points=(0, 0, 0),
            source=GeneratorDocument(kind="integers", seed=51, low=200, high=255),
            weights=GeneratorDocument(kind="integers", seed=52, low=low, high=high),
            filter_scales=(1 / 128,) * sizes.out_channels,
        )
        about = "sums of products that need more than 24 bits"
        yield vector(f"{kind}_wide_sums", sizes, Window("valid", nchw=False), values, description=about)


def _channel_scale(channel: int) -> float:
    return (1 + channel * _SCALE_STEP % _SCALE_CYCLE / _SCALE_CYCLE) / 128


def _blocks_need_all_bits(sizes: Sizes) -> Vector:
    """Sums of 16 products below a half: float32 keeps them within 1e-5 in any order, fewer bits do not."""
    shape: Sequence[int] = (sizes.batches, *sizes.size, sizes.in_channels)
    values = Values(
        source=uniform(24, shape, -1.0, 1.0),
        weights=uniform(25, sizes.filter, -0.5, 0.5),
        bias=uniform(26, (sizes.out_channels,), -0.5, 0.5),
    )
    about = "values that need all 24 bits, in windows of whole blocks of 16"
    return vector("float32_all_bits_in_blocks", sizes, Window("valid"), values, description=about)
