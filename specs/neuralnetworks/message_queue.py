"""A fast message queue (HIDL's FMQ): a ring of elements in shared memory, with one writer and one reader.

| bytes | what | who stores it |
| --- | --- | --- |
| 0 to 7 | elements read since the beginning, uint64 | reader |
| 8 to 15 | elements written since the beginning, uint64 | writer |
| 16 to 63 | zero, reserved | nobody |
| 64 and on | `capacity` elements, element number n at 64 + (n modulo capacity) * element size | writer |

All numbers are little-endian. A packet is stored first and counted afterwards, at one stroke: what the counters show
is a packet as a whole (NNHAL-BURST-008). A reader that waits may sleep on the futex word at byte 8, the lower half of
the written elements; the writer wakes it after each packet. The memory is zero where a queue begins.
"""

from __future__ import annotations

import ctypes
import os
import platform
import threading
import time
from typing import Protocol

HEADER = 64
"""Bytes in front of the elements."""

_READ, _WRITTEN, _FUTEX = 0, 1, 8
_SYSTEM_CALLS = {"x86_64": 202, "aarch64": 98, "riscv64": 98}
_WAIT, _WAKE, _EVERYBODY = 0, 1, 2**31 - 1
_SHORTEST_NAP, _LONGEST_NAP = 0.00005, 0.002
_LOOKS = 20
"""How often a poller looks at the counters before it looks at the clock."""


class CorruptQueueError(Exception):
    """The counters are wrong: they say that the ring holds more elements than it has room for."""


def size_of(capacity: int, element_size: int) -> int:
    """Bytes of memory that a queue of `capacity` elements needs."""
    return HEADER + capacity * element_size


class Counters(Protocol):
    """The two numbers at the beginning of a queue's memory, by index; each is loaded and stored at one stroke."""

    def __getitem__(self, index: int, /) -> int: ...

    def __setitem__(self, index: int, value: int, /) -> None: ...


class QueueMemory(Protocol):
    """The bytes that a queue lies in.

    size: how many there are. page: a mapping of the first of them, of which a queue uses the address alone.
    """

    size: int
    page: memoryview

    @property
    def counters(self) -> Counters: ...

    def read(self, offset: int, length: int) -> bytes: ...

    def write(self, offset: int, data: bytes) -> None: ...


