"""The command: a campaign whose findings are lines and files that replay."""

from __future__ import annotations

import importlib
import itertools
import json
import os
import re
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from campaigns import SETTINGS, START, result, sighting
from msgspec.structs import replace
from places import HOSTILE

from npu_conformance.cli.commands import _fuzz_findings
from npu_conformance.cli.commands._fuzz_campaign import CampaignLine
from npu_conformance.cli.main import main
from npu_conformance.fuzz import AREAS
from npu_conformance.fuzz.lib.campaign import campaign, executors
from npu_conformance.fuzz.lib.campaign.documents import RoundJob, RoundResult, Settings, Unmerged
from npu_conformance.fuzz.lib.campaign.folder import CampaignFolder
from npu_conformance.fuzz.lib.campaign.rounds import run_round
from npu_conformance.fuzz.lib.campaign.under_way import UnderWay
from npu_conformance.fuzz.lib.document_seeds import campaigns
from npu_conformance.fuzz.lib.target import Attacked
from npu_conformance.fuzz.lib.wire_target import served
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run import failures

if TYPE_CHECKING:
    from npu_conformance.harness.subject.handle import SubjectHandle

DRIVERS = "fuzzed_drivers:plugin"


@pytest.fixture(autouse=True)
def _drivers_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HOSTILE))


def fuzz(folder: Path, *arguments: str, bug: str = "none", target: str = "models") -> int:
    """Run the command on drivers with a bug."""
    plugin = ["--plugin", DRIVERS, "--plugin-option", f"bug={bug}"]
    return main(["fuzz", target, *plugin, "--corpus", str(folder), *arguments])


def test_nothing_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz(tmp_path, "--runs", "100", "--seed", "7") == 0
    out = capsys.readouterr().out
    assert f"fuzz models of {DRIVERS}, engine evolution, seed 7" in out
    assert re.search(r"^\d+ s: 1 round, 100 runs \([\d,]+ a second\), corpus \d+, features \d+, findings 0$", out, re.M)
    assert out.splitlines()[-2:] == ["nothing new found", f"report: {tmp_path / 'report.html'}"]


def test_a_finding_replays_is_listed_and_known_the_next_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fuzz(tmp_path, "--runs", "100", bug="refuses") == 1
    out = capsys.readouterr().out
    assert "VALID-REFUSED in models: getSupportedOperations of a valid model of 1 operation (" in out
    (file,) = (tmp_path / "failures").iterdir()
    assert f"{file}\n" in out
    assert failures.load(file).case == "fuzz.models.short.runs"

    plugin = ["--plugin", DRIVERS, "--isolation", "inprocess"]
    assert main(["replay", str(file), *plugin, "--plugin-option", "bug=refuses"]) == 1
    assert main(["replay", str(file), *plugin]) == 0
    assert main(["replay", str(tmp_path), *plugin, "--plugin-option", "bug=refuses"]) == 1

    capsys.readouterr()
    assert main(["fuzz", "triage", str(tmp_path)]) == 1
    listed = capsys.readouterr().out
    assert listed.startswith("valid-refused: getSupportedOperations (models, at ")
    assert listed.endswith("1 finding\n")
    assert main(["fuzz", "triage", str(tmp_path), "--json"]) == 1
    (described,) = json.loads(capsys.readouterr().out)
    assert (described["kind"], described["name"]) == ("valid-refused", file.name)

    assert fuzz(tmp_path, "--runs", "100", bug="refuses") == 1
    again = capsys.readouterr().out
    assert "continues after 1 round" in again
    triage = f"npu-conformance fuzz triage {tmp_path}"
    assert f"nothing new found; 1 known finding was met again ({triage})\n" in again


def test_triage_tells_what_a_killed_campaign_had_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = CampaignFolder(tmp_path, SETTINGS)
    folder.note(Unmerged(fuzzer="models", engine="evolution", seed=3, start=START, sighting=sighting("SIGSEGV")))
    assert main(["fuzz", "triage", str(tmp_path)]) == 0  # the campaign goes on, and adds it at its round's end
    folder.close()
    assert main(["fuzz", "triage", str(tmp_path)]) == 1
    assert capsys.readouterr().out.startswith("no findings\ncrash: SIGSEGV (models, at 0 s, 2 bytes, seen once)\n")


def test_triage_says_which_finding_passed_when_the_next_was_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = CampaignFolder(tmp_path, SETTINGS)
    folder.add(result("models", found=(sighting("SIGSEGV", b"1"),)), 3, 1.0)
    again = replace(result("models", found=(replace(sighting("SIGSEGV", b"2"), is_another=True),)), repeats={
        "crash: SIGSEGV": 4
    })  # fmt: skip
    folder.add(again, 4, 2.0)
    folder.close()
    assert main(["fuzz", "triage", str(tmp_path)]) == 1
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("crash: SIGSEGV")]
    assert [line.rpartition(", ")[2] for line in told] == [
        "passed when another was found in this place)", "seen 5 times)",
    ]  # fmt: skip


