"""Bursts of the API."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from npu_conformance.reference.runtime.backend import PlanBurst
from npu_conformance.reference.runtime.objects.compilation import Compilation
from npu_conformance.reference.runtime.objects.operands import bad_state


class Burst:
    """A burst over a compilation: one computation at a time."""

    def __init__(self, compilation: Compilation) -> None:
        self.compilation = compilation
        self._bursts = compilation.plan.open_burst()
        self._in_use = threading.Lock()

    @contextlib.contextmanager
    def in_use(self) -> Iterator[PlanBurst]:
        """Give what is behind it to one computation. Raises BAD_STATE where another one has it (FW-EXE-015)."""
        if not self._in_use.acquire(blocking=False):
            raise bad_state("the burst is in use")
        try:
            yield self._bursts
        finally:
            self._in_use.release()

    def close(self) -> None:
        """End the bursts of the drivers, once a computation that uses them is over."""
        with self._in_use:
            self._bursts.close()
