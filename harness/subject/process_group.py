"""Commands that end with all that they have started. Each has a session of its own (`start_new_session`)."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subprocess import Popen  # 10 ms, which most runs do not need


def has_ended(process: Popen[bytes], seconds: float = 0.0) -> bool:
    """Wait for so long, and say whether the command has ended. It is not reaped, so that its group keeps its number."""
    return process.returncode is not None or child_has_ended(process.pid, seconds)


def child_has_ended(number: int, seconds: float) -> bool:
    """Wait for so long, and say whether a child that is not reaped has ended. It is not reaped here."""
    descriptor = os.pidfd_open(number)
    try:
        poll = select.poll()  # not select(): it knows no descriptors beyond 1023
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(seconds * 1000))
    finally:
        os.close(descriptor)


def end_group(process: Popen[bytes]) -> int:
    """Kill what is left of the command and of what it has started; returns its exit status.

    One that has been reaped is left alone: its number may be another's by now.
    """
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    return process.wait()
