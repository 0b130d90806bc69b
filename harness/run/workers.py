"""Who does the parts of long work: threads here that wait for processes, or the workers of a Dask cluster."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.specs.installing import pip_install

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
_CONNECT_SECONDS = 10.0
"""For the first connection, and for one that is lost: after that the scheduler has gone away."""

PARTS_A_JOB = 4
"""Into how many parts work is cut for each that is done at once on a cluster: a worker that dies costs one of them."""


@dataclass(frozen=True)
class Workers:
    """Takes parts. jobs: how many are done at once."""

    executor: Executor
    jobs: int


def require_dask() -> None:
    """Raise LoadError where Dask is not installed: before anything else is done."""
    if importlib.util.find_spec("distributed") is None:
        raise LoadError(f"--scheduler: Dask is not installed: {pip_install('cluster')}")


@contextmanager
def cluster(scheduler: str, jobs: int | None = None) -> Iterator[Workers]:
    """The workers of a Dask scheduler: one part a thread, unless `jobs` says fewer. A worker that dies costs its part.

    The suite and the plug-in have to be installed on the workers. Raises LoadError where the scheduler cannot be
    reached, or has no workers.
    """
    require_dask()
    distributed: Any = importlib.import_module("distributed")
    addressing: Any = importlib.import_module("distributed.comm.addressing")
    try:
        addressing.resolve_address(scheduler)  # of a wrong address the client itself says more than one line, and late
        client = distributed.Client(scheduler, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise LoadError(f"--scheduler {scheduler}: {type(error).__name__}: {error}") from None
    with client:
        threads = sum(client.nthreads().values())
        if threads == 0:
            raise LoadError(f"--scheduler {scheduler}: it has no workers")
        executor = _Executor(client)
        try:
            yield Workers(executor, jobs or threads)
        finally:
            with contextlib.suppress(Exception):  # the scheduler may have gone, and there is nothing left to end
                executor.shutdown(wait=False)


class _Executor(Executor):
    """The workers of a client. What Dask's own executor takes while its client is closed never ends."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._parts = client.get_executor(pure=False, retries=0)

    def submit(
        self, work: Callable[Parameters, Result], /, *arguments: Parameters.args, **named: Parameters.kwargs
    ) -> Future[Result]:
        """See Executor. Raises ConnectionError where the scheduler has gone away."""
        if self._client.status in ("closing", "closed"):
            raise ConnectionError("the scheduler has gone away")
        future: Future[Result] = self._parts.submit(work, *arguments, **named)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """See Executor."""
        self._parts.shutdown(wait=wait)
