"""How a Python host tells where it is: by itself when it dies of a fault, and when it is asked."""

from __future__ import annotations

import faulthandler
import signal

STACK_SIGNAL = signal.SIGUSR1
"""What asks a Python host for its stacks, and ends it."""


def tell_when_asked() -> None:
    """Let this process write its stacks to standard error before STACK_SIGNAL ends it."""
    if signal.getsignal(STACK_SIGNAL) is signal.SIG_DFL:
        # Chained to the default action: that the process ends tells whoever asked that the stacks are written.
        faulthandler.register(STACK_SIGNAL, file=2, chain=True)


def tell_stacks() -> None:
    """Let this process write its stacks to standard error: when it dies of a fault, and before STACK_SIGNAL ends it."""
    if not faulthandler.is_enabled():
        faulthandler.enable(file=2)
    tell_when_asked()
