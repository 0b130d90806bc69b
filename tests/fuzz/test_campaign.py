"""Campaigns: whose turn it is, and what a killed one goes on with. Rounds are made up: no process starts."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from campaigns import JOB, MODELS, SETTINGS, WIRE, line, result, sighting
from msgspec.structs import replace

from npu_conformance.fuzz.lib.campaign import executors
from npu_conformance.fuzz.lib.campaign.campaign import Campaign, Limits
from npu_conformance.fuzz.lib.campaign.documents import (
    Doubt,
    Kept,
    RoundJob,
    RoundResult,
)
from npu_conformance.fuzz.lib.campaign.executors import Workers
from npu_conformance.fuzz.lib.campaign.folder import CampaignFolder
from npu_conformance.fuzz.lib.campaign.shares import Arm, Shares
from npu_conformance.harness.subject.plugin_loading import LoadError


class Clock:
    """A clock that each round moves on."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def campaign(
    folder: CampaignFolder, round_: Callable[[RoundJob], RoundResult], limits: Limits, jobs: int = 1
) -> Campaign:
    clock = Clock()

    def timed(job: RoundJob) -> RoundResult:
        clock.now += job.seconds or 1.0
        return round_(job)

    class Here(ThreadPoolExecutor):
        """Runs what it is given at once."""

        def submit(self, call: Callable[..., object], /, *arguments: object, **named: object) -> Future[object]:  # type: ignore[override]
            future: Future[object] = Future()
            try:
                future.set_result(call(*arguments, **named))
            except Exception as error:
                future.set_exception(error)
            return future

    return Campaign(folder, JOB, [MODELS, WIRE], limits, Workers(Here(), timed, jobs), clock=clock)


class TestShares:
    def test_all_have_turns_and_the_productive_one_has_more(self) -> None:
        shares = Shares([MODELS, WIRE])
        turns = []
        for _ in range(40):
            arm = shares.next()
            turns.append(arm)
            shares.count(line(arm, inputs=50 if arm == WIRE else 0))
        assert turns.count(MODELS) >= 3
        assert turns.count(WIRE) > 3 * turns.count(MODELS)

    def test_what_stops_finding_loses_its_share(self) -> None:
        shares = Shares([MODELS, WIRE])
        shares.count(line(WIRE, inputs=100))
        assert shares.weight(WIRE) > 7
        for _ in range(8):
            shares.count(line(WIRE, inputs=0))
            shares.count(line(MODELS, inputs=1))
        assert shares.weight(WIRE) < 4

    def test_those_that_are_running_wait(self) -> None:
        assert Shares([MODELS, WIRE]).next([MODELS]) == WIRE

    def test_one_that_cannot_attack_is_left_out(self) -> None:
        shares = Shares([MODELS, WIRE])
        shares.drop("models")
        assert shares.arms == (WIRE,)


