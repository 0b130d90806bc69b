"""Counts what a process holds: the counts before and after show what was not given back."""

from __future__ import annotations

import os
from dataclasses import dataclass

_SHARED = ("/dev/shm/", "/memfd:")


@dataclass(frozen=True)
class Resources:
    """Open descriptors, mappings of shared memory, and threads of a process."""

    descriptors: int
    shared_mappings: int
    threads: int


def resources_of(process: int) -> Resources | None:
    """Count what a process holds. None where it is gone, or another user's."""
    folder = f"/proc/{process}"
    try:
        with open(f"{folder}/maps") as maps:
            shared = sum(any(name in line for name in _SHARED) for line in maps)
        return Resources(len(os.listdir(f"{folder}/fd")), shared, len(os.listdir(f"{folder}/task")))
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
