"""Signals and noise: the ratio of their powers in dB."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from npu_conformance.mlts.lib.metrics.errors import mean_squared_error

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array


def snr(found: Array, signal: Array) -> float:
    """10 log10 of the signal's power over that of what is added to it, in dB.

    Infinite where nothing is added, minus infinite where the signal is 0 or what was found is not finite.
    """
    noise, power = mean_squared_error(found, signal), float(numpy.square(signal.astype(numpy.float64)).mean())
    if not noise:
        return float("inf")
    if not power or noise == float("inf"):
        return float("-inf")
    return float(10.0 * numpy.log10(power / noise))


def snr_gain(found: Array, given: Array, signal: Array) -> float:
    """By how many dB an output is nearer to the signal than the input was."""
    return snr(found, signal) - snr(given, signal)
