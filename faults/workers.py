"""Runs work in a forked child: what it changes, breaks or never finishes stays there."""

from __future__ import annotations

import os
import select
import signal
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

Answer = TypeVar("Answer")
_PIPE_READ = 1 << 16


@dataclass(frozen=True)
class Ended:
    """A child that gave no answer. reason: in words."""

    reason: str


def in_child(work: Callable[[], Answer], kind: type[Answer], seconds: float) -> Answer | Ended:
    """Run `work` in a fork of this process and return its answer (JSON-able, of this kind).

    Ended where the child died, or needed more than `seconds` and was killed.
    """
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # numpy's threads are idle, and the child uses none of what they hold.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.close(reading)
        _serve(work, writing)
    os.close(writing)
    try:
        data = _read(reading, time.monotonic() + seconds)
    finally:
        os.close(reading)
        if not _ended(child):
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if data is None:
        return Ended(f"no end within {seconds:g} s")
    if not data:
        return Ended(f"died with {_spell(status)}")
    return msgspec.json.decode(data, type=kind)


def _serve(work: Callable[[], Any], writing: int) -> None:
    """Never returns: nothing of the parent's, such as its open files or exit handlers, may run twice."""
    code = 1
    try:
        data = memoryview(msgspec.json.encode(work()))
        while data:
            data = data[os.write(writing, data) :]
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)


def _read(reading: int, deadline: float) -> bytes | None:
    """All the child writes, or null where it is not done by the deadline (of time.monotonic)."""
    data = b""
    while True:
        ready, _, _ = select.select([reading], [], [], max(deadline - time.monotonic(), 0.0))
        if not ready:
            return None
        block = os.read(reading, _PIPE_READ)
        if not block:
            return data
        data += block


def _ended(child: int) -> bool:
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _spell(status: int) -> str:
    return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit code {os.WEXITSTATUS(status)}"
