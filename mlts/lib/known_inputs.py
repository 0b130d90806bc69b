"""New inputs and one that is repeated, by turns: whether a device answers the repeated one without computing it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from npu_conformance.mlts.lib import times
from npu_conformance.mlts.lib.loaded_model import Inference

_BLOCK = 4
"""Inferences of each kind that count in a turn."""
_SOONER = 0.8
"""An answer that comes within this part of the time of others was not computed: MLPerf's audits allow 0.9."""
_NOTICEABLE = 0.1
"""Milliseconds by which it comes sooner, at least: what comes and goes with caches and transports is less."""


class KnownInputs:
    """The inferences of one implementation: `fresh` with new inputs, `known` with the one that is repeated.

    Each kind begins every other turn. The first inference of a block does not count: it finds the caches of the machine
    as another implementation has left them, or the device with another input.
    """

    def __init__(self, infer: Callable[[], Inference], repeat: Callable[[], Inference]) -> None:
        self.fresh: list[Inference] = []
        self.known: list[Inference] = []
        self._blocks = [(infer, self.fresh), (repeat, self.known)]

    @property
    def told(self) -> str:
        """What is wrong, in words; empty where answers to the known input do not come sooner by more than chance.

        By the caller's clock, and by the device's own, which knows nothing of transports, where it tells it each time.
        """
        clocks = ("", _seconds), (" on the device", _seconds_on_device)
        found = (_sooner(where, seconds(self.fresh), seconds(self.known)) for where, seconds in clocks)
        return next(filter(None, found), "")

    def turn(self) -> float:
        """A block of each kind; the seconds of the inferences that count."""
        counted = sum(_block(step, kept) for step, kept in self._blocks)
        self._blocks.reverse()
        return counted


def _block(step: Callable[[], Inference], kept: list[Inference]) -> float:
    step()
    found = [replace(step(), outputs={}) for _ in range(_BLOCK)]
    kept += found
    return sum(_seconds(found))


def _seconds(inferences: Sequence[Inference]) -> list[float]:
    return [one.seconds for one in inferences]


def _seconds_on_device(inferences: Sequence[Inference]) -> list[float]:
    """None of them where the device does not tell all."""
    told = [one.on_device for one in inferences if one.on_device is not None]
    return told if len(told) == len(inferences) else []


def _sooner(where: str, fresh: Sequence[float], known: Sequence[float]) -> str:
    """How much sooner known inputs are answered, in words; empty where they are not."""
    if not fresh or not known:
        return ""
    first, second = times.of_seconds("", "fresh", fresh), times.of_seconds("", "known", known)
    if first.low is None or second.high is None:
        return ""
    if second.high >= _SOONER * first.low or second.high > first.low - _NOTICEABLE:
        return ""
    return f"answers to an input that is repeated take {second.value:.3g} ms{where}, to others {first.value:.3g} ms"
