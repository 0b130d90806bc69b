"""Damaged folders, full disks, plug-ins and schedulers that go away: a line each, and what was kept stays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from dask_clusters import local_cluster, needs_dask
from places import HOSTILE

from npu_conformance.cli.main import main
from npu_conformance.fuzz.lib.attack import CURRENT, Attack, FullError
from npu_conformance.fuzz.lib.campaign import campaign as campaigns
from npu_conformance.fuzz.lib.campaign import executors
from npu_conformance.fuzz.lib.campaign.campaign import Campaign, Limits
from npu_conformance.fuzz.lib.campaign.documents import Kept, RoundJob, RoundResult, Settings, Sighting, Start
from npu_conformance.fuzz.lib.campaign.folder import CORPUS, FINDINGS, ROUNDS, CampaignFolder
from npu_conformance.fuzz.lib.campaign.rounds import run_round
from npu_conformance.fuzz.lib.campaign.shares import Arm
from npu_conformance.fuzz.lib.current_input import CurrentInput
from npu_conformance.fuzz.lib.ending import Ending
from npu_conformance.fuzz.lib.engines import atheris_engine
from npu_conformance.harness.report.writing import UnwritableError
from npu_conformance.harness.run import workers as workers_of_clusters
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.versions import NEWEST

DRIVERS = "fuzzed_drivers:plugin"
SETTINGS = Settings(format=1, plugin=DRIVERS, options={"bug": "none"}, hal=None)
START = Start(hal_version=NEWEST, seconds=1.0, manifest=Manifest(name="driver", vendor="tests", version="1"))


def job(**more: object) -> RoundJob:
    given = {"fuzzer": "models", "plugin": DRIVERS, "options": {"bug": "none"}, "hal": None, "engine": "evolution"}
    return RoundJob(**{**given, "seed": 0, "runs": 20, **more})  # type: ignore[arg-type]


def result(**more: object) -> RoundResult:
    given = {"fuzzer": "models", "engine": "evolution", "executions": 1, "seconds": 1.0, "start_seconds": 0.0}
    return RoundResult(**{**given, "start": START, **more})  # type: ignore[arg-type]


FOUND = Sighting(kind="crash", where="SIGSEGV", message="it died", data=b"{}", execution=1)


def begun(path: Path) -> None:
    """A folder with two inputs and a finding."""
    folder = CampaignFolder(path, SETTINGS)
    kept = (Kept(data=b"{}", features=(1,)), Kept(data=b"[]", features=(2,)))
    folder.add(result(kept=kept, sightings=(FOUND,)), 0, 1.0)
    folder.close()


def fuzz(folder: Path, *arguments: str) -> int:
    plugin = ["--plugin", DRIVERS, "--plugin-option", "bug=none"]
    return main(["fuzz", "models", *plugin, "--runs", "20", "--corpus", str(folder), *arguments])


def test_what_is_damaged_is_said_and_costs_itself_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begun(tmp_path)
    with (tmp_path / ROUNDS).open("ab") as file:
        file.write(b'garbage\n{"at":\xff}\n')
    with (tmp_path / CORPUS / "models.jsonl").open("ab") as file:
        file.write(b"\x00\x01")
    gone, emptied = (tmp_path / CORPUS / "models").iterdir()
    gone.unlink()
    emptied.write_bytes(b"")
    assert fuzz(tmp_path) == 0
    out = capsys.readouterr().out
    assert f"{tmp_path}: 2 lines of rounds.jsonl cannot be read; the campaign continues without it\n" in out
    assert f"{tmp_path}: 1 lines of corpus/models.jsonl cannot be read; the campaign continues without it\n" in out
    assert f"{tmp_path}: 1 input of models gone; the campaign continues without it\n" in out
    assert f"{tmp_path}: 1 input of models emptied or changed; the campaign continues without it\n" in out
    assert "continues after 1 round" in out
    (kept,) = (json.loads(line) for line in (tmp_path / FINDINGS).read_bytes().splitlines())
    assert kept["where"] == "SIGSEGV"


def test_what_is_whole_is_not_called_damaged(tmp_path: Path) -> None:
    begun(tmp_path)
    folder = CampaignFolder(tmp_path, SETTINGS)
    assert folder.damaged == []
    folder.close()


@pytest.mark.parametrize("name", [ROUNDS, FINDINGS, f"{CORPUS}/models.jsonl"])
def test_a_full_disk_is_one_line_and_what_was_kept_stays(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("npu_conformance.fuzz.lib.campaign.folder.require_own", lambda path: None)
    begun(tmp_path)
    place = tmp_path / name
    whole = place.read_bytes()
    place.rename(tmp_path / "before")
    place.symlink_to("/dev/full")
    folder = CampaignFolder(tmp_path, SETTINGS)
    with pytest.raises(UnwritableError, match=f"^{tmp_path}: cannot write the campaign: No space left on device$"):
        folder.add(result(kept=(Kept(data=b"1", features=(3,)),), sightings=(FOUND,)), 0, 2.0)
    folder.close()
    assert (tmp_path / "before").read_bytes() == whole
    assert len(list((tmp_path / "failures").iterdir())) == 1


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begun(tmp_path)
    index = tmp_path / CORPUS / "models"
    for path in index.iterdir():
        path.unlink()
    index.rmdir()
    index.touch()
    assert fuzz(tmp_path) == 3
    assert capsys.readouterr().err == f"npu-conformance: {tmp_path}: cannot write the campaign: File exists\n"


def test_a_round_that_cannot_keep_anything_has_no_finding(tmp_path: Path) -> None:
    """The disk of temporary files is full: kept.jsonl is what a round writes first."""
    (tmp_path / "job.json").write_bytes(json.dumps(_plain(job())).encode())
    (tmp_path / "kept.jsonl").symlink_to("/dev/full")
    program = "import sys; from npu_conformance.fuzz.lib.worker import main; sys.exit(main(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "job.json")],
        env={"PYTHONPATH": ":".join([str(HOSTILE), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert CurrentInput(tmp_path / CURRENT).ending(done.returncode) == Ending.FULL, done.stderr
    assert done.stderr == f"{tmp_path}: cannot write kept.jsonl: No space left on device\n"


def test_a_full_disk_is_no_crash_to_atheris_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes an exception for a finding, and ends the process with a status of its own."""

    class Full:
        target = SimpleNamespace(seeds=[])

        def __call__(self, data: bytes) -> frozenset[int]:
            raise FullError("full")

    attacked: list[Callable[[bytes], None]] = []
    atheris = SimpleNamespace(
        Setup=lambda words, attack, custom_mutator: attacked.append(attack), Fuzz=lambda: attacked[0](b"")
    )
    monkeypatch.setitem(sys.modules, "atheris", atheris)
    monkeypatch.setattr(os, "_exit", sys.exit)
    with pytest.raises(SystemExit) as ended:
        atheris_engine.search(cast(Attack, Full()), job(engine="atheris"), tmp_path)
    assert isinstance(ended.value.code, int)
    assert CurrentInput(tmp_path / CURRENT).ending(ended.value.code) == Ending.FULL


