"""A run as a vendor sees it: what is printed before and after, what the folder holds, and how it can be used."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import warm_python
from places import HOSTILE, ROOT
from vendor_command import Command

from npu_conformance.cli.commands._shards import _run_on, run_processes
from npu_conformance.cli.main import main
from npu_conformance.corpus import vectors
from npu_conformance.harness.report.console import Console
from npu_conformance.harness.report.progress import Progress
from npu_conformance.harness.run import engine, results
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext

PLUGIN = ("--plugin", "vendor_plugins:first_day", "--isolation", "inprocess")
FIRST_DAY = Path(".npu-conformance/first-day")
RED = ("run", "vts.queries", "vts.validation.RELU", "vts.generated.RELU", *PLUGIN)


def test_the_first_day_of_bring_up(command: Command) -> None:
    code, out, err = command(*RED)
    lines = out.splitlines()
    assert code == 1
    assert lines[0].startswith("first-day 1 (vendor_plugins:first_day), HAL 1.0, seed 0: ")
    assert lines[0].endswith(" cases, scope default")
    assert "what is wrong, most frequent first:" in lines
    assert "fail: getSupportedOperations of the invalid model: expected INVALID_ARGUMENT (RELU" in out
    assert "Let getSupportedOperations accept one operation, RELU say, then: npu-conformance run" in out
    (folder,) = FIRST_DAY.glob("*Z-1.0-vts.queries-vts.validation.RELU-vts.generated.RELU")
    assert lines[-1].startswith(f"report: {folder} (report.html")
    assert err.startswith("FAIL RELU NNHAL-MODEL-")


@pytest.mark.parametrize(("places", "explained"), [(("both", "both"), 1), (("out", "errors"), 2)])
def test_a_reason_is_told_once_where_both_streams_are_one_terminal(
    command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    places: tuple[str, str],
    explained: int,
) -> None:
    with contextlib.ExitStack() as open_ones:
        for name, place in zip(("stdout", "stderr"), places, strict=True):
            stream = open_ones.enter_context((tmp_path / place).open("a"))
            monkeypatch.setattr(sys, name, stream)
        assert main(RED) == 1
    told = "".join((tmp_path / place).read_text() for place in dict.fromkeys(places))
    heads = [line for line in told.splitlines() if line.startswith("FAIL RELU NNHAL-MODEL-")]
    assert len(heads) == 2 * len({head.split(": ")[1] for head in heads})  # each as it happens and at the end
    assert sum(": getSupportedOperations of the invalid model" in head for head in heads) * 2 == explained * len(heads)


def test_the_command_at_the_end_replays_the_failure(command: Command, tmp_path: Path) -> None:
    _, out, _ = command(*RED)
    program, *words = shlex.split(next(line for line in out.splitlines() if "npu-conformance replay" in line))
    assert program == "npu-conformance"
    code, told, _ = command(*words)
    assert code == 1
    assert told.startswith("was fail, now fail\nFAIL RELU NNHAL-MODEL-")
    assert re.search(r"^  (\d+) of \1 configurations that had failed: fail$", told, re.MULTILINE)
    assert command(*words, "--bisect")[0] == 1


def test_a_failure_that_comes_and_goes_is_flaky(command: Command) -> None:
    moody = ("--plugin", "vendor_plugins:moody", "--isolation", "inprocess")
    assert command("run", "vts.queries.status.available", *moody, "--report", "kept")[0] == 1
    code, out, _ = command("replay", "kept", *moody, "--repeat", "4")
    told = "vts.queries.status.available: fail 2 of 4, pass 2 of 4: flaky\n"
    assert (code, out) == (1, f"{told}0 still fail each time, 1 flaky, 0 did not fail once\n")
    code, out, _ = command("replay", "kept", "--plugin", "reference", "--isolation", "inprocess", "--repeat", "2")
    told = "vts.queries.status.available: pass 2 of 2, was fail: fixed, or flaky\n"
    assert (code, out) == (0, f"{told}0 still fail each time, 0 flaky, 1 did not fail once\n")
    assert "--repeat" in command("replay", "kept", *moody, "--repeat", "0")[2]


def test_the_folder_tells_it_again(command: Command, tmp_path: Path) -> None:
    _, out, _ = command(*RED, "--report", "kept")
    held = {path.name for path in (tmp_path / "kept").iterdir()}
    assert held == {".run", "events.jsonl", "results.json", "junit.xml", "report.html", "failures"}
    _, again, _ = command("report", "kept")
    assert again.splitlines()[:6] == out.splitlines()[1:7]
    code, stored, _ = command("report", "kept", "--json")
    assert (code, json.loads(stored)) == (0, json.loads((tmp_path / "kept" / "results.json").read_text()))
    _, explained, _ = command("report", "kept", "--failures")
    assert explained.count("FAIL RELU NNHAL-") == json.loads(stored)["counts"]["fail"]
    assert command("report", "kept", "--warnings")[1] == "no quality warnings\n"
    assert command("report", "kept", "--html", "page.html", "--junit", "junit.xml")[1] == ""
    assert (tmp_path / "page.html").read_text().lower().startswith("<!doctype html>")
    assert (tmp_path / "junit.xml").read_text() == (tmp_path / "kept" / "junit.xml").read_text()


def test_a_green_part_says_how_to_get_a_verdict_on_all(command: Command) -> None:
    code, out, err = command("run", "vts.queries", *PLUGIN)
    assert (code, err) == (0, "")
    assert f"next: for a verdict on all of it: npu-conformance run {shlex.join(PLUGIN)}\n" in out
    assert "what is wrong" not in out


def test_words_may_stand_behind_options(command: Command) -> None:
    code, out, _ = command("list", "vts.queries.liveness", "-k", "queries", "vts.queries.type")
    assert (code, {line.split(".")[2] for line in out.splitlines()}) == (0, {"liveness", "type"})


def test_vectors_and_waivers_may_come_from_several_places(command: Command, tmp_path: Path) -> None:
    relu, relu6 = (str(vectors.path_of(name)) for name in ("RELU", "RELU6"))
    code, out, _ = command("list", "vts.external", "--vectors", relu, "--vectors", relu6)
    assert {line.split(".")[2] for line in out.splitlines()} == {"RELU", "RELU6"}
    code, _, err = command("list", "vts.external", "--vectors", relu, "--vectors", relu)
    assert (code, err.endswith(f" is in {relu}, too\n")) == (2, True)
    written = []
    for name in ("RELU", "RELU6"):
        written.append(f"{name}.json")
        Path(written[-1]).write_text(json.dumps({"format": 1, "waivers": [a_waiver(f"vts.validation.{name}.*")]}))
    cases = [f"vts.validation.{name}.graph_indexes" for name in ("RELU", "RELU6")]
    both = ["--waivers", written[0], "--waivers", written[1]]
    target = ["run", *cases, *PLUGIN, "--vectors", relu, "--vectors", relu6, *both]
    for number in ("1", "2"):
        assert command(*target, "-n", number, "--report", number)[0] == 0
        assert results.read(Path(number, "results.json")).waived == 2
    assert command(*target, "--shard", "1/2", "--report", "3")[0] == 0
    assert command(*target, "--shard", "2/2", "--report", "4")[0] == 0
    code, _, err = command("merge", "3", "4", "--report", "whole", "--waivers", written[0])
    assert (code, err) == (2, "npu-conformance: --waivers: the shards were run with other ones than --waivers names\n")
    assert command("merge", "3", "4", "--report", "whole", "--waivers", written[1], "--waivers", written[0])[0] == 0


def test_a_run_that_is_red_by_a_waiver_alone_says_so_everywhere(command: Command, tmp_path: Path) -> None:
    (tmp_path / "w.json").write_text(json.dumps({"format": 1, "waivers": [a_waiver("vts.gone.*")]}))
    assert command("run", "vts.queries.liveness.ping", *PLUGIN, "--waivers", "w.json", "--report", "red")[0] == 1
    assert 'failures="1"' in (tmp_path / "red" / "junit.xml").read_text()
    told = "red: waiver vts.gone.* (NNHAL-MODEL-051, me@example.com) matches none of the selected cases\n"
    assert command("report", "red", "--failures")[1] == told


def a_waiver(case: str) -> dict[str, str]:
    return {
        "id": case, "requirement": "NNHAL-MODEL-051", "reason": "bring-up", "owner": "me@example.com",
        "link": "https://example.com/1", "expires": "2999-12-31",
    }  # fmt: skip


def test_a_waiver_and_a_baseline_turn_it_green(command: Command, tmp_path: Path) -> None:
    target = ("run", "vts.validation.RELU.graph_indexes", *PLUGIN)
    assert command(*target, "--report", "before")[0] == 1
    code, out, _ = command(*target, "--baseline", "before/results.json")
    assert (code, "regression:" in out) == (0, False)
    assert "compared with the baseline: 0 regressions, 1 known, 0 fixed" in out
    requirement = next(iter(json.loads((tmp_path / "before" / "results.json").read_text())["by_requirement"]))
    waiver = {
        "id": "vts.validation.RELU.*",
        "requirement": requirement,
        "reason": "bring-up",
        "owner": "me@example.com",
        "link": "https://example.com/1",
        "expires": "2999-12-31",
    }
    (tmp_path / "waivers.json").write_text(json.dumps({"format": 1, "waivers": [waiver]}))
    code, out, _ = command(*target, "--waivers", "waivers.json")
    assert (code, "1 case waived" in out) == (0, True)


@pytest.mark.parametrize("more", [(), ("-n", "2")])
def test_a_run_that_shows_nothing_is_red_where_conformance_is_required(command: Command, more: tuple[str, ...]) -> None:
    words = ("run", "vts.queries", "--plugin", "reference", "--report", "report", *more)
    assert command(*words)[0] == 0
    code, out, _ = command(*words, "--require-conformant")
    assert code == 1
    assert "red: not shown to be conformant, which --require-conformant asks for" in out


def test_bisecting_takes_what_can_not_be_run_for_neither(command: Command, tmp_path: Path) -> None:
    command("run", "vts.validation.RELU.graph_indexes", *PLUGIN, "--report", "kept")
    (file,) = (tmp_path / "kept" / "failures").iterdir()
    assert command("replay", str(file), *PLUGIN, "--bisect")[0] == 1
    assert command("replay", str(file), "--plugin", "reference", "--isolation", "inprocess", "--bisect")[0] == 0
    code, out, err = command("replay", str(file), "--plugin", "gone", "--bisect")
    assert (code, out, err.count("\n")) == (125, "", 1)


def test_bisecting_that_is_interrupted_is_neither(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(case: Case, context: CaseContext) -> None:
        raise KeyboardInterrupt

    command("run", "vts.validation.RELU.graph_indexes", *PLUGIN, "--report", "kept")
    (file,) = (tmp_path / "kept" / "failures").iterdir()
    monkeypatch.setattr(engine, "_judge", interrupted)
    assert command("replay", str(file), *PLUGIN, "--isolation", "inprocess", "--bisect")[0] == 125
    assert command("replay", str(file), *PLUGIN, "--isolation", "inprocess")[0] == 3


def test_the_list_of_faults_is_json_where_that_is_asked_for(command: Command) -> None:
    code, out, _ = command("faults", "--list", "--json")
    known = json.loads(out)
    (fault,) = [each for each in known["faults"] if each["id"] == "pad-raw-zero"]
    assert (code, sorted(fault)) == (0, ["breaks", "caught_by", "description", "id"])
    assert known["variants"][0].keys() == {"id", "description"}


def test_what_hides_an_interface_or_its_control_is_told(command: Command) -> None:
    case = "cts.npu_manager.lifecycle.grant"
    lines = command("run", case, "--plugin", "vendor_plugins:uncontrolled")[1].splitlines()
    assert (
        "coverage: 1 of 1 case of the NPU Manager could not be tested: the subject has no manager_control interface "
        "(to be judged, add a manager_control to the plug-in)"
    ) in lines
    code, _, err = command("run", case, "--plugin", "vendor_plugins:forgotten")
    assert code == 1
    assert "interfaces of the subject: expected manager, which its manifest names, found none" in err


def test_every_example_of_the_ids_page_selects_something(command: Command) -> None:
    page = (ROOT / "docs" / "case-ids.md").read_text()
    examples = [line.strip() for line in page.splitlines() if line.strip().startswith("npu-conformance list")]
    assert len(examples) > 4
    for example in examples:
        code, out, _ = command(*shlex.split(example, comments=True)[1:])
        assert (code, bool(out)) == (0, True), example


def test_a_killed_run_goes_on(command: Command, tmp_path: Path) -> None:
    command("run", "vts.queries", *PLUGIN, "--report", "kept")
    whole = json.loads((tmp_path / "kept" / "results.json").read_text())
    events = tmp_path / "kept" / "events.jsonl"
    lines = events.read_bytes().splitlines(keepends=True)
    events.write_bytes(b"".join(lines[:8]) + lines[8][:10])
    (tmp_path / "kept" / "results.json").unlink()
    _, out, _ = command("report", "kept")
    assert "the run was cut off" in out
    assert "the same command with --resume continues it" in out
    assert command("run", "vts.queries", *PLUGIN, "--report", "kept", "--resume")[0] == 0
    assert json.loads((tmp_path / "kept" / "results.json").read_text())["counts"] == whole["counts"]


def test_processes_share_a_report(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HOSTILE), os.environ.get("PYTHONPATH", "")]))
    code, out, _ = command("run", "vts.queries", "vts.validation.RELU6.graph_indexes", *PLUGIN, "-n", "2")
    assert code == 1
    assert out.startswith("first-day 1 (vendor_plugins:first_day), HAL 1.0, seed 0: 18 cases, scope default, in 2 proc")
    folder = (FIRST_DAY / "latest").resolve()
    assert {path.name for path in folder.iterdir()} == {
        ".run", "events.jsonl", "results.json", "junit.xml", "report.html", "failures",
    }  # fmt: skip
    (file,) = (folder / "failures").iterdir()
    assert file.name == "vts.validation.RELU6.graph_indexes.json"
    replay = json.loads(file.read_text())["result"]["notes"]["replay"]
    assert command(*shlex.split(replay)[1:])[0] == 1, "it runs as it is"


def _with_closed_output(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command as `... | true`: with nobody who reads its output."""
    reader, writer = os.pipe()
    os.close(reader)
    environment = {**os.environ, "PYTHONPATH": str(HOSTILE)}
    try:
        return warm_python.run("-m", "npu_conformance", *arguments, stdout=writer, env=environment)
    finally:
        os.close(writer)


