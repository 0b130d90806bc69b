"""Counts what a process holds: the counts before and after show what was not given back."""

from __future__ import annotations

import os

import msgspec

_SHARED = (b"/dev/shm/", b"/memfd:")


class Holdings(msgspec.Struct, frozen=True):
    """Open descriptors, mappings of shared memory and threads of so many processes. memory: private, in KiB."""

    descriptors: int
    shared_mappings: int
    threads: int
    processes: int
    memory: int


COUNTS = tuple(name for name in Holdings.__struct_fields__ if name != "memory")
"""What is counted; memory comes and goes by itself."""


def holdings_of(process: int) -> Holdings | None:
    """What one process holds. None where it is gone, or another user's."""
    folder = f"/proc/{process}"
    try:
        with open(f"{folder}/maps", "rb") as maps:  # the names of files and threads are bytes, with any byte
            shared = sum(any(name in line for name in _SHARED) for line in maps)
        descriptors, threads = len(os.listdir(f"{folder}/fd")), len(os.listdir(f"{folder}/task"))
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    return Holdings(descriptors, shared, threads, 1, private_kib(process))


def private_kib(process: int) -> int:
    """The memory in KiB that is a process's own, swapped out or not; 0 where it is gone, or another user's."""
    try:
        with open(f"/proc/{process}/status", "rb") as status:
            lines = [line for line in status if line.startswith((b"RssAnon:", b"VmSwap:"))]
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return 0
    return sum(int(line.split()[1]) for line in lines)


def children_of(pid: int) -> list[int]:
    """Processes that a process's main thread has started, the oldest first.

    Empty also where the process is gone, or the kernel does not tell (CONFIG_PROC_CHILDREN).
    """
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return list(map(int, file.read().split()))
    except OSError:
        return []


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, those that they have started, and so on.

    Asked of each process, which knows its parent. A parent's threads, asked one after the other, may all keep silent of
    a child: where a thread ends, its children are passed on to another, which may have been asked before.
    """
    children: dict[int, list[int]] = {}
    for name in filter(str.isdecimal, os.listdir("/proc")):
        children.setdefault(_parent_of(name), []).append(int(name))
    found, waiting = [], [pid]
    while waiting:
        born = children.get(waiting.pop(), [])
        found += born
        waiting += born
    return found


def _parent_of(name: str) -> int:
    """The parent of a process; -1 where it has gone."""
    try:
        with open(f"/proc/{name}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except OSError:
        return -1