def _plain(one: RoundJob) -> object:
    import msgspec

    return msgspec.to_builtins(one)


class TestRoundsThatAreLost:
    def lost(self, tmp_path: Path, made: RoundResult) -> str:
        """The message of the end of a campaign whose rounds all end so."""
        folder = CampaignFolder(tmp_path, SETTINGS)
        with executors.local(1) as here:
            workers = executors.Workers(here.executor, lambda _: made, 1)
            running = Campaign(folder, job(), [Arm("models", "evolution")], Limits(60.0, None), workers)
            with pytest.raises(LoadError) as ended:
                running.run()
        folder.close()
        return str(ended.value)

    def test_rounds_on_a_full_disk_end_the_campaign_and_what_they_brought_is_kept(self, tmp_path: Path) -> None:
        made = result(kept=(Kept(data=b"1", features=(3,)),), problem="/tmp: cannot write kept.jsonl: No space left")
        told = "3 rounds in a row were lost, the last: /tmp: cannot write kept.jsonl: No space left"
        assert self.lost(tmp_path, made) == told
        folder = CampaignFolder(tmp_path, SETTINGS)
        assert [one.data for one in folder.corpus("models")] == [b"1"]
        folder.close()


@pytest.mark.parametrize(("end", "how"), [("os._exit(3)", "status 3"), ("os.abort()", "SIGABRT")])
def test_a_plugin_that_dies_at_start_is_one_line(
    end: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dying_at_start.py").write_text(f"import os\n{end}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    told = f"^plug-in dying_at_start:plugin: the fuzzer's process ended with {how} while it was loaded$"
    with pytest.raises(LoadError, match=told):
        run_round(job(plugin="dying_at_start:plugin", options={}))


@needs_dask
def test_a_scheduler_that_goes_away_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun(tmp_path)
    folder = CampaignFolder(tmp_path, SETTINGS)
    monkeypatch.setattr(campaigns, "_SHORTEST_ROUND", 0.2)
    monkeypatch.setattr(workers_of_clusters, "_CONNECT_SECONDS", 4.0)
    with (
        local_cluster(monkeypatch, workers=1, threads=1) as machines,
        executors.cluster(machines.scheduler_address, None) as workers,
    ):

        def close(campaign: Campaign) -> None:
            if campaign.rounds:
                machines.close()

        arms = [Arm("models", "evolution")]
        running = Campaign(folder, job(runs=None), arms, Limits(0.8, None), workers, close, clock=lambda: 0.0)
        with pytest.raises(LoadError, match=r"the cluster takes no more rounds|rounds in a row were lost"):
            running.run()
    assert folder.findings[0].where == FOUND.where
    assert len(folder.rounds) > 1
    folder.close()


@pytest.mark.parametrize("status", ["closing", "closed"])
def test_a_cluster_that_has_gone_takes_no_part(status: str) -> None:
    """Dask's executor would take it, and the campaign wait for it for ever."""
    with ThreadPoolExecutor(1) as parts:
        client = SimpleNamespace(status="running", get_executor=lambda **_: parts)
        executor = workers_of_clusters._Executor(client)
        assert executor.submit(len, "one").result() == 3
        client.status = status
        with pytest.raises(ConnectionError, match="gone away"):
            executor.submit(len, "two")
