"""What a driver under stress does wrong: each does it, to a request where it needs one."""

from __future__ import annotations

import mmap
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

from npu_conformance.faults.stress.driver import Load, What, When
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus

_PAGE = 4096


def killed_by(number: signal.Signals) -> What:
    """Die of a signal."""

    def act(load: Load, about: Any) -> None:
        os.kill(os.getpid(), number)
        time.sleep(10.0)

    return act


def exits(load: Load, about: Any) -> None:
    """End with exit code 0."""
    os._exit(0)


def exits_with_1(load: Load, about: Any) -> None:
    """End with exit code 1."""
    os._exit(1)


def exits_later(load: Load, about: Any) -> None:
    """End a moment later, when nobody calls."""
    threading.Timer(0.02, os._exit, (0,)).start()


def hangs(load: Load, about: Any) -> None:
    """Never return."""
    threading.Event().wait()


def raises(load: Load, about: Any) -> None:
    """Raise what is no error of the interface."""
    raise ZeroDivisionError("a bug of the driver")


def refuses(load: Load, about: Any) -> None:
    """Fail, and say so."""
    raise ServiceError(ErrorStatus.GENERAL_FAILURE)


def runs_out(load: Load, about: Any) -> None:
    """Say that there is no resource left for now."""
    raise ServiceError(ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT)


def miscomputes(load: Load, request: types.Request) -> None:
    """Write a wrong output."""
    memory = request.pools[1].pool
    assert memory is not None
    load.context.memory.map(memory)[0] ^= 0x80


def clears(load: Load, request: types.Request) -> None:
    """Write no output, but what another client might have left."""
    memory = request.pools[1].pool
    assert memory is not None
    found = load.context.memory.map(memory)
    found[:] = bytes([0xA5]) * len(found)


def is_slow(load: Load, about: Any) -> None:
    """Take much longer."""
    time.sleep(0.02)


def leave_descriptor() -> None:
    """Open a file, and never close it."""
    os.open(os.devnull, os.O_RDONLY)


def leave_thread() -> None:
    """Start a thread that waits for ever."""
    threading.Thread(target=threading.Event().wait, daemon=True).start()


def leaks_descriptor(load: Load, about: Any) -> None:
    """See leave_descriptor."""
    leave_descriptor()


def leaks_thread(load: Load, about: Any) -> None:
    """See leave_thread."""
    leave_thread()


def leaks_shared_memory(load: Load, about: Any) -> None:
    """Map shared memory, and never unmap it."""
    descriptor = os.memfd_create("leak")
    os.ftruncate(descriptor, _PAGE)
    load.kept.append(mmap.mmap(descriptor, _PAGE))
    os.close(descriptor)


def leaks_memory(size: int) -> What:
    """Keep so many bytes that were written to."""

    def act(load: Load, about: Any) -> None:
        load.kept.append(bytes([1]) * size)

    return act


def leaks_child(load: Load, about: Any) -> None:
    """Start a process, and never end it."""
    subprocess.Popen(["sleep", "600"])


def starts_helper(load: Load, about: Any) -> None:
    """Have a process of its own for the work."""
    load.children.append(subprocess.Popen(["sleep", "600"]))


def replaces_helper(load: Load, about: Any) -> None:
    """Lose that process, and start another: no call fails."""
    if load.ends_helper():
        starts_helper(load, about)


def loses_helper(load: Load, about: Any) -> None:
    """Lose that process for good, which shows in the log only."""
    if load.ends_helper():
        print("F libc: Fatal signal 11 (SIGSEGV), code 1 in tid 4711 (npu-helper)", file=sys.stderr, flush=True)


def on(when: When, what: What) -> What:
    """Do something when something holds."""

    def act(load: Load, about: Any) -> None:
        if when(load, about):
            what(load, about)

    return act
