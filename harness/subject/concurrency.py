"""Makes calls at once, each in a thread of its own, and gathers their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import TypeVar

from npu_conformance.harness.judge.verdicts import CaseEnded, NotApplicable
from npu_conformance.specs.errors import DeadObject, InterfaceError

Result = TypeVar("Result")


def run_concurrently(
    calls: Sequence[Callable[[], Result]], most: int, around: Callable[[], AbstractContextManager[None]]
) -> list[Result | InterfaceError]:
    """Run the calls, at most `most` at a time; returns results, or errors of the interface, in order.

    around: the context that each thread enters while it calls. Raises NotApplicable where `most` is 1. All calls have
    ended when it returns or raises: a verdict first, which says more than the errors that follow from it, then any
    other error.
    """
    if most < 2:
        raise NotApplicable("the subject takes one call after the other")

    def run(call: Callable[[], Result]) -> Result:
        with around():
            return call()

    with ThreadPoolExecutor(min(most, len(calls))) as threads:
        futures = [threads.submit(run, call) for call in calls]
    errors = [future.exception() for future in futures]
    problems = [error for error in errors if error is not None]
    ended = [error for error in problems if isinstance(error, CaseEnded)]
    others = [error for error in problems if isinstance(error, DeadObject) or not isinstance(error, InterfaceError)]
    if worst := [*ended, *others]:
        raise worst[0]
    return [
        error if isinstance(error, InterfaceError) else future.result()
        for future, error in zip(futures, errors, strict=True)
    ]
