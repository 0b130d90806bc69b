"""What is concluded from spans of two clocks: made up events, which arrive when a test says so."""

from __future__ import annotations

import pytest

from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.specs.npu.types import WorkInfo
from npu_conformance.vts.lib.npu_scheduling.events import UNDISTURBED, Event
from npu_conformance.vts.lib.npu_scheduling.real_time import TICK_MS, Burst, Pair

OFFSETS_MS = (0, -5_000_000, 123_456)
"""How far the HAL's clock may be ahead of the harness's."""


def events(*moments: tuple[int, float]) -> list[Event]:
    """Undisturbed bursts: the timestamp of each event, and when it arrives."""
    kinds = list(UNDISTURBED) * (len(moments) // len(UNDISTURBED))
    return [
        Event(kind, _work(timestamp_ms), reason, arrived_ms)
        for (kind, reason), (timestamp_ms, arrived_ms) in zip(kinds, moments, strict=True)
    ]


def _work(timestamp_ms: int) -> WorkInfo:
    return WorkInfo(1, 10_201, 10_201, 500, 1500, timestamp_ms, 0)


def burst(offset_ms: int, *, asked: int = 0, withheld: int = 50, on_the_way: int = 0) -> Burst:
    """A burst of 300 ms that is requested so long after it is asked for, and notified with so much delay."""
    begun, ended = asked, asked + 300
    moments = [(begun, begun), (begun, begun), (ended, ended + withheld)]
    found = events(*((moment + offset_ms, sent + on_the_way) for moment, sent in moments))
    return Burst(0.0, found[0], found[-1])


@pytest.mark.parametrize("offset_ms", OFFSETS_MS)
@pytest.mark.parametrize("withheld", [0, 5, 20, 39])
def test_an_end_that_comes_too_soon_shows_whatever_the_clock_of_the_hal_says(offset_ms: int, withheld: int) -> None:
    assert burst(offset_ms, withheld=withheld).most_withheld_ms < 50


@pytest.mark.parametrize("offset_ms", OFFSETS_MS)
@pytest.mark.parametrize(("asked", "on_the_way"), [(0, 0), (80, 0), (0, 60), (700, 3000)])
def test_no_delay_makes_an_end_look_too_soon(offset_ms: int, asked: int, on_the_way: int) -> None:
    assert burst(offset_ms, asked=asked, on_the_way=on_the_way).most_withheld_ms >= 50


@pytest.mark.parametrize("late", range(TICK_MS))
def test_a_coarse_clock_does_not_make_an_end_look_too_soon(late: int) -> None:
    events_ = events((0, late), (0, late), (300, 300 + 50))  # the request is up to a tick after its timestamp
    assert Burst(float(late), events_[0], events_[-1]).most_withheld_ms >= 50


def test_an_end_that_comes_late_shows_where_all_events_take_long() -> None:
    assert burst(0, withheld=150, on_the_way=60).withheld_ms == 150
    assert burst(0, withheld=50, on_the_way=60).withheld_ms == 50


def test_two_runs_are_one_burst_or_two_by_their_events() -> None:
    one = events((0, 0), (0, 0), (600, 650))
    two = [*events((0, 0), (0, 0), (300, 350)), *events((345, 345), (345, 345), (600, 650))]
    assert Pair(one, 25.0, 325.0).is_one_burst()
    assert not Pair(two, 25.0, 325.0).is_one_burst()
    assert Pair(two, 25.0, 325.0).gap_ms == 45


def test_neither_one_burst_nor_two_is_wrong() -> None:
    found = events((0, 0), (0, 0), (600, 650))
    with pytest.raises(Failed, match="events of two runs"):
        Pair([*found, found[-1]], 25.0, 325.0).is_one_burst()
    with pytest.raises(Failed, match="events of two runs"):
        Pair(found[:2], 25.0, 325.0).is_one_burst()
