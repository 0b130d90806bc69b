"""Who does the parts of long work: threads here that wait for processes, or the workers of a Dask cluster."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from npu_conformance.harness.subject.plugin_loading import LoadError

_CONNECT_SECONDS = 10.0

PARTS_A_JOB = 4
"""Into how many parts work is cut for each that is done at once on a cluster: a worker that dies costs one of them."""


@dataclass(frozen=True)
class Workers:
    """Takes parts. jobs: how many are done at once."""

    executor: Executor
    jobs: int


@contextmanager
def cluster(scheduler: str, jobs: int | None = None) -> Iterator[Workers]:
    """The workers of a Dask scheduler: one part a thread, unless `jobs` says fewer. A worker that dies costs its part.

    The suite and the plug-in have to be installed on the workers. Raises LoadError where the scheduler cannot be
    reached, or has no workers.
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
            yield Workers(executor, jobs or threads)
        finally:
            with contextlib.suppress(Exception):  # the scheduler may have gone, and there is nothing left to end
                executor.shutdown(wait=False)
