"""Where rounds are done: in threads of this process that wait for fuzzers' processes, or on a Dask cluster."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from npu_conformance.fuzz.lib.campaign.rounds import Round, Stop, run_round
from npu_conformance.harness.subject.plugin_loading import LoadError

_CONNECT_SECONDS = 10.0


@dataclass(frozen=True)
class Workers:
    """Who does rounds. jobs: how many at once."""

    executor: Executor
    round: Round
    jobs: int


@contextmanager
def local(jobs: int) -> Iterator[Workers]:
    """So many rounds at once on this machine; leaving ends those that are still running."""
    stop = Stop()
    with ThreadPoolExecutor(jobs) as executor:
        try:
            yield Workers(executor, functools.partial(run_round, stop=stop), jobs)
        finally:
            stop.set()


@contextmanager
def cluster(scheduler: str, jobs: int | None) -> Iterator[Workers]:
    """Rounds on the workers of a Dask scheduler, one a thread unless `jobs` says fewer.

    The plug-in has to be installed on the workers. A worker that dies costs its round. Raises LoadError where the
    scheduler cannot be reached, or has no workers.
    """
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise LoadError("--scheduler: Dask is not installed; `pip install npu-conformance[cluster]`") from None
    try:
        client = distributed.Client(scheduler, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise LoadError(f"--scheduler {scheduler}: {type(error).__name__}: {error}") from None
    with client:
        threads = sum(client.nthreads().values())
        if threads == 0:
            raise LoadError(f"--scheduler {scheduler}: it has no workers")
        executor = client.get_executor(pure=False, retries=0)
        try:
            yield Workers(executor, run_round, jobs or threads)
        finally:
            executor.shutdown(wait=False)
