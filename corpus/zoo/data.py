"""Inputs for fetched models: pictures prepared as MLTS does, the spectrum of speech, random numbers."""

from __future__ import annotations

import io
import math
import wave
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy

from npu_conformance.specs.installing import pip_install

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array

CROP = 0.875
"""The share of a picture's smaller side that is left (MLTS, imageprocessors/Inception.java; ML-ACC-007)."""
_RATE = 16000
_WINDOW, _HOP = 480, 320
"""Samples of a frame and between two frames: 30 and 20 ms."""
_LOWEST, _HIGHEST = 100.0, 7600.0


class DataError(Exception):
    """A file of a data set cannot be used, or a package that reads it is not installed. The message is one line."""


def pictures(files: Sequence[bytes], shape: Sequence[int], count: int, seed: int) -> Array:
    """Values 0..1, [count, 1, height, width, channels] of a shape [1, height, width, 3 or 1].

    As long as there are pictures each occurs once, cropped to the middle. Later ones are mirrored and cut elsewhere.
    """
    random = numpy.random.default_rng(seed)
    decoded = [_decode(file, shape[3]) for file in files]
    order = random.permutation(len(decoded))
    found = []
    for place in range(count):
        picture = decoded[order[place % len(decoded)]]
        offsets = (0.5, 0.5) if place < len(decoded) else tuple(random.uniform(0.0, 1.0, 2))
        mirrored = place >= len(decoded) and random.random() < 0.5
        prepared = scaled(cropped(picture, offsets), (shape[1], shape[2])) / 255.0
        found.append(prepared[:, ::-1] if mirrored else prepared)
    return numpy.stack(found)[:, None]


def cropped(picture: Array, offsets: tuple[float, ...] = (0.5, 0.5)) -> Array:
    """A square of 0.875 times the smaller side. offsets: where it lies, 0.5 in the middle."""
    side = int(CROP * min(picture.shape[:2]))
    row, column = (int((size - side) * offset) for size, offset in zip(picture.shape[:2], offsets, strict=True))
    return picture[row : row + side, column : column + side]


def scaled(picture: Array, sizes: tuple[int, int]) -> Array:
    """Bilinear interpolation between the centres of points, [height, width, channels], float64."""
    for axis, size in enumerate(sizes):
        length = picture.shape[axis]
        places = numpy.clip((numpy.arange(size) + 0.5) * length / size - 0.5, 0, length - 1)
        below = numpy.floor(places).astype(int)
        share = (places - below).reshape([-1 if other == axis else 1 for other in range(picture.ndim)])
        above = numpy.minimum(below + 1, length - 1)
        picture = picture.take(below, axis) * (1 - share) + picture.take(above, axis) * share
    return picture


def _decode(file: bytes, channels: int) -> Array:
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise DataError(f"pictures need Pillow: {pip_install('mlts')}") from None
    try:
        with Image.open(io.BytesIO(file)) as image:
            decoded = numpy.asarray(image.convert("RGB" if channels == 3 else "L"), dtype=numpy.float64)
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise DataError(f"a picture cannot be read: {error}") from None
    return decoded.reshape(*decoded.shape[:2], channels)


def spectra(file: bytes, shape: Sequence[int], count: int, steps: int, seed: int) -> Array:
    """Values 0..1 [count * steps, *shape]: logarithms of the energy in bands, of stretches of a recording.

    The first size of the shape above 1 is that of frames, the last that of bands. The steps of a sequence follow upon
    each other; where each begins the seed decides.
    """
    sizes = [size for size in shape if size > 1]
    frames, bands = sizes[0], sizes[-1]
    levels = _levels(recording(file), bands)
    last = len(levels) - frames * steps
    if last < 0:
        raise DataError(f"the recording has {len(levels)} frames, {frames * steps} are needed")
    starts = numpy.random.default_rng(seed).integers(0, last, count, endpoint=True)
    items = [levels[start + step * frames :][:frames] for start in starts for step in range(steps)]
    return numpy.stack(items).reshape(count * steps, *shape)


def recording(file: bytes) -> Array:
    """The samples of a .wav file of 16 bits, 16 kHz and one channel, in -1..1."""
    try:
        with wave.open(io.BytesIO(file)) as opened:
            form = (opened.getnchannels(), opened.getsampwidth(), opened.getframerate())
            samples = numpy.frombuffer(opened.readframes(opened.getnframes()), "<i2")
    except (wave.Error, EOFError, ValueError) as error:
        raise DataError(f"a recording cannot be read: {error}") from None
    if form != (1, 2, _RATE):
        raise DataError(f"a recording: expected 1 channel of 2 bytes at {_RATE} Hz, found {form}")
    return samples / 32768.0


def _levels(samples: Array, bands: int) -> Array:
    """Logarithmic energies [frames, bands], such that 1 % of them are below 0 and 1 % above 1 before they are cut."""
    starts = range(0, len(samples) - _WINDOW + 1, _HOP)
    frames = numpy.stack([samples[start : start + _WINDOW] for start in starts]) * numpy.hanning(_WINDOW)
    energy = numpy.abs(numpy.fft.rfft(frames, 1024)) ** 2
    levels = numpy.log(energy @ _filters(bands, energy.shape[1]).T + 1e-6)
    low, high = numpy.percentile(levels, [1, 99])
    # A recording of silence has no range.
    shares: Array = numpy.clip((levels - low) / ((high - low) or 1.0), 0.0, 1.0)
    return shares


def _filters(bands: int, bins: int) -> Array:
    """Triangular filters [bands, bins], whose middles are evenly spread on the mel scale."""
    edges = numpy.linspace(_mel(_LOWEST), _mel(_HIGHEST), bands + 2)
    hertz = 700.0 * (numpy.exp(edges / 1127.0) - 1.0)
    places = numpy.linspace(0.0, _RATE / 2, bins)
    rising = (places - hertz[:-2, None]) / (hertz[1:-1] - hertz[:-2])[:, None]
    falling = (hertz[2:, None] - places) / (hertz[2:] - hertz[1:-1])[:, None]
    # A band that lies between two points of the spectrum gets a little of all, so that none is silent for ever.
    filters: Array = numpy.clip(numpy.minimum(rising, falling), 1e-4, None)
    return filters


def _mel(frequency: float) -> float:
    return 1127.0 * math.log1p(frequency / 700.0)
