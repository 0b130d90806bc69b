"""Names of signals, for messages about processes that died of one."""

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
