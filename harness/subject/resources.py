"""Counts what a process holds: the counts before and after show what was not given back."""

from __future__ import annotations

import os
import resource

import msgspec

from npu_conformance.harness.subject.plugin_loading import LoadError

_SHARED = ("/dev/shm/", "/memfd:")


class Resources(msgspec.Struct, frozen=True):
    """Open descriptors, mappings of shared memory, and threads of a process."""

    descriptors: int
    shared_mappings: int
    threads: int


_LEAST_DESCRIPTORS, _MANY_DESCRIPTORS = 64, 1 << 16
"""Open files without which nothing runs, and those that are asked for: pools and cache files of a case, beside logs:
mostly below a hundred, and a thousand at most.
"""


def require_descriptors() -> None:
    """Raise this process's limit of open files, and that of what it starts, as far as it may. LoadError if too low."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MANY_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _MANY_DESCRIPTORS)
    if most < _LEAST_DESCRIPTORS:
        raise LoadError(f"a run needs at least {_LEAST_DESCRIPTORS} open files, and the limit is {hard} (ulimit -n)")
    if most > soft != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def resources_of(process: int) -> Resources | None:
    """Count what a process holds. None where it is gone, or another user's."""
    folder = f"/proc/{process}"
    try:
        with open(f"{folder}/maps") as maps:
            shared = sum(any(name in line for name in _SHARED) for line in maps)
        return Resources(len(os.listdir(f"{folder}/fd")), shared, len(os.listdir(f"{folder}/task")))
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None


def private_kib(process: int) -> int:
    """The memory in KiB that is a process's own, swapped out or not; 0 where it is gone, or another user's."""
    try:
        with open(f"/proc/{process}/status") as status:
            lines = [line for line in status if line.startswith(("RssAnon:", "VmSwap:"))]
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return 0
    return sum(int(line.split()[1]) for line in lines)
