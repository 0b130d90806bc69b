"""What hangs is a finding, and hides nothing else for long; what is slow, or has no processor, is none."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from fuzzed_rounds import job

from npu_conformance.fuzz.lib.campaign import rounds
from npu_conformance.fuzz.lib.campaign.minimising import Minimising
from npu_conformance.fuzz.lib.campaign.noting import Noting
from npu_conformance.fuzz.lib.campaign.rounds import run_round


@pytest.mark.parametrize(
    ("bug", "known", "found", "repeats"),
    [
        ("slow", "elsewhere", [], 0),
        ("hang", "elsewhere", ["no end in fuzzed_drivers._meet_six"], 0),
        ("hang", "no end in fuzzed_drivers._meet_six", [], 1),
    ],
)
def test_once_a_hang_is_known_further_ones_cost_less(
    bug: str, known: str, found: list[str], repeats: int, six: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is new has to hang for the whole time all the same."""
    monkeypatch.setattr(rounds, "_AFTER_A_HANG", 0.3)
    ended = run_round(job(bug, six, runs=1, known=(f"hang: {known}",)))
    assert [one.where for one in ended.sightings] == found
    assert len(ended.killers) == 1
    assert sum(ended.repeats.values()) == repeats


class Endless:
    """A process that goes on with its first input for six looks at it. The clock goes on by a second with each."""

    pid = 0

    def __init__(self, *, gets_a_processor: bool) -> None:
        self._looks = 0
        self._gets_a_processor = gets_a_processor

    def has_ended(self, process: Endless, seconds: float) -> bool:
        self._looks += 1
        return self._looks > 6

    def minimised(self) -> str:
        return ""

    def read(self) -> tuple[int, bytes]:
        return 1, b""

    def monotonic(self) -> float:
        return float(self._looks)

    def starved(self, pid: int) -> float:
        return 0.0 if self._gets_a_processor else float(self._looks)


@pytest.mark.parametrize("gets_a_processor", [True, False])
def test_time_without_a_processor_makes_no_hang(gets_a_processor: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    endless = Endless(gets_a_processor=gets_a_processor)
    watched = object.__new__(rounds._Process)
    watched.current, watched.is_hanging, watched._stop = endless, False, threading.Event()  # type: ignore[assignment]
    watched._minimising, watched._noting = Minimising(), Noting(job("none"), Path("unused"), None)
    monkeypatch.setattr(rounds._Process, "_patience", lambda self, count: 2.5)
    monkeypatch.setattr(rounds, "time", endless)
    monkeypatch.setattr(rounds, "starved", endless.starved)
    monkeypatch.setattr(rounds, "has_ended", endless.has_ended)
    watched._wait(endless, 0.0)  # type: ignore[arg-type]
    assert watched.is_hanging == gets_a_processor
