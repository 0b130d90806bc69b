"""What helps a driver of `exec:` that never speaks: where its connection is, said while the harness still waits."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from npu_conformance.harness.judge.verdicts import CaseEnded, Crashed, Hung
from npu_conformance.harness.wire.protocol import SOCKET_VARIABLE

PATIENCE_SECONDS = 2.0
"""How long a driver may be silent after its start before the user gets a hint. The deadline is another matter."""
HINT = (
    f"a driver reads and answers on the socket whose number is in {SOCKET_VARIABLE}, "
    "not on stdin and stdout (docs/wire-protocol.md)"
)


class SilenceHint:
    """Called again and again while the first answer is awaited; says the hint on stderr, once."""

    def __init__(self, spec: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._spec = spec
        self._clock = clock
        self._until: float | None = clock() + PATIENCE_SECONDS

    def __call__(self) -> None:
        """Look at the clock."""
        if self._until is not None and self._clock() >= self._until:
            self._until = None
            print(f"{self._spec} has not answered for {PATIENCE_SECONDS:g} s: {HINT}", file=sys.stderr, flush=True)


def hint_after(spec: str, ended: CaseEnded) -> str:
    """Return the end of the line about a driver that has ended, or was killed, before its first answer, or by it.

    One that says on stderr why it ended needs no hint.
    """
    if "$.manifest" in str(ended):
        return "; to see everything wrong with a manifest: npu-conformance schemas manifest --check FILE"
    has_exited = isinstance(ended, Crashed) and ended.signal == 0 and not ended.stderr.strip()
    is_silent = isinstance(ended, Hung) or has_exited
    return f"; {HINT}" if is_silent and spec.startswith("exec:") else ""
