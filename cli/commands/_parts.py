"""Parts of long work that are commands of this suite: run in processes here, or by the workers of a Dask cluster."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from npu_conformance.harness.judge.outcome_table import USAGE
from npu_conformance.harness.run import commands, workers
from npu_conformance.harness.run.commands import Ended
from npu_conformance.harness.subject.plugin_loading import LoadError

Submit = Callable[[tuple[str, ...]], "Future[Ended]"]


class LostError(Exception):
    """A part did not end in order. The text is a line that says so."""


@contextmanager
def takers(scheduler: str, jobs: int | None) -> Iterator[tuple[Submit, int]]:
    """What takes a command's arguments, and how many are run at once. Leaving ends those that are still running.

    jobs: at once; None on a cluster: as many as its workers can do.
    """
    if scheduler:
        with workers.cluster(scheduler, jobs) as found:
            yield lambda words: found.executor.submit(commands.run, words), found.jobs
        return
    stop, count = threading.Event(), jobs or 1
    with ThreadPoolExecutor(count) as executor:
        try:
            yield lambda words: executor.submit(commands.run, words, stop), count
        finally:
            stop.set()


def left_by(name: str, future: Future[Ended], file: str) -> Ended:
    """What a part has left, among it this file. Raises LostError, or LoadError where it could not begin."""
    problem = future.exception()
    if problem is not None:
        raise LostError(f"{name} is lost: {type(problem).__name__}: {problem}")
    part = future.result()
    if part.exit_code == USAGE:
        raise LoadError(f"{name}: {part.errors.strip()}")
    if file not in part.files:
        last = part.errors.strip().splitlines()[-1:]
        raise LostError(f"{name} is lost: it ended with status {part.exit_code}: {' '.join(last)}")
    return part