@pytest.mark.parametrize("arguments", [("list",), ("schemas",), ("requirements", "--json")])
def test_a_reader_that_goes_away_is_no_error(arguments: tuple[str, ...]) -> None:
    finished = _with_closed_output(*arguments)
    assert (finished.returncode, finished.stderr) == (0, "")


def test_a_run_keeps_its_verdict_where_nobody_reads_it(tmp_path: Path) -> None:
    finished = _with_closed_output(
        "run", "vts.validation.RELU.graph_indexes", *PLUGIN, "-q", "--report", str(tmp_path / "kept")
    )
    assert finished.returncode == 1
    assert finished.stderr.startswith("FAIL RELU NNHAL-MODEL-")
    assert finished.stderr.count("\n") == 1
    assert (tmp_path / "kept" / "report.html").exists()


def test_the_display_ends_also_where_a_run_cannot_begin(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Progress] = []

    def progress_for(total: int, *, quiet: bool, is_short: bool) -> Progress:
        shown.append(Progress(total, Console(io.StringIO()), quiet=quiet))
        return shown[0]

    monkeypatch.setattr("npu_conformance.cli.commands._running.progress_for", progress_for)
    assert command("run", "vts.queries", *PLUGIN, "--waivers", "none.json")[0] == 2
    assert shown[0].closed


def test_shards_run_as_processes_at_once() -> None:
    codes = run_processes([["--version"], ["no-such-command"]], lambda: None)
    assert codes[0] == 0
    assert codes[1] != 0


def test_a_complete_run_that_is_resumed_elsewhere_has_nothing_to_send() -> None:
    with ThreadPoolExecutor() as executor:
        assert _run_on(executor, argparse.Namespace(), [], lambda: None) == []
