"""The end of hosts, and of what they leave behind, whose parent this process has become (a subreaper)."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable

from npu_conformance.harness.subject.holdings import children_of
from npu_conformance.harness.subject.process_group import child_has_ended

_REAPING_SECONDS = 5.0


def reaped(host: int) -> int:
    """Wait for the end of a host that was killed, and return its wait status."""
    child_has_ended(host, _REAPING_SECONDS)
    deadline = time.monotonic() + _REAPING_SECONDS
    while True:
        pid, status = os.waitpid(host, os.WNOHANG)
        if pid or time.monotonic() > deadline:
            return status if pid else signal.SIGKILL
        # Whoever traces it (ptrace) keeps its end from us: a child of its own, as a rule, which is ours by now.
        _kill(pid for pid in children_of(os.getpid()) if pid != host)
        time.sleep(0.001)


def _kill(processes: Iterable[int]) -> None:
    for pid in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def kill_orphans() -> None:
    """Kill and reap what hosts left behind: as a subreaper this process has become its parent.

    What is still there after some seconds is traced by a process that is none of them; it stays a zombie.
    """
    deadline = time.monotonic() + _REAPING_SECONDS
    while (children := children_of(os.getpid())) and time.monotonic() < deadline:
        _kill(children)
        if not any(_is_reaped(pid) for pid in children):
            time.sleep(0.001)


def _is_reaped(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True
