"""Looks for inputs after which something of the subject's process remains: descriptors, shared memory, threads."""

from __future__ import annotations

import gc
import itertools
from collections import deque
from collections.abc import Callable

from npu_conformance.fuzz.lib.findings import Found, signature
from npu_conformance.harness.subject.holdings import Holdings, holdings_of

_EVERY = 250
"""Inputs between two looks."""
_WARM = 20
"""After so many inputs all is loaded that is loaded once."""
_SUSPICIOUS = 8
"""So many more of something than at the look before make the inputs in between worth a second run."""
_TIMES = 3
"""A leak is what remains after each of so many runs of one input: what is kept once, as a cache, is none."""
_YOUNG, _ALL = 1, 2
"""Generations of garbage: what a run leaves is mostly as young as the run."""
_NAMES = {"descriptors": "descriptors", "shared_mappings": "mappings of shared memory", "threads": "threads"}


class LeakWatch:
    """Watches one process. process: its number, which a restart changes."""

    def __init__(self, process: Callable[[], int]) -> None:
        self._process = process
        self._inputs: deque[bytes] = deque(maxlen=_EVERY)
        self._before: Holdings | None = None
        self._count = 0

    def suspects(self, data: bytes) -> tuple[bytes, ...]:
        """Note an input; returns the latest ones where more remained behind them than should, mostly none."""
        self._inputs.append(data)
        self._count += 1
        if self._count == _WARM:
            self._before = holdings_of(self._process())
        if self._count % _EVERY:
            return ()
        before, self._before = self._before, holdings_of(self._process())
        if before is None or self._before is None or not _has_grown(before, self._before, _SUSPICIOUS):
            return ()
        return tuple(self._inputs)

    def leak(self, run: Callable[[bytes], object], data: bytes) -> Found | None:
        """What remains after each of several runs of an input; None where nothing does.

        What is found is looked for again behind collections of all garbage, which take longer: old garbage is no leak.
        """
        return self._remains(run, data, _YOUNG) and self._remains(run, data, _ALL)

    def _remains(self, run: Callable[[bytes], object], data: bytes, garbage: int) -> Found | None:
        looks = [self._look(garbage)]
        for _ in range(_TIMES):
            run(data)
            looks.append(self._look(garbage))
        for name, counts in zip(_NAMES, zip(*looks, strict=True), strict=True):
            if all(later > earlier for earlier, later in itertools.pairwise(counts)):
                told = f"{counts[-1] - counts[0]} {_NAMES[name]} remain after {_TIMES} runs of one input"
                return Found("leak", told, _NAMES[name])
        return None

    def fails(self, run: Callable[[bytes], object], data: bytes) -> str:
        """The signature of the leak of an input, for making it smaller."""
        found = self.leak(run, data)
        return signature(found) if found is not None else ""

    def _look(self, garbage: int) -> tuple[int, ...]:
        gc.collect(garbage)  # what waits for the collector is no leak
        found = holdings_of(self._process())
        return _counted(found) if found is not None else (0,) * len(_NAMES)


def _counted(found: Holdings) -> tuple[int, ...]:
    return tuple(getattr(found, name) for name in _NAMES)


def _has_grown(before: Holdings, after: Holdings, by: int) -> bool:
    return any(later >= earlier + by for earlier, later in zip(_counted(before), _counted(after), strict=True))