def test_fuzzers_that_have_nothing_to_attack_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz(tmp_path, "cache", "models", "--runs", "5", "--hal", "1.0", target="burst") == 0
    out = capsys.readouterr().out
    assert "3 rounds, 5 runs" in out
    assert "burst: not applicable: there are no bursts before HAL 1.2\n" in out
    assert fuzz(tmp_path, "--runs", "5", "--hal", "1.0", target="burst") == 2
    assert capsys.readouterr().err == "npu-conformance: fuzz burst: there are no bursts before HAL 1.2\n"


def test_rounds_that_are_lost_are_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(job: RoundJob, **_: object) -> RoundResult:
        raise OSError("no such interpreter")

    monkeypatch.setattr(executors, "run_round", lost)
    assert fuzz(tmp_path, "--runs", "5") == 3
    assert "rounds lost: 1: OSError: no such interpreter\n" in capsys.readouterr().out


def test_a_campaign_that_is_interrupted_at_once_is_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(running: campaign.Campaign) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(campaign.Campaign, "run", interrupted)
    assert fuzz(tmp_path, "--runs", "5") == 3
    assert "interrupted: the rounds that were running are lost, except for their findings" in capsys.readouterr().out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_campaign_that_is_ended_tells_what_rounds_have_found_and_writes_its_page(
    number: signal.Signals, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever ends it is impatient: a second signal changes nothing."""

    def ended(running: campaign.Campaign) -> None:
        found = Unmerged(fuzzer="models", engine="evolution", seed=3, start=START, sighting=sighting("SIGSEGV"))
        running.folder.note(found)
        os.kill(os.getpid(), number)

    def reported(folder: Path) -> Path:
        os.kill(os.getpid(), number)
        return written(folder)

    written = _fuzz_findings.report
    monkeypatch.setattr(campaign.Campaign, "run", ended)
    monkeypatch.setattr(_fuzz_findings, "report", reported)
    assert fuzz(tmp_path, "--runs", "5") == 1
    out = capsys.readouterr().out
    assert "interrupted: the rounds that were running are lost, except for their findings" in out
    assert re.search(r"^\d+ s: 0 rounds, 0 runs .*, findings 1, the last new at \d+ s$", out, re.M)
    assert re.search(r"^crash +SIGSEGV +\S+json$", out, re.M)
    assert "SIGSEGV" in (tmp_path / "report.html").read_text()


def test_one_lost_round_of_several_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = itertools.count()

    def once(job: RoundJob, **_: object) -> RoundResult:
        if not next(numbers):
            raise OSError("gone")
        return RoundResult(fuzzer=job.fuzzer, engine=job.engine, executions=1, seconds=1.0, start_seconds=0.0)

    monkeypatch.setattr(executors, "run_round", once)
    monkeypatch.setattr(campaign, "_SHORTEST_ROUND", 0.01)
    assert fuzz(tmp_path, "--time", "0.1s") == 0
    assert "rounds lost: 1: OSError: gone\n" in capsys.readouterr().out


def test_what_rounds_have_done_that_go_on_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A round may last as long as a campaign does."""
    settings = Settings(format=1, plugin=DRIVERS, options={}, hal=None)
    folder, line, under_way = CampaignFolder(tmp_path, settings), CampaignLine(), UnderWay()
    job = RoundJob(fuzzer="models", plugin=DRIVERS, options={}, hal=None, engine="evolution", seed=0)
    now, workers = [0.0], executors.Workers(ThreadPoolExecutor(1), run_round, 1, under_way)
    running = campaign.Campaign(folder, job, [], campaign.Limits(60.0, None), workers, clock=lambda: now[0])
    under_way.ran("the first", 5_000)
    under_way.ran("the second", 1_000)
    under_way.ran("the first", 6_500)
    for where in ("here", "here", "there"):
        folder.note(Unmerged(fuzzer="models", engine="evolution", seed=3, start=START, sighting=sighting(where)))
    now[0] = 30.0
    line(running)
    under_way.ran("the first", 0)
    folder.add(result("models", found=(sighting("here"), sighting("there"))), 3, 31.0)
    now[0] = 60.0
    line(running)
    folder.close()
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "30 s: 0 rounds, 7,500 runs (250 a second), corpus 0, features 0, findings 2"
    assert told[-1].startswith("60 s: 1 round, 1,010 runs (17 a second), corpus 0, features 0, findings 2, ")


@pytest.mark.parametrize("is_terminal", [True, False])
def test_who_waits_for_a_smaller_hang_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, is_terminal: bool
) -> None:
    """It looked stuck: nothing else of a campaign changes meanwhile."""
    now = [0.0]
    monkeypatch.setattr("sys.stdout.isatty", lambda: is_terminal)
    under_way, settings = UnderWay(lambda: now[0]), Settings(format=1, plugin=DRIVERS, options={}, hal=None)
    folder, line = CampaignFolder(tmp_path, settings), CampaignLine()
    job = RoundJob(fuzzer="models", plugin=DRIVERS, options={}, hal=None, engine="evolution", seed=0)
    workers = executors.Workers(ThreadPoolExecutor(1), run_round, 1, under_way)
    running = campaign.Campaign(folder, job, [], campaign.Limits(60.0, None), workers, clock=lambda: now[0])
    with under_way.of("hang in models (no end in driver.compute)"):
        for now[0] in (0.0, 9.0, 12.0):
            line(running)
    line(running)
    folder.close()
    counts = "0 rounds, 0 runs (0 a second), corpus 0, features 0, findings 0"
    hang = "hang in models (no end in driver.compute)"
    lines = (
        [f"0 s: {counts}", *(f"{at} s, making the {hang} smaller for {at} s: {counts}" for at in (9, 12)),
         f"12 s: {counts}"]
        if is_terminal
        else [f"9 s: making the {hang} smaller", f"12 s: the {hang} is as small as it gets", ""]
    )  # fmt: skip
    said = capsys.readouterr().out
    assert [part[:79] for part in lines] == (said.split("\r\033[K")[1:] if is_terminal else said.split("\n"))


