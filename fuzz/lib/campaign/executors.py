"""Where rounds are done: in threads of this process that wait for fuzzers' processes, or on a Dask cluster."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

from npu_conformance.fuzz.lib.campaign.noting import Note
from npu_conformance.fuzz.lib.campaign.rounds import Round, run_round
from npu_conformance.fuzz.lib.campaign.under_way import UnderWay
from npu_conformance.harness.run import workers


@dataclass(frozen=True)
class Workers:
    """Who does rounds. jobs: how many at once. under_way: what those on this machine are doing."""

    executor: Executor
    round: Round
    jobs: int
    under_way: UnderWay = field(default_factory=UnderWay)


@contextmanager
def local(jobs: int, note: Note | None = None) -> Iterator[Workers]:
    """So many rounds at once on this machine; leaving ends those that are still running. note: see `run_round`."""
    stop, under_way = threading.Event(), UnderWay()
    with ThreadPoolExecutor(jobs) as executor:
        try:
            here = functools.partial(run_round, stop=stop, under_way=under_way, note=note)
            yield Workers(executor, here, jobs, under_way)
        finally:
            stop.set()


@contextmanager
def cluster(scheduler: str, jobs: int | None) -> Iterator[Workers]:
    """Rounds on the workers of a Dask scheduler. See harness.run.workers."""
    with workers.cluster(scheduler, jobs) as found:
        yield Workers(found.executor, run_round, found.jobs)
