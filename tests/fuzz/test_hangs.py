"""What hangs is a finding, and hides nothing else for long; what is slow, or has no processor, is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzzed_rounds import job

from npu_conformance.fuzz.lib.campaign import round_process, rounds
from npu_conformance.fuzz.lib.campaign.documents import RoundJob
from npu_conformance.fuzz.lib.campaign.noting import Noting
from npu_conformance.fuzz.lib.campaign.round_process import RoundProcess, Watch
from npu_conformance.fuzz.lib.campaign.rounds import run_round
from npu_conformance.fuzz.lib.campaign.under_way import UnderWay
from npu_conformance.fuzz.lib.worker import attacked_by, patience
from npu_conformance.specs.manifest import Deadlines, Manifest


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
    monkeypatch.setattr(round_process, "AFTER_A_HANG", 0.3)
    ended = run_round(job(bug, six, runs=1, known=(f"hang: {known}",)))
    assert [one.where for one in ended.sightings] == found
    assert len(ended.killers) == 1
    assert sum(ended.repeats.values()) == repeats


ENGINE = Deadlines(prepare=60.0, execute=60.0, call=5.0)


@pytest.mark.parametrize(
    ("deadlines", "scale", "plugin", "longest_wait", "seconds"),
    [
        (ENGINE, 1.0, "driver:plugin", None, 12.0),
        (ENGINE, 3.0, "driver:plugin", None, 36.0),
        (ENGINE, 1.0, "driver:plugin", 2.0, 2.4),
        (ENGINE, 1.0, "driver:plugin", 100.0, 120.0),
        (ENGINE, 1.0, "exec:./driver", None, 125.0),
        (Deadlines(prepare=0.3, execute=0.3, call=0.3), 2.0, "driver:plugin", None, 1.8),
    ],
)
def test_how_long_an_input_may_take(
    deadlines: Deadlines, scale: float, plugin: str, longest_wait: float | None, seconds: float
) -> None:
    """Models are small: what a manifest allows for large ones is waited for elsewhere, where each call has an end."""
    manifest = Manifest(name="driver", vendor="tests", version="1", deadlines=deadlines, time_scale=scale)
    assert patience(job("none", plugin=plugin, longest_wait=longest_wait), manifest) == pytest.approx(seconds)


@pytest.mark.parametrize("longest_wait", [None, 0.05])
def test_the_longest_wait_counts_for_calls_as_well(longest_wait: float | None) -> None:
    attacked = attacked_by(job("hang", longest_wait=longest_wait))
    assert attacked.subject.manifest.deadlines.prepare == (longest_wait or 0.3)
    attacked.subject.close()


@pytest.mark.parametrize(
    ("module", "known", "found"),
    [("worker", (), False), ("reducing", (), True), ("reducing", ("hang: elsewhere",), False)],
)
def test_a_round_ends_with_the_campaign_also_where_something_hangs(
    module: str, known: tuple[str, ...], found: bool, six: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it is known for a hang, before it is small, and before it has hung for the whole time, to be met again.

    module: of the process that runs as the time is over.
    """

    class Late(RoundProcess):
        def __init__(
            self, job: RoundJob, folder: Path, watch: Watch, noting: Noting | None = None, module: str = "worker"
        ) -> None:
            super().__init__(job, folder, watch, noting, module)
            if module == late:
                watch.seconds = 0.0
                watch.begin()

    late = module
    monkeypatch.setattr(rounds, "RoundProcess", Late)
    monkeypatch.setattr(round_process, "AFTER_A_HANG", 0.3)
    ended = run_round(job("hang", six, runs=None, seconds=600.0, ends=600.0, known=known))
    assert [one.data for one in ended.sightings] == ([six] if found else [])
    assert len(ended.killers) == found


def test_a_hang_that_another_round_makes_smaller_is_left_to_it(six: bytes) -> None:
    under_way, hang = UnderWay(), "no end in fuzzed_drivers._meet_six"
    with under_way.of(f"hang in models ({hang})"):
        found = run_round(job("hang", six, runs=1), under_way=under_way)
    assert (found.sightings, found.repeats) == ((), {f"hang: {hang}": 1})
    assert len(found.killers) == 1


@pytest.mark.parametrize("bug", ["hang", "kill"])
def test_what_one_round_has_found_others_know_that_were_begun_before(bug: str, six: bytes) -> None:
    under_way = UnderWay()
    first = run_round(job(bug, six, runs=1), under_way=under_way)
    (death,) = (one.signature for one in first.sightings)
    assert under_way.deaths == {death}
    given = job(bug, six, runs=1)
    assert death in Watch(under_way=under_way).informed(given).known
    second = run_round(given, under_way=under_way)
    assert (second.sightings, second.repeats) == ((), {death: 1})
    assert second.reducing_seconds < first.reducing_seconds


class Endless:
    """A process that goes on with its first input for six looks at it. The clock goes on by a second with each."""

    pid = 0

    def __init__(self, *, gets_a_processor: bool, gets_on: bool) -> None:
        self._looks = 0
        self._gets_on = gets_on
        self._gets_a_processor = gets_a_processor

    def has_ended(self, process: Endless, seconds: float) -> bool:
        self._looks += 1
        return self._looks > 6

    def minimised(self) -> str:
        return ""

    def read(self) -> tuple[int, bytes]:
        return 1, b""

    def steps(self) -> int:
        return self._looks if self._gets_on else 0

    def monotonic(self) -> float:
        return float(self._looks)

    def starved(self, pid: int) -> float:
        return 0.0 if self._gets_a_processor else float(self._looks)


@pytest.mark.parametrize(("gets_a_processor", "gets_on"), [(True, False), (False, False), (True, True)])
def test_time_without_a_processor_makes_no_hang_nor_do_many_waits(
    gets_a_processor: bool, gets_on: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = Endless(gets_a_processor=gets_a_processor, gets_on=gets_on)
    watched = RoundProcess(job("none"), tmp_path, Watch())
    watched.current = endless  # type: ignore[assignment]
    monkeypatch.setattr(RoundProcess, "_patience", lambda self, count: 2.5)
    monkeypatch.setattr(round_process, "time", endless)
    monkeypatch.setattr(round_process, "starved", endless.starved)
    monkeypatch.setattr(round_process, "has_ended", endless.has_ended)
    watched._wait(endless, 0.0)  # type: ignore[arg-type]
    assert watched.is_hanging == (gets_a_processor and not gets_on)


def test_many_refusals_that_the_harness_waits_behind_are_no_hang() -> None:
    """It looks for a second answer to each for a second: longer, all in all, than an input may take."""
    refused = b"[" + b",".join([b'{"do":"prepare","model":0,"kind":"quantised"}'] * 3) + b"]"
    ended = run_round(job("refusals", refused, fuzzer="memory_domain", runs=1))
    assert (ended.sightings, ended.executions) == ((), 1)
    assert ended.start is not None
    assert ended.seconds > ended.start.seconds
