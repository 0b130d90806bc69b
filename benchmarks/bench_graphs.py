"""Measures random graphs a second on one core: made with the oracles, executed by the reference, and judged."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.figures import Figure
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.vts.lib.graph_campaign import Campaign, plan

_WARM, _MEASURED = 60, 300


def figures() -> Iterator[Figure]:
    """By seconds of the processor, which other processes disturb less than the clock."""
    subject = open_subject("reference", {}, "inprocess")
    try:
        recipes = plan(subject, "small")
        with tempfile.TemporaryDirectory() as folder:
            campaign = Campaign(subject, recipes, Path(folder))
            whole = _a_second(campaign.run)
        yield Figure("small random graphs made", _a_second(recipes.graph), "/s")
        yield Figure("small random graphs made, executed and judged", whole, "/s", "", 300, at_least=True)
    finally:
        subject.close()


def _a_second(run: Callable[[int], object]) -> float:
    for seed in range(_WARM):
        run(seed)
    started = time.process_time()
    for seed in range(_WARM, _WARM + _MEASURED):
        run(seed)
    return _MEASURED / (time.process_time() - started)
