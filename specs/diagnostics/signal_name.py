"""Names of signals, for messages about processes that died of one, and how any process ended."""

from __future__ import annotations

import signal


def signal_name(number: int) -> str:
    """The name of a signal, also of one for real time, as of Android's debugger (SIGRTMIN+1)."""
    if signal.SIGRTMIN < number < signal.SIGRTMAX:
        return f"SIGRTMIN+{number - signal.SIGRTMIN}"
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


def how_it_ended(code: int) -> str:
    """The end of a process in words, to be put behind its name. code: as of subprocess, negative for a signal."""
    return f"was killed by {signal_name(-code)}" if code < 0 else f"exited with status {code}"