class TestCampaign:
    def test_it_runs_for_its_time_and_hands_on_what_was_found(self, tmp_path: Path) -> None:
        folder, jobs = CampaignFolder(tmp_path, SETTINGS), []

        def round_(job: RoundJob) -> RoundResult:
            jobs.append(job)
            number = len(jobs)
            kept = Kept(data=b"%d" % number, features=(number,))
            return result(job.fuzzer, kept, found=(sighting(job.fuzzer),) if number < 3 else ())

        running = campaign(folder, round_, Limits(40.0, None))
        running.run()
        assert 38.0 <= running.elapsed <= 40.0
        assert {job.fuzzer for job in jobs} == {"models", "wire"}
        assert len({job.seed for job in jobs}) == len(jobs)
        assert [finding.where for finding in running.findings] == ["models", "wire"]
        latest = next(job for job in reversed(jobs[:-1]) if job.fuzzer == "models")
        assert b"1" in latest.inputs
        assert 1 in latest.features
        assert latest.known == ("crash: models", "crash: wire")
        folder.close()

    def test_what_earlier_rounds_of_a_run_have_shown_is_not_run_again(self, tmp_path: Path) -> None:
        """The first round of each run knows nothing, since the plug-in may be another build."""
        jobs: list[RoundJob] = []

        def round_(job: RoundJob) -> RoundResult:
            jobs.append(job)
            kept = Kept(data=b"%d" % len(jobs), features=(len(jobs),))
            return replace(result(job.fuzzer, kept), seeds_run=job.seeds_run_after(20))

        for _ in range(2):
            folder = CampaignFolder(tmp_path, SETTINGS)
            before = len(jobs)
            campaign(folder, round_, Limits(20.0, None)).run()
            folder.close()
            first, second, *_ = (job for job in jobs[before:] if job.fuzzer == "models")
            assert (first.shown, first.seeds_run) == ((), 0)
            assert second.shown == tuple((int(data),) for data in second.inputs)
            assert second.seeds_run == 10 - len(first.inputs)

    def test_findings_of_earlier_runs_are_doubted_until_they_are_met(self, tmp_path: Path) -> None:
        """What is met in the place of one whose input passes is new, once."""
        jobs: list[RoundJob] = []

        def round_(job: RoundJob) -> RoundResult:
            jobs.append(job)
            found = replace(sighting("SIGSEGV", b"%d" % len(jobs)), is_another=len(jobs) > 4)
            return result(job.fuzzer, found=(found,))

        for runs in range(1, 3):
            folder = CampaignFolder(tmp_path, SETTINGS)
            running = campaign(folder, round_, Limits(None, 100_000))
            running.run()
            folder.close()
            assert [finding.signature for finding in folder.findings] == ["crash: SIGSEGV"] * runs
            assert len(running.findings) == 1
        assert [dict(job.doubted) for job in jobs[4:]] == [
            {"crash: SIGSEGV": Doubt(fuzzer="models", data=b"1")},
            {},
            {},
            {},
        ]

    def test_a_lost_round_has_shown_nothing(self, tmp_path: Path) -> None:
        jobs: list[RoundJob] = []

        def round_(job: RoundJob) -> RoundResult:
            jobs.append(job)
            return replace(result(job.fuzzer, Kept(data=b"a", features=(1,))), problem="no space", seeds_run=9)

        folder = CampaignFolder(tmp_path, SETTINGS)
        with pytest.raises(LoadError):
            campaign(folder, round_, Limits(20.0, None)).run()
        folder.close()
        assert [job.seeds_run for job in jobs] == [0, 0, 0]

    def test_a_round_is_over_when_the_campaign_is(self, tmp_path: Path) -> None:
        """Whatever it is doing: a hang may take longer than the round was to last, and no longer than the campaign."""
        folder, jobs = CampaignFolder(tmp_path, SETTINGS), list[RoundJob]()
        campaign(folder, lambda job: jobs.append(job) or result(job.fuzzer), Limits(40.0, None)).run()  # type: ignore[func-returns-value]
        assert [job.seconds for job in jobs] == [5.0] * 8
        assert [job.ends for job in jobs] == [left + 2.0 for left in (40, 35, 30, 25, 20, 15, 10, 5)]
        campaign(folder, lambda job: jobs.append(job) or result(job.fuzzer), Limits(None, 5)).run()  # type: ignore[func-returns-value]
        assert jobs[-1].ends is None
        folder.close()

    def test_times_are_those_of_the_clock_however_many_rounds_run_at_once(self, tmp_path: Path) -> None:
        """And those of earlier runs come before."""
        for at in ([4.0, 4.0, 8.0, 8.0], [12.0, 12.0, 16.0, 16.0]):
            folder, clock = CampaignFolder(tmp_path, SETTINGS), Clock()
            before = len(folder.rounds)
            with ThreadPoolExecutor(1) as pool:
                workers = Workers(pool, lambda job: result(job.fuzzer, seconds=4.0), 2)
                running = Campaign(folder, JOB, [MODELS, WIRE], Limits(None, 100_000), workers, clock=clock)
                running._fill()
                for _ in range(2):
                    clock.now += 4.0
                    for future in list(running._running):
                        running._take(future)
                    running._fill()
            assert [found.at for found in folder.rounds[before:]] == at
            folder.close()

    def test_known_findings_that_are_met_again_are_told_apart_from_new_ones(self, tmp_path: Path) -> None:
        met = [sighting("old"), sighting("mended"), sighting("unmet")]
        for found, again, told in (
            (met, {}, set()),
            ([sighting("new"), replace(sighting("mended"), is_another=True)],
             {"crash: old": 2, "crash: new": 1, "crash: mended": 1, "crash: doubtful": 1}, {"crash: old"}),
        ):  # fmt: skip
            folder = CampaignFolder(tmp_path, SETTINGS)
            made = replace(result("models", found=tuple(found)), repeats=again)
            running = campaign(folder, lambda job, made=made: made, Limits(None, 5))  # type: ignore[misc]
            running._doubted = {"crash: mended": Doubt(fuzzer="models", data=b"{}")} if again else {}
            running.run()
            assert running.met_again == told
            folder.close()

    def test_a_second_run_goes_on_with_other_seeds(self, tmp_path: Path) -> None:
        seeds: list[int] = []

        def round_(job: RoundJob) -> RoundResult:
            seeds.append(job.seed)
            return result(job.fuzzer, found=(sighting("one"),))

        for findings in (1, 0):
            folder = CampaignFolder(tmp_path, SETTINGS)
            running = campaign(folder, round_, Limits(10.0, None))
            running.run()
            assert len(running.findings) == findings
            folder.close()
        assert len(set(seeds)) == len(seeds)

    def test_runs_are_one_round_for_each(self, tmp_path: Path) -> None:
        folder = CampaignFolder(tmp_path, SETTINGS)
        running = campaign(folder, lambda job: result(job.fuzzer), Limits(None, 500), jobs=2)
        running.run()
        assert sorted(found.fuzzer for found in running.rounds) == ["models", "wire"]
        folder.close()

    def test_many_inputs_are_cut_into_rounds_so_that_a_kill_loses_few(self, tmp_path: Path) -> None:
        folder, asked = CampaignFolder(tmp_path, SETTINGS), list[tuple[str, int | None]]()

        def round_(job: RoundJob) -> RoundResult:
            asked.append((job.fuzzer, job.runs))
            return result(job.fuzzer)

        campaign(folder, round_, Limits(None, 120_000)).run()
        assert asked == [(fuzzer, runs) for runs in (50_000, 50_000, 20_000) for fuzzer in ("models", "wire")]
        folder.close()

    def test_a_lost_round_is_said_and_three_in_a_row_end_it(self, tmp_path: Path) -> None:
        folder, count = CampaignFolder(tmp_path, SETTINGS), iter(range(100))

        def round_(job: RoundJob) -> RoundResult:
            if next(count) in (1, 4, 5, 6):
                raise OSError("the worker died")
            return result(job.fuzzer)

        running = campaign(folder, round_, Limits(1000.0, None))
        with pytest.raises(LoadError, match="3 rounds in a row were lost, the last: OSError: the worker died"):
            running.run()
        assert len(running.lost) == 4
        assert [bool(found.lost) for found in running.rounds] == [False, True, False, False, True, True]
        folder.close()

    def test_a_fuzzer_that_cannot_attack_gets_no_further_round(self, tmp_path: Path) -> None:
        folder = CampaignFolder(tmp_path, SETTINGS)

        def round_(job: RoundJob) -> RoundResult:
            found = result(job.fuzzer)
            return RoundResult(
                **{
                    **{name: getattr(found, name) for name in found.__struct_fields__},
                    "inapplicable": "no bursts" if job.fuzzer == "wire" else "",
                }
            )

        running = campaign(folder, round_, Limits(40.0, None))
        running.run()
        assert running.inapplicable == {"wire": "no bursts"}
        assert [found.fuzzer for found in running.rounds].count("wire") == 1
        folder.close()

    def test_a_fuzzer_that_cannot_attack_gets_no_round_of_another_engine(self, tmp_path: Path) -> None:
        folder, arms = CampaignFolder(tmp_path, SETTINGS), [WIRE, Arm("wire", "hypothesis")]

        def round_(job: RoundJob) -> RoundResult:
            return replace(result(job.fuzzer), inapplicable="no bursts")

        with executors.local(1) as here:
            Campaign(folder, JOB, arms, Limits(40.0, None), Workers(here.executor, round_, 1)).run()
        assert [found.engine for found in folder.rounds] == ["evolution"]
        folder.close()

    def test_why_a_round_was_lost_is_a_line_that_a_terminal_only_shows(self, tmp_path: Path) -> None:
        folder = CampaignFolder(tmp_path, SETTINGS)

        def round_(job: RoundJob) -> RoundResult:
            raise OSError("\x1b[2J")

        running = campaign(folder, round_, Limits(None, 5))
        running.run()
        assert running.lost == ["OSError: \\x1b[2J"] * 2
        folder.close()

    def test_a_plug_in_that_cannot_be_loaded_ends_it(self, tmp_path: Path) -> None:
        def round_(job: RoundJob) -> RoundResult:
            raise LoadError("no such plug-in")

        folder = CampaignFolder(tmp_path, SETTINGS)
        with pytest.raises(LoadError, match="no such plug-in"):
            campaign(folder, round_, Limits(40.0, None)).run()
        folder.close()
