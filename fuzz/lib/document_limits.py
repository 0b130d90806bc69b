"""How much a reader of documents may do: steps are counted, memory is measured, warnings are errors.

No clock is asked: what is too much on one machine is too much on any.
"""

from __future__ import annotations

import mmap
import re
import sys
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, TypeVar

from npu_conformance.fuzz.lib.findings import Defect

Answer = TypeVar("Answer")

MOST_STEPS = 8_000_000
"""Calls of functions, Python's and C's. Expected values of 2^18 elements may take most of them."""
MOST_MEMORY = 512 << 20
"""Bytes that are in use at once. A vector of generated values may have 2^24 elements in each operand."""
_STATUS = Path("/proc/self/status")
_SIZES = re.compile(rb"VmPeak:\s*(\d+) kB\nVmSize:\s*(\d+) kB")
_PACKAGE = "npu_conformance"


class TooManySteps(BaseException):
    """Ends a reader; no `except Exception` of its holds this up."""


def bounded(read: Callable[[], Answer]) -> Answer:
    """Return what a reader returns, and let pass what it raises. Raises Defect where a limit is crossed.

    Memory is not measured; see Growth.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return _Steps().count(read)
        except TooManySteps as ended:
            where = place(ended)
            raise Defect(f"it takes more than {MOST_STEPS:,} calls, in {where}", f"steps in {where}") from None
        except MemoryError as ended:
            where = place(ended)
            raise Defect(f"it asks for too much memory, in {where}", f"memory in {where}") from None


def measured(read: Callable[[], Answer]) -> Answer:
    """As `bounded`, with the memory measured, which takes longer than most readers do."""
    with _Memory() as memory:
        try:
            return bounded(read)
        finally:
            peak = memory.peak()
            if peak > MOST_MEMORY:
                raise Defect(f"it has {peak >> 20} MiB in use at once, more than {MOST_MEMORY >> 20}", "memory")


class Growth:
    """Tells in microseconds whose memory has to be measured, by what the kernel counts of the whole process."""

    def __init__(self) -> None:
        self._filled: list[mmap.mmap] = []
        self._size = _sizes()[1]

    def is_large(self) -> bool:
        """Whether more than half of what is allowed may have been in use at once since the last time.

        Half of it, since some was free before.
        """
        before = self._size
        peak, self._size = _sizes()
        return peak - before > MOST_MEMORY // 2

    def begin_anew(self) -> None:
        """Fill the addresses up to the peak with what is no memory: the next peak would be hidden below this one."""
        peak, size = _sizes()
        if peak > size:
            self._filled.append(mmap.mmap(-1, peak - size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=0))
        self._size = peak


def _sizes() -> tuple[int, int]:
    """Bytes of addresses that this process has had at most, and has now."""
    found = _SIZES.search(_STATUS.read_bytes())
    assert found is not None
    return int(found[1]) << 10, int(found[2]) << 10


def place(error: BaseException) -> str:
    """The innermost function of the suite, this fuzzer apart, in which an exception was raised, or of any code."""
    names, trace = ["nowhere"], error.__traceback__
    while trace is not None:
        names.append(_function(trace))
        trace = trace.tb_next
    fuzzer = f"{_PACKAGE}.fuzz.lib.document_"
    of_suite = [name for name in names if name.startswith(f"{_PACKAGE}.") and not name.startswith(fuzzer)]
    return [*names[-1:], *of_suite][-1].removeprefix(f"{_PACKAGE}.")


def _function(trace: TracebackType) -> str:
    frame = trace.tb_frame
    return f"{frame.f_globals.get('__name__', '?')}.{frame.f_code.co_name}"


class _Steps:
    """Counts calls; a loop that calls nothing is the deadline's of a campaign."""

    def __init__(self) -> None:
        self._left = MOST_STEPS

    def count(self, read: Callable[[], Answer]) -> Answer:
        """Run the reader. Raises TooManySteps, also where the reader went on after that."""
        before = sys.getprofile()
        sys.setprofile(self._step)
        try:
            return read()
        finally:
            sys.setprofile(before)

    def _step(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" or event == "c_call":
            self._left -= 1
            if self._left < 0:
                raise TooManySteps


class _Memory:
    """Measures what Python and numpy allocate in a block."""

    def __enter__(self) -> _Memory:
        self._was_tracing = tracemalloc.is_tracing()
        if self._was_tracing:
            tracemalloc.reset_peak()
        else:
            tracemalloc.start()
        self._before = tracemalloc.get_traced_memory()[0]
        return self

    def peak(self) -> int:
        """Bytes more than at the beginning."""
        return tracemalloc.get_traced_memory()[1] - self._before

    def __exit__(self, *_: object) -> None:
        if not self._was_tracing:
            tracemalloc.stop()