@pytest.mark.parametrize("plugin", ["exec:./driver", "unix:/driver", "tcp:127.0.0.1:9"])
def test_lines_are_broken_for_what_python_loads(plugin: str, capsys: pytest.CaptureFixture[str]) -> None:
    attacked = Attacked(cast("SubjectHandle", None), plugin, {})
    with pytest.raises(NotApplicable, match="broken lines are for what Python loads"):
        served(attacked)
    assert main(["serve", plugin, "--listen", "unix:/nowhere"]) == 2
    assert f"plug-in {plugin} is another process; expected one that Python loads" in capsys.readouterr().err


def test_a_mistake_of_the_suite_is_not_promoted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz(tmp_path / "campaign", "--runs", "100", bug="refuses") == 1
    (file,) = (tmp_path / "campaign" / "failures").iterdir()
    findings = tmp_path / "campaign" / "findings.jsonl"
    findings.write_text(findings.read_text().replace('"valid-refused"', '"harness-defect"'))
    words = ["fuzz", "promote", file.stem, "--to", str(tmp_path / "kept"), "--corpus", str(tmp_path / "campaign")]
    capsys.readouterr()
    assert main(words) == 2
    assert "a mistake of this suite, which says nothing about any plug-in" in capsys.readouterr().err
    assert not (tmp_path / "kept").exists()


def test_a_promoted_finding_is_a_case_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz(tmp_path / "campaign", "--runs", "100", bug="refuses") == 1
    (file,) = (tmp_path / "campaign" / "failures").iterdir()
    corpus, kept = ["--corpus", str(tmp_path / "campaign")], tmp_path / "findings"
    assert main(["fuzz", "promote", "another", "--to", str(kept), *corpus]) == 2
    assert f"has no such finding; it has {file.name}" in capsys.readouterr().err
    assert main(["fuzz", "promote", file.stem, "--to", str(kept), *corpus]) == 0
    capsys.readouterr()
    assert main(["fuzz", "promote", file.stem, "--to", str(file), *corpus]) == 2
    assert capsys.readouterr().err == f"npu-conformance: {file}: cannot be promoted: File exists\n"
    (promoted,) = kept.iterdir()
    promoted.write_bytes(promoted.read_bytes() + b"\n")
    assert main(["fuzz", "promote", file.stem, "--to", str(kept), *corpus]) == 2
    assert f"{promoted}: another finding was promoted by this name" in capsys.readouterr().err
    case = f"fuzz.models.promoted.{re.sub('[^A-Za-z0-9_]', '_', file.stem)}"

    capsys.readouterr()
    assert main(["list", "*.promoted.*", "--vectors", str(kept)]) == 0
    assert capsys.readouterr().out == f"{case}\n"
    run = ["run", "*.promoted.*", "--vectors", str(kept), "-q", "--report", str(tmp_path / "r")]
    run += ["--plugin", DRIVERS, "--isolation", "inprocess"]
    assert main([*run, "--plugin-option", "bug=refuses"]) == 1
    assert f"{case}: getSupportedOperations of a valid model" in capsys.readouterr().out
    assert main(run) == 0
    waivers = tmp_path / "waivers.json"
    known = {
        "id": case,
        "requirement": "FUZ-001",
        "reason": "known",
        "owner": "ada",
        "link": "https://bugs.example/1",
        "expires": "2999-01-01",
    }
    waivers.write_text(json.dumps({"format": 1, "waivers": [known]}))
    assert main([*run, "--plugin-option", "bug=refuses", "--waivers", str(waivers)]) == 0


