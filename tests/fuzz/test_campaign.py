"""Campaigns: whose turn it is, what is kept, what a killed one goes on with. Rounds are made up: no process starts."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace

from npu_conformance.fuzz.lib.campaign import executors
from npu_conformance.fuzz.lib.campaign.campaign import Campaign, Limits
from npu_conformance.fuzz.lib.campaign.documents import (
    EngineName,
    Kept,
    RoundJob,
    RoundLine,
    RoundResult,
    Settings,
    Sighting,
    Start,
)
from npu_conformance.fuzz.lib.campaign.executors import Workers
from npu_conformance.fuzz.lib.campaign.folder import FINDINGS, FINDINGS_FOLDER, ROUNDS, CampaignFolder, minimal
from npu_conformance.fuzz.lib.campaign.shares import Arm, Shares
from npu_conformance.harness.run import failures
from npu_conformance.harness.run.replay import rebuild
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.versions import NEWEST

SETTINGS = Settings(format=1, plugin="driver:plugin", options={}, hal=None)
JOB = RoundJob(fuzzer="", plugin="driver:plugin", options={}, hal=None, engine="evolution", seed=3)
START = Start(hal_version=NEWEST, seconds=1.0, manifest=Manifest(name="driver", vendor="tests", version="1"))
MODELS, WIRE = Arm("models", "evolution"), Arm("wire", "evolution")


def result(fuzzer: str, *kept: Kept, found: tuple[Sighting, ...] = (), seconds: float = 1.0) -> RoundResult:
    return RoundResult(
        fuzzer=fuzzer,
        engine="evolution",
        executions=10,
        seconds=seconds,
        start_seconds=0.0,
        kept=kept,
        sightings=found,
        start=START,
    )


def sighting(where: str, data: bytes = b"{}") -> Sighting:
    return Sighting(kind="crash", where=where, message="it died", data=data, execution=1)


def line(arm: Arm, inputs: int, seconds: float = 1.0, engine: EngineName = "evolution") -> RoundLine:
    return RoundLine(
        at=0.0,
        fuzzer=arm.fuzzer,
        engine=engine,
        seconds=seconds,
        start_seconds=0.0,
        executions=1,
        inputs=inputs,
        corpus=inputs,
        features=inputs,
    )


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


class TestFolder:
    def test_a_finding_has_its_own_time_and_not_that_of_its_rounds_end(self, tmp_path: Path) -> None:
        one = result("models", found=(replace(sighting("SIGSEGV"), after=4.0),))
        folder = CampaignFolder(tmp_path, SETTINGS)
        folder.add(replace(one, start_seconds=2.0, seconds=10.0), 3, 100.0)
        assert [finding.at for finding in folder.findings] == [92.0]

    def test_what_was_written_is_there_again(self, tmp_path: Path) -> None:
        folder = CampaignFolder(tmp_path, SETTINGS)
        kept = [Kept(data=b"a", features=(1, 2)), Kept(data=b"b", features=(2,)), Kept(data=b"c")]
        first = folder.add(result("models", *kept, found=(sighting("SIGSEGV in driver.run"),)), 3, 1.0)
        assert (first.inputs, first.corpus, first.features) == (2, 2, 2)
        folder.close()
        again = CampaignFolder(tmp_path, SETTINGS)
        assert again.corpus("models") == (kept[0], kept[2])
        assert again.features("models") == {1, 2}
        assert again.known() == {"crash: SIGSEGV in driver.run"}
        assert again.rounds == [first]
        again.close()

    def test_a_finding_is_a_failure_file_of_the_fuzzers_case(self, tmp_path: Path) -> None:
        folder = CampaignFolder(tmp_path, SETTINGS)
        added = folder.add(result("models", found=(sighting("SIGSEGV", b"{}\nx"),)), 3, 1.0)
        folder.close()
        failure = failures.load(tmp_path / FINDINGS_FOLDER / added.findings[0])
        assert failure.payload == {"lines": ["{}", "x"], "encoding": "utf-8"}
        assert rebuild(failure).id == "fuzz.models.short.runs"
        assert "--plugin driver:plugin" in str(failure.result.notes["replay"])

    def test_what_was_found_beside_another_is_replayed_beside_it(self, tmp_path: Path) -> None:
        folder = CampaignFolder(tmp_path, replace(SETTINGS, beside="other driver:plugin", hal="1.3"))
        added = folder.add(result("differential", found=(sighting("RELU1"),)), 3, 1.0)
        folder.close()
        failure = failures.load(tmp_path / FINDINGS_FOLDER / added.findings[0])
        assert "--hal 1.3 --beside 'other driver:plugin'" in str(failure.result.notes["replay"])

    def test_a_known_finding_is_not_written_again(self, tmp_path: Path) -> None:
        folder = CampaignFolder(tmp_path, SETTINGS)
        folder.add(result("models", found=(sighting("SIGSEGV"),)), 3, 1.0)
        assert folder.add(result("models", found=(sighting("SIGSEGV"), sighting("SIGBUS"))), 4, 2.0).findings
        assert [finding.where for finding in folder.findings] == ["SIGSEGV", "SIGBUS"]
        folder.close()

    def test_half_a_line_and_a_lost_file_cost_themselves_only(self, tmp_path: Path) -> None:
        folder = CampaignFolder(tmp_path, SETTINGS)
        folder.add(result("models", Kept(data=b"a", features=(1,)), Kept(data=b"b", features=(2,))), 3, 1.0)
        folder.close()
        with (tmp_path / ROUNDS).open("ab") as file:
            file.write(b'{"at":12,"fuzz')
        next((tmp_path / "corpus" / "models").iterdir()).unlink()
        again = CampaignFolder(tmp_path, SETTINGS)
        assert len(again.rounds) == 1
        assert len(again.corpus("models")) == 1
        again.close()

    def test_another_campaign_does_not_go_on_in_it(self, tmp_path: Path) -> None:
        CampaignFolder(tmp_path, SETTINGS).close()
        other = Settings(format=1, plugin="other:plugin", options={}, hal=None)
        with pytest.raises(DocumentError, match="its campaign has plugin driver:plugin, not other:plugin"):
            CampaignFolder(tmp_path, other)
        CampaignFolder(tmp_path, SETTINGS).close()  # the one that was refused has let it go

    def test_two_at_once_are_refused(self, tmp_path: Path) -> None:
        first = CampaignFolder(tmp_path, SETTINGS)
        with pytest.raises(DocumentError, match="another campaign is using this folder"):
            CampaignFolder(tmp_path, SETTINGS)
        first.close()

    def test_a_folder_that_cannot_be_is_one_line(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(DocumentError, match="cannot keep a campaign here: Not a directory"):
            CampaignFolder(tmp_path / "file" / "folder", SETTINGS)

    def test_the_latest_inputs_travel_as_far_as_there_is_room(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("npu_conformance.fuzz.lib.campaign.folder.LARGEST_CORPUS", 5)
        folder = CampaignFolder(tmp_path, SETTINGS)
        inputs = (b"aaaa", b"bb", b"ccc")
        folder.add(result("models", *[Kept(data=data, features=(at,)) for at, data in enumerate(inputs)]), 3, 1.0)
        assert [one.data for one in folder.corpus("models")] == [b"bb", b"ccc"]
        folder.close()

    @pytest.mark.parametrize(
        "link",
        ["campaign.json", "rounds.jsonl", "findings.jsonl", "lock", "failures", "corpus/models", "corpus/models.jsonl"],
    )
    def test_a_folder_with_a_link_is_not_used(self, link: str, tmp_path: Path) -> None:
        victim, place = tmp_path / "victim", tmp_path / "campaign"
        place.mkdir()
        CampaignFolder(place, SETTINGS).close()
        (place / "corpus").mkdir()
        (place / link).unlink(missing_ok=True)
        (place / link).symlink_to(victim)
        with pytest.raises(DocumentError, match=f"campaign/{link}: a symbolic link, which"):
            CampaignFolder(place, SETTINGS)
        assert not victim.exists()

    def test_a_folder_that_is_named_by_a_link_is_used(self, tmp_path: Path) -> None:
        (tmp_path / "campaign").mkdir()
        (tmp_path / "link").symlink_to("campaign")
        CampaignFolder(tmp_path / "link", SETTINGS).close()
        assert (tmp_path / "campaign" / "campaign.json").is_file()

    @pytest.mark.parametrize("name", ["{0}", "../../../victim", "..", "0" * 20 + "\n", "A" * 20])
    def test_names_of_inputs_lead_nowhere_else(self, name: str, tmp_path: Path) -> None:
        victim, place = tmp_path / "victim", tmp_path / "campaign"
        victim.write_text("secret")
        begun = CampaignFolder(place, SETTINGS)
        begun.add(result("models", Kept(data=b"a", features=(1, 2))), 3, 1.0)
        begun.close()
        with (place / "corpus" / "models.jsonl").open("ab") as file:
            file.write(json.dumps({"name": name.format(victim), "features": [1]}).encode() + b"\n")
        folder = CampaignFolder(place, SETTINGS)
        assert [one.data for one in folder.corpus("models")] == [b"a"]
        assert folder.minimise("models") == 1
        folder.close()
        assert victim.exists()

    def test_a_strangers_finding_is_a_line_that_a_terminal_only_shows(self, tmp_path: Path) -> None:
        begun = CampaignFolder(tmp_path, SETTINGS)
        begun.add(result("models", found=(sighting("SIGSEGV"),)), 3, 1.0)
        begun.close()
        written = (tmp_path / FINDINGS).read_bytes()
        for hostile in (b'"it died\\u001b[2J"', b'"it died\\n"'):
            (tmp_path / FINDINGS).write_bytes(written.replace(b'"it died"', hostile) + written)
            folder = CampaignFolder(tmp_path, SETTINGS)
            assert [found.message for found in folder.findings] == ["it died"]
            folder.close()

    def test_minimise_keeps_every_sight(self, tmp_path: Path) -> None:
        index = {"a": (1, 2), "b": (2, 3, 4), "c": (1,), "d": (), "e": (4,)}
        chosen = minimal(index)
        assert {feature for name in chosen for feature in index[name]} == {1, 2, 3, 4}
        assert sorted(chosen) == ["a", "b", "d"]
        folder = CampaignFolder(tmp_path, SETTINGS)
        folder.add(result("models", Kept(data=b"a", features=(1,))), 3, 1.0)
        folder.add(result("models", Kept(data=b"b", features=(1, 2))), 3, 2.0)
        assert folder.minimise("models") == 1
        assert [one.data for one in folder.corpus("models")] == [b"b"]
        folder.close()


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