class MappedQueueMemory:
    """Mapped bytes, whose other owner is trusted to leave them mapped. Raises ValueError for what is read-only."""

    def __init__(self, view: memoryview) -> None:
        if view.readonly or len(view) < HEADER:
            raise ValueError(f"no queue in {len(view)} bytes")
        self.size = len(view)
        self.counters = view[:16].cast("Q")
        self.page = self._view = view

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes."""
        return bytes(self._view[offset : offset + length])

    def write(self, offset: int, data: bytes) -> None:
        """Store bytes."""
        self._view[offset : offset + len(data)] = data


class MessageQueue:
    """One end of a queue. The two ends may be in two processes; each end belongs to one thread at a time."""

    def __init__(self, memory: QueueMemory | memoryview, capacity: int, element_size: int) -> None:
        """memory: writable. capacity: in elements. Raises ValueError where the queue is not inside."""
        self._memory = MappedQueueMemory(memory) if isinstance(memory, memoryview) else memory
        if not 0 < capacity <= (self._memory.size - HEADER) // element_size:
            raise ValueError(f"no queue of {capacity} elements in {self._memory.size} bytes")
        self.capacity, self.element_size = capacity, element_size
        self._counters = self._memory.counters
        self._futex = _Futex(self._memory.page[_FUTEX : _FUTEX + 4], self._counters)
        self._ordered = threading.Lock()
        self._is_woken = False

    def available(self) -> int:
        """Elements that can be read. Raises CorruptQueueError."""
        count = (self._counters[_WRITTEN] - self._counters[_READ]) % 2**64
        if count > self.capacity:
            raise CorruptQueueError(f"{count} elements in a ring of {self.capacity}")
        return count

    def space(self) -> int:
        """Elements that can be written. Raises CorruptQueueError."""
        return self.capacity - self.available()

    def write(self, packet: bytes) -> bool:
        """Append a packet of whole elements, all of it or, where it does not fit, nothing: false."""
        count = len(packet) // self.element_size
        if count > self.space():
            return False
        written = self._counters[_WRITTEN]
        first = min(count, self.capacity - written % self.capacity) * self.element_size
        self._memory.write(HEADER + written % self.capacity * self.element_size, packet[:first])
        if packet[first:]:
            self._memory.write(HEADER, packet[first:])
        self._count(_WRITTEN, written + count)
        self._futex.wake()
        return True

    def read(self) -> bytes:
        """Take everything that is there: of a writer with one packet under way, that packet as it was written.

        Raises CorruptQueueError; the queue is then empty.
        """
        taken = self._counters[_READ]
        try:
            count = self.available()
        except CorruptQueueError:
            self._count(_READ, self._counters[_WRITTEN])
            raise
        start = taken % self.capacity
        first = min(count, self.capacity - start)
        whole = self._memory.read(HEADER + start * self.element_size, first * self.element_size)
        if first < count:
            whole += self._memory.read(HEADER, (count - first) * self.element_size)
        self._count(_READ, taken + count)
        return whole

    def wait(self, seconds: float, *, polling: float = 0.0) -> bool:
        """Wait for an element: true; false when `seconds` are over, or after `wake`.

        polling: the first seconds of them in which to look again and again, which answers faster and keeps a
        processor busy; after that the thread sleeps.
        """
        if self._has_elements() or self._poll(min(polling, seconds)):
            return True
        end = time.monotonic() + seconds - polling
        # The writer wakes a moment after it has written: its call may come when that packet has been taken already.
        while not self._is_woken and (left := end - time.monotonic()) > 0:
            self._futex.wait(self._counters[_READ] % 2**32, left)
            if self._has_elements():
                return True
        self._is_woken = False
        return self._has_elements()

    def wake(self) -> None:
        """End the sleep of the thread that is in `wait` at this end."""
        self._is_woken = True
        self._futex.wake()

    def _has_elements(self) -> bool:
        return self._counters[_WRITTEN] != self._counters[_READ]

    def _poll(self, seconds: float) -> bool:
        # No yielding in between: where others want the processor too, that would cost more than what is waited for.
        counters, end = self._counters, time.monotonic() + seconds
        while time.monotonic() < end:
            if any(counters[_WRITTEN] != counters[_READ] for _ in range(_LOOKS)):
                return True
        return False

    def _count(self, counter: int, value: int) -> None:
        # The lock orders what lies before it in memory and what lies behind, on processors that would not.
        with self._ordered:
            pass
        self._counters[counter] = value % 2**64


class _Futex:
    """Sleeps on four bytes of shared memory; takes naps where no such system call is known for the machine.

    The kernel alone looks at the bytes: to a page that the other end has cut off it says EFAULT, where a look from here
    would end the process.
    """

    def __init__(self, view: memoryview, counters: Counters) -> None:
        self._word = ctypes.c_uint32.from_buffer(view)
        self._address = ctypes.c_void_p(ctypes.addressof(self._word))
        self._counters = counters
        number = _SYSTEM_CALLS.get(platform.machine()) if os.uname().sysname == "Linux" else None
        self._call = None if number is None else ctypes.CDLL(None).syscall
        self._number = ctypes.c_long(number or 0)

    def wait(self, value: int, seconds: float) -> None:
        """Sleep until `wake`, or for `seconds`; not at all where the word has another value by now."""
        if self._call is None:
            self._nap(value, seconds)
            return
        limit = _TimeSpec(int(seconds), int(seconds % 1 * 1e9))
        self._call(self._number, self._address, _WAIT, ctypes.c_uint32(value), ctypes.byref(limit), None, 0)

    def wake(self) -> None:
        """Wake everybody who sleeps on the word, in whatever process."""
        if self._call is not None:
            self._call(self._number, self._address, _WAKE, _EVERYBODY, None, None, 0)

    def _nap(self, value: int, seconds: float) -> None:
        end, nap = time.monotonic() + seconds, _SHORTEST_NAP
        while self._counters[_WRITTEN] % 2**32 == value and (left := end - time.monotonic()) > 0:
            time.sleep(min(nap, left))
            nap = min(2 * nap, _LONGEST_NAP)


class _TimeSpec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))
