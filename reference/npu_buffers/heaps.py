"""Heaps from which buffers take their memory: one for each device and type of buffer, with a limited size."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from typing import Protocol

from npu_conformance.specs.npu.buffers import AllocRequest, BufferType

DEFAULT_HEAPS = "0:model_executable=8,0:model_weights=32,0:cache=8"
NO_HEAPS = "none"
_MIB = 1 << 20


class Occupant(Protocol):
    """A buffer as its heap sees it."""

    size: int
    priority: int

    def is_mapped(self) -> bool:
        """True where it cannot be taken away at the moment."""
        ...

    def preempt(self) -> None:
        """Lose the memory, which the heap has counted back."""
        ...


class Heap:
    """Memory of one kind. capacity: in bytes."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.used = 0
        self._occupants: dict[int, Occupant] = {}

    def take(self, buffer: Occupant) -> bool:
        """Give a buffer its memory, taken from weaker ones if need be; return False where even that is too little."""
        victims = self._victims(buffer)
        if victims is None:
            return False
        for victim in victims:
            self.give_back(victim)
            victim.preempt()
        self._occupants[id(buffer)] = buffer
        self.used += buffer.size
        return True

    def give_back(self, buffer: Occupant) -> None:
        """Take a buffer's memory back, if it has any."""
        if self._occupants.pop(id(buffer), None) is not None:
            self.used -= buffer.size

    def _victims(self, buffer: Occupant) -> list[Occupant] | None:
        """The weakest buffers, as many as needed; None where they are not enough. A mapped one cannot be taken."""
        lacking = self.used + buffer.size - self.capacity
        weaker = [each for each in self._occupants.values() if each.priority > buffer.priority and not each.is_mapped()]
        victims = []
        for each in sorted(weaker, key=lambda each: -each.priority):
            if lacking <= 0:
                break
            victims.append(each)
            lacking -= each.size
        return victims if lacking <= 0 else None


class Heaps:
    """All heaps of a service. lock: guards them and the buffers in them."""

    def __init__(self, heaps: dict[tuple[int, int], Heap]) -> None:
        self._heaps = heaps
        self.lock = threading.RLock()

    def of(self, request: AllocRequest) -> Heap | None:
        """The heap for a request's device and type of buffer; None where they are not supported."""
        return self._heaps.get((request.device_number, request.buffer_type))

    def used(self) -> int:
        """The bytes of all living buffers."""
        return sum(heap.used for heap in self._heaps.values())


def parse(text: str) -> Heaps:
    """Read `DEVICE:TYPE=MIB,...` or `none`. Raises ValueError with what is wrong."""
    return Heaps({place: Heap(size) for place, size in _parsed(text)} if text != NO_HEAPS else {})


@functools.cache
def _parsed(text: str) -> tuple[tuple[tuple[int, int], int], ...]:
    return tuple(_sizes(text))


def _sizes(text: str) -> Iterator[tuple[tuple[int, int], int]]:
    for part in text.split(","):
        place, _, mebibytes = part.partition("=")
        device, _, kind = place.partition(":")
        names = [each.name for each in BufferType if each is not BufferType.UNKNOWN]
        if not (device.isdecimal() and kind.upper() in names and mebibytes.isdecimal()):
            raise ValueError(f"heap {part!r}: expected DEVICE:TYPE=MIB, TYPE one of {', '.join(names).lower()}")
        yield (int(device), BufferType[kind.upper()]), int(mebibytes) * _MIB
