"""Measures what merging a round costs, and simulates how many workers one campaign can keep busy."""

from __future__ import annotations

import heapq
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure
from npu_conformance.fuzz.lib.campaign.campaign import Campaign, Limits
from npu_conformance.fuzz.lib.campaign.documents import Kept, RoundJob, RoundResult, Settings
from npu_conformance.fuzz.lib.campaign.executors import local
from npu_conformance.fuzz.lib.campaign.folder import CampaignFolder
from npu_conformance.fuzz.lib.campaign.shares import Arm

WORKERS = (1, 2, 4, 10, 100, 1000)
ROUND_SECONDS = (2.0, 20.0)
"""The shortest round of a campaign, and that of a long one."""
_CORPUS, _KEPT, _BYTES = 2000, 20, 1000
"""Inputs of the corpus, and of a round that finds something new now and then; bytes of each."""
_ROUNDS = 40
_SIMULATED_ROUNDS = 50
"""Of each worker."""
_SPREAD = 0.1
"""Of the length of rounds: the last input ends when it ends."""


def figures() -> Iterator[Figure]:
    """Seconds for a round, and for each number of workers the share of their time that is used."""
    seconds = merge_seconds()
    yield Figure("merging a round and making the next job", 1000 * seconds, "ms", f"corpus of {_CORPUS} inputs")
    for length in ROUND_SECONDS:
        for workers in WORKERS:
            share, model = simulated(workers, length, seconds), modelled(workers, length, seconds)
            yield Figure(
                f"{workers} workers, rounds of {length:g} s", 100 * share, "% used", f"model {100 * model:.1f} %"
            )


def modelled(workers: int, length: float, merge: float) -> float:
    """The share of the workers' time that goes into rounds: all are busy until merging takes all of one process.

    A round of `length` seconds waits for its merge; one process merges, so that at most 1 / merge rounds a second end.
    """
    return min(length / (length + merge), length / (workers * merge))


def simulated(workers: int, length: float, merge: float) -> float:
    """The same by events: rounds end when they end, and are merged one after the other."""
    source = random.Random(1)
    ends = [length * (1 + _SPREAD * source.uniform(-1, 1)) for _ in range(workers)]
    heapq.heapify(ends)
    free, done = 0.0, 0
    while done < workers * _SIMULATED_ROUNDS:
        free = max(heapq.heappop(ends), free) + merge
        heapq.heappush(ends, free + length * (1 + _SPREAD * source.uniform(-1, 1)))
        done += 1
    return done * length / (free * workers)


def merge_seconds() -> float:
    """Processor time for one round, of a corpus of usual size."""
    with tempfile.TemporaryDirectory() as place:
        settings = Settings(format=1, plugin="driver:plugin", options={}, hal=None)
        folder = CampaignFolder(Path(place), settings)
        folder.add(_result(0, _CORPUS), 0, 0.0)
        job = RoundJob(fuzzer="", plugin="driver:plugin", options={}, hal=None, engine="evolution", seed=0)
        arm = Arm("models", "evolution")
        with local(1) as workers:
            campaign = Campaign(folder, job, [arm], Limits(60.0, None), workers)
            begun = time.process_time()
            for number in range(1, _ROUNDS + 1):
                folder.add(_result(_CORPUS * number, _KEPT), number, float(number))
                campaign.job_for(arm)
            seconds = (time.process_time() - begun) / _ROUNDS
        folder.close()
        return seconds


def _result(first: int, count: int) -> RoundResult:
    """A round that shows so many new things, as each of the inputs that it kept does."""
    kept = tuple(
        Kept(data=f"{number:0{_BYTES}}".encode(), features=tuple(range(4 * number, 4 * number + 4)))
        for number in range(first, first + count)
    )
    return RoundResult(fuzzer="models", engine="evolution", executions=1, seconds=1.0, start_seconds=0.0, kept=kept)