def test_findings_and_vectors_are_kept_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "models-crash.finding.json").write_text("{}")
    assert main(["list", "fuzz", "--vectors", str(tmp_path)]) == 2
    assert "models-crash.finding.json: is no failure file" in capsys.readouterr().err
    (tmp_path / "add.json").write_text("{}")
    assert main(["list", "vts", "--vectors", str(tmp_path)]) == 2
    assert "it holds findings and vectors, such as add.json: keep them apart" in capsys.readouterr().err


@pytest.mark.parametrize("area", AREAS)
def test_findings_of_every_fuzzer_can_be_promoted(area: str) -> None:
    assert callable(importlib.import_module(f"npu_conformance.fuzz.{area}").cases_from)


def test_the_corpus_is_made_small(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz(tmp_path, "--runs", "300", target="wire") == 0
    before = len(list((tmp_path / "corpus" / "wire").iterdir()))
    capsys.readouterr()
    assert main(["fuzz", "minimise", str(tmp_path)]) == 0
    match = re.fullmatch(r"wire: (\d+) inputs, (\d+) kept\n", capsys.readouterr().out)
    assert match
    assert before == int(match[1]) > int(match[2]) == len(list((tmp_path / "corpus" / "wire").iterdir()))


def test_the_time_is_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "_SHORTEST_ROUND", 0.3)
    assert fuzz(tmp_path, "wire", "--time", "0.5s") == 0
    lines = [json.loads(line) for line in (tmp_path / "rounds.jsonl").read_text().splitlines()]
    assert {line["fuzzer"] for line in lines} == {"models", "wire"}


@pytest.mark.parametrize("name", ["all", "wire"])
def test_the_help_of_a_fuzzer_has_examples_and_exit_codes(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["fuzz", name, "--help"])
    told = capsys.readouterr().out
    assert f"\n  npu-conformance fuzz {name} --plugin my_package.driver:plugin --time 10m --jobs 2\n" in told
    assert "1 a finding, new or met again" in told


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(AREAS)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--plugin", "nonsense"], "unknown plug-in 'nonsense'"),
        (["--plugin", DRIVERS, "--runs", "0"], "--runs: expected a positive number, found 0"),
        (["--plugin", DRIVERS, "--jobs", "0"], "--jobs: expected a positive number, found 0"),
        (["--plugin", DRIVERS, "--time", "-1"], "expected a time such as 90s, 15m or 2h, found '-1'"),
        (["--plugin", DRIVERS, "--time", "soon"], "expected a time such as 90s, 15m or 2h, found 'soon'"),
        (["--plugin", DRIVERS, "--time", "5"], "expected a time such as 90s, 15m or 2h, found '5'"),
        (["--plugin", DRIVERS, "--seed", "-1"], "--seed: expected a number from 0 up"),
        (
            ["--plugin", DRIVERS, "--longest-wait", "0"],
            "--longest-wait: expected a positive number of seconds",
        ),
        (["--plugin", DRIVERS, "--hal", "9.9"], "--hal"),
        (["--plugin", DRIVERS, "--plugin-option", "x"], "expected NAME=VALUE"),
        (["nonsense", "--plugin", DRIVERS], f"fuzz: expected some of {AREAS[0]}, {AREAS[1]}, "),
    ],
)
def test_bad_command_lines_are_one_line(
    arguments: list[str], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(["fuzz", "models", *arguments, "--corpus", str(tmp_path)])
    except SystemExit as ended:
        code = int(str(ended.code))
    assert code == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if line.startswith("npu-conformance") and text in line]


@pytest.mark.parametrize("words", ["triage", "minimise", "report", "promote one --to kept --corpus"])
def test_no_command_reads_a_campaign_by_a_link(words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "campaign.json").write_bytes(campaigns()[0])
    (tmp_path / "failures").symlink_to("/")
    assert main(["fuzz", *words.split(), str(tmp_path)]) == 2
    assert "failures: a symbolic link, which no campaign makes and none follows\n" in capsys.readouterr().err


@pytest.mark.parametrize("action", ["triage", "minimise"])
def test_a_folder_without_a_campaign_is_said(action: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", action, str(tmp_path)]) == 2
    assert f"{tmp_path}: no campaign has run there" in capsys.readouterr().err
