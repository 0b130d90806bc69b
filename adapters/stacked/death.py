"""What a driver elsewhere does to its process befalls the runtime's, so that the verdict is that of the call.

A driver in the runtime's own process takes it along when it crashes. One in another process would be taken for a device
that has died, whose work the CPU does.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn, TypeVar

from npu_conformance.harness.judge.verdicts import CaseEnded, Crashed, Hung

Result = TypeVar("Result")


def asked(call: Callable[[], Result]) -> Result:
    """Ask the driver. Where it died, or did not answer, this process ends likewise."""
    try:
        return call()
    except (Crashed, Hung) as verdict:
        _end(verdict)


def _end(verdict: CaseEnded) -> NoReturn:
    stderr = getattr(verdict, "stderr", "")
    print(f"{stderr.rstrip()}\nthe driver below: {verdict}".lstrip(), file=sys.stderr, flush=True)
    if isinstance(verdict, Crashed):
        number = verdict.signal or signal.SIGKILL
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    while True:  # no answer either: the deadline of the call that waits for it ends this process
        signal.pause()
