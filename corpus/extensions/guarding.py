"""Runs the code of a vendor's extension in a process of its own first: rules and oracles may end it, or have no end."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

from npu_conformance.corpus import extensions
from npu_conformance.specs.diagnostics.signal_name import signal_name
from npu_conformance.specs.documents import DocumentError

SECONDS = 60.0
"""How long the rules and oracles of a vendor may take."""


def tried(folders: Iterable[Path]) -> None:
    """Register extensions in another process. Raises DocumentError where one of them is bad, ends it, or has no end."""
    for number, folder in enumerate(known := list(folders)):
        before = known[:number]
        problem = bytes(guarded(lambda: _problem([*before, folder]), folder))  # noqa: B023  called at once
        if problem:
            raise DocumentError(problem.decode(), "", "")


def _problem(folders: list[Path]) -> bytes:
    try:
        with extensions.registered(folders):
            return b""
    except DocumentError as error:
        return str(error).encode()


def guarded(work: Callable[[], bytes], folder: Path) -> bytes:
    """Do the work in another process; returns what it returned. DocumentError, about the folder, where it does not."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    with warnings.catch_warnings():  # other threads, which Python 3.12 warns of, have no part in this
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if process == 0:
        os.close(reading)
        _work(work, writing)
    os.close(writing)
    is_over = False
    try:
        with open(reading, "rb") as answer:
            told, is_over = _read(answer.fileno(), SECONDS)
    finally:  # an interrupt leaves no process behind
        if not is_over:
            os.kill(process, signal.SIGKILL)
        status = os.waitpid(process, 0)[1]
    if not is_over:
        raise DocumentError(str(folder), "", f"its rules and oracles do not come to an end within {SECONDS:g} s")
    if not told.startswith(_DONE):
        raise DocumentError(str(folder), "", f"the process that executes its rules and oracles {_fate(status)}")
    return told.removeprefix(_DONE)


_DONE = b"done "


def _work(work: Callable[[], bytes], writing: int) -> None:
    """What the other process does; it never returns."""
    try:
        answer = _DONE + work()
        with open(writing, "wb") as file:
            file.write(answer)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(1)


def _read(descriptor: int, seconds: float) -> tuple[bytes, bool]:
    """What was written until the other end was closed, and whether it was in time."""
    told, deadline = b"", time.monotonic() + seconds
    while select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))[0]:
        chunk = os.read(descriptor, 1 << 16)
        if not chunk:
            return told, True
        told += chunk
    return told, False


def _fate(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"was killed by {signal_name(os.WTERMSIG(status))}"
    return f"ended itself with status {os.waitstatus_to_exitcode(status)}"
