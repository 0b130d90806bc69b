"""Metrics of models of speech: distortion of the spectrum, error of the pitch, wrong phones.

A frame of MLTS's acoustic model for synthesis is 49 numbers: 40 mel-cepstral amplitudes, 7 aperiodicities, the
logarithm of the fundamental frequency F0, voicing (above 0 where the frame is voiced). Arrays here are [frames, 49].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy

from npu_conformance.mlts.lib.metrics.errors import errors

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array

FRAME = 49
_AMPLITUDES = slice(1, 40)
"""The first amplitude, the energy, is left out."""
_LOG_F0, _VOICING = 47, 48
_DECIBELS = 10.0 * 2.0**0.5 / numpy.log(10.0)


def mel_cepstral_distortion(found: Array, expected: Array) -> float:
    """The mean over frames of 10 / ln 10 * sqrt(2 * sum over d of (found - expected)^2), d from 1 to 39, in dB.

    R. Kubichek, Mel-cepstral distance measure for objective speech quality assessment, IEEE PACRIM 1993.
    """
    squares = numpy.square(_distances(found, expected, _AMPLITUDES))
    return float(_DECIBELS * numpy.sqrt(squares.sum(axis=1)).mean())


def mel_cepstral_error(found: Array, expected: Array) -> float:
    """What MLTS calls distortion: the root of the mean square over frames and amplitudes, not scaled (ML-ACC-002)."""
    return float(numpy.sqrt(numpy.square(_distances(found, expected, _AMPLITUDES)).mean()))


def log_f0_error(found: Array, expected: Array) -> float:
    """The root of the mean square error of log F0 over frames that are voiced in both (ML-ACC-002).

    0 where nothing is to be voiced. MLTS also says 0 where no frame happens to be voiced in both; here that is
    infinite, or else a model that is silent would be perfect.
    """
    wanted, both = expected[:, _VOICING] > 0, (found[:, _VOICING] > 0) & (expected[:, _VOICING] > 0)
    if not both.any():
        return float("inf") if wanted.any() else 0.0
    return float(numpy.sqrt(numpy.square(_distances(found, expected, slice(_LOG_F0, _LOG_F0 + 1))[both]).mean()))


def phones_of(scores: Array) -> list[int]:
    """The best class of each frame; scores: [frames, classes]. Raises ValueError where one is no number."""
    if numpy.isnan(scores).any():
        raise ValueError("a score is no number")
    return [int(phone) for phone in scores.argmax(axis=1)]


def merged(phones: Sequence[int]) -> list[int]:
    """Each run of equal phones as one."""
    return [phone for place, phone in enumerate(phones) if not place or phone != phones[place - 1]]


def edit_distance(found: Sequence[int], expected: Sequence[int]) -> int:
    """The least number of insertions, deletions and substitutions between two sequences (Levenshtein)."""
    row = list(range(len(expected) + 1))
    for count, phone in enumerate(found, start=1):
        above, row = row, [count]
        for place, wanted in enumerate(expected):
            row.append(min(above[place + 1] + 1, row[place] + 1, above[place] + (phone != wanted)))
    return row[-1]


def phone_error_rate(found: Sequence[int], expected: Sequence[int]) -> float:
    """The edit distance over the number of expected phones; it can be above 1.

    MLTS compares with the phones of the golden output, a frame a phone, and multiplies by 100 (ML-ACC-003: at most 5).
    Raises ValueError where nothing is expected.
    """
    if not len(expected):
        raise ValueError("no phone is expected")
    return edit_distance(found, expected) / len(expected)


def _distances(found: Array, expected: Array, dims: slice) -> Array:
    if found.ndim != 2 or found.shape[1:] != (FRAME,) or found.shape != expected.shape:
        raise ValueError(f"expected two arrays [frames, {FRAME}], found {found.shape} and {expected.shape}")
    return errors(found[:, dims], expected[:, dims])
