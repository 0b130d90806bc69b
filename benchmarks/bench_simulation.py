"""Measures how fast `npu simulate` is: a million events within a minute; the slowest policy counts."""

from __future__ import annotations

import time
from collections.abc import Iterator

from benchmarks.figures import Figure
from npu_conformance.simulation.generate import generate
from npu_conformance.simulation.world import World

_APPS, _SEED, _MINUTES = 2000, 7, 20
_EVENTS_PER_SECOND = 1_000_000 / 60


def figures() -> Iterator[Figure]:
    """The events per second of processor time, putting apps together included, of each policy."""
    scenario = generate(_APPS, _SEED, _MINUTES)
    for choice in scenario.policies:
        started = time.process_time()
        events = World(scenario, choice).run().events
        rate = events / (time.process_time() - started)
        yield Figure(f"simulated events, {choice.title}", rate, "/s", aim=_EVENTS_PER_SECOND, at_least=True)
