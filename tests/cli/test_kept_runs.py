"""What was run is kept: reports beside each other, runs that are killed and go on, failures that run again."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
import warm_python
from vendor_command import Command

PLUGIN = ("--plugin", "vendor_plugins:first_day", "--isolation", "inprocess")
REFERENCE = ("--plugin", "reference", "--isolation", "inprocess", "--hal", "1.0")
ENDING = ("--plugin", "ending_plugins:plugin", "--isolation", "inprocess")
RED = "vts.validation.RELU.graph_indexes"
HOME = Path(".npu-conformance/first-day")
WITH_INTERRUPT = """
import signal, sys
from npu_conformance.cli.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # a test in the background may have been told to ignore it
sys.exit(main(sys.argv[1:]))
"""


def process(*arguments: str) -> warm_python.Process:
    """The command as a process of its own."""
    return warm_python.start("-c", WITH_INTERRUPT, *arguments)


def results(folder: Path) -> Any:
    return json.loads((folder / "results.json").read_text())


def latest() -> Path:
    return HOME / (HOME / "latest").readlink()


def runs() -> list[Path]:
    """The report folders of the plug-in."""
    return [path for path in HOME.iterdir() if not path.is_symlink()]


def test_a_small_run_does_not_replace_a_large_one(command: Command) -> None:
    assert command("run", "vts.queries", RED, *PLUGIN)[0] == 1
    (large,) = runs()
    assert command("run", "vts.queries", *PLUGIN)[0] == 0
    assert len(results(large)["cases"]) == 18
    assert len(results(HOME / "latest")["cases"]) == 17
    code, out, _ = command("diff", str(large), str(HOME))
    assert (code, out.splitlines()[1]) == (0, f"1 case only in {large}")
    assert command("report", str(HOME))[1] == command("report", str(HOME / "latest" / "results.json"))[1]
    code, out, _ = command("run", RED, *PLUGIN, "--baseline", str(large))
    assert (code, "regression:" in out) == (0, False)


def test_runs_at_once_keep_both_reports(command: Command) -> None:
    both = [process("run", target, *PLUGIN) for target in ("vts.queries", RED)]
    assert [each.wait() for each in both] == [0, 1]
    for each in both:
        each.communicate()
    counted = {folder.name[-5:]: len(results(folder)["cases"]) for folder in runs()}
    assert counted == {"eries": 17, "dexes": 1}
    assert (HOME / "latest").resolve() in [folder.resolve() for folder in runs()]


def test_only_the_newest_are_kept(command: Command) -> None:
    told = []
    for _ in range(3):
        code, out, _ = command("run", RED, *PLUGIN, "--keep", "2")
        assert code == 1
        told.append([line for line in out.splitlines() if line.startswith("removed ")])
    assert len(runs()) == 2
    assert told[:2] == [[], []]
    assert told[2][0].startswith(f"removed 1 old report (--keep): {HOME}/")
    assert command("run", RED, *PLUGIN, "--keep", "0")[::2] == (
        2,
        "npu-conformance: --keep: expected a positive number, found 0\n",
    )


def test_a_folder_of_the_user_keeps_the_earlier_run(command: Command) -> None:
    assert command("run", "vts.queries", *PLUGIN, "--report", "kept")[0] == 0
    code, out, _ = command("run", RED, *PLUGIN, "--report", "kept")
    (earlier,) = Path("kept").glob("earlier-*")
    assert (code, f"the earlier run in kept is kept in {earlier}\n" in out) == (1, True)
    assert (len(results(Path("kept"))["cases"]), len(results(earlier)["cases"])) == (1, 17)
    assert command("report", str(earlier))[0] == 0


def test_a_folder_with_files_of_the_user_is_no_report_folder(command: Command) -> None:
    Path("build/failures").mkdir(parents=True)
    mine = {Path("build/junit.xml"): "of another tool", Path("build/failures/notes.txt"): "mine"}
    for path, text in mine.items():
        path.write_text(text)
    refused = "npu-conformance: build: no run has made what is here (junit.xml, failures): name another report folder\n"
    assert command("run", RED, *PLUGIN, "--report", "build", "--keep", "1") == (2, "", refused)
    assert {path: path.read_text() for path in Path("build").rglob("*") if path.is_file()} == mine


def test_a_report_to_the_folder_of_a_plug_in_is_one_more_run(command: Command) -> None:
    for where in ((), ("--report", str(HOME))):
        assert command("run", RED, *PLUGIN, *where)[0] == 1
    assert len(runs()) == 2
    assert all(len(results(folder)["cases"]) == 1 for folder in runs())


def test_only_the_same_run_is_resumed(command: Command) -> None:
    target = ("run", "vts.queries", *PLUGIN)
    code, out, err = command(*target, "--resume")
    assert (code, out) == (2, "")
    assert err == "npu-conformance: .npu-conformance/first-day/latest: there is no earlier run here\n"
    assert command(*target)[0] == 0
    assert command(*target, "--resume")[0] == 0
    (folder,) = runs()
    Path("waivers.json").write_text('{"format": 1, "waivers": []}')
    for changed, told in (
        ((*target, "--waivers", "waivers.json"), "the digest of the waivers was none, and is "),
        (("run", "vts.queries", *PLUGIN, "--seed", "5"), "the seed was 0, and is 5 now"),
        (("run", RED, *PLUGIN), f"the selection was vts.queries, and is {RED} now"),
        ((*target, "--plugin-option", "speed=1"), "the options of the plug-in were --plugin vendor_plugins:first_day"),
    ):
        code, out, err = command(*changed, "--resume")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith(f"npu-conformance: {folder}: cannot be resumed: {told}")
    assert len(results(folder)["cases"]) == 17


def test_a_run_is_not_resumed_with_another_build_of_the_plug_in(command: Command) -> None:
    """Its verdicts would belong to neither."""
    package = Path("rebuilt_npu")
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "driver.py").write_text("from vendor_plugins import first_day as plugin\n")
    run = ("run", "vts.queries.liveness.ping", "--plugin", "rebuilt_npu.driver:plugin", "--isolation", "inprocess")
    assert command(*run)[0] == 0
    assert command(*run, "--resume")[0] == 0
    (package / "kernels.py").write_text("speed = 2\n")
    code, _, err = command(*run, "--resume")
    assert (code, err.count("\n")) == (2, 1)
    assert ": cannot be resumed: the digest of the plug-in's files was " in err


def test_a_killed_run_in_processes_goes_on_in_any_number_of_them(command: Command) -> None:
    target = ("run", "vts.queries", RED, "vts.validation.RELU6.graph_indexes", *ENDING)
    Path("end-the-run").write_text(str(int(signal.SIGKILL)))
    killed = process(*target, "-n", "2")
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    out = command("report", ".npu-conformance/ending")[1]
    assert "the same command with --resume continues it" in out
    assert command(*target, "--resume", "-n", "3")[0] == 1
    folder = Path(".npu-conformance/ending/latest").resolve()
    whole = results(folder)
    assert whole["counts"] == {"pass": 7, "not-applicable": 9, "not-supported": 1, "fail": 2}
    assert (whole["complete"], whole["problems"]) == (True, [])
    assert len(list((folder / "failures").iterdir())) == 2
    assert not (folder / "shards").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_of_processes_is_followed_by_the_command_that_it_prints(
    number: signal.Signals, command: Command
) -> None:
    target = ("run", "vts.queries", RED, *ENDING, "-n", "2")
    Path("end-the-run").write_text(str(int(number)))
    interrupted = process(*target)
    out, _ = interrupted.communicate()
    assert interrupted.returncode == 3
    assert "the run did not finish; the same command with --resume continues it\n" in out
    assert command(*target, "--resume")[0] == 1
    whole = results(Path(".npu-conformance/ending/latest"))
    assert whole["counts"] == {"pass": 7, "not-applicable": 9, "not-supported": 1, "fail": 1}
    assert (whole["complete"], whole["problems"]) == (True, [])


def test_processes_stop_after_red_cases_of_all_of_them(command: Command) -> None:
    words = ("vts.validation", "-k", "ADD or MUL or RELU", "--seed", "7", "-n", "2", "-x", "3", "--report", "out")
    code, _, _ = command("run", *words, *PLUGIN)
    found = results(Path("out"))
    assert (code, {one["reason"] for one in found["not_run"]}) == (1, {"stopped after 3 red cases"})
    assert 3 <= found["counts"]["fail"] < found["counts"]["not-run"], found["counts"]
    assert not Path("out/shards").exists()


def test_what_failed_last_runs_again(command: Command) -> None:
    code, _, err = command("run", "--last-failed", *PLUGIN)
    assert (code, err) == (2, "npu-conformance: .npu-conformance/first-day/latest: there is no earlier run here\n")
    assert command("run", "vts.queries", RED, *PLUGIN)[0] == 1
    earlier = latest()
    code, out, _ = command("run", "--last-failed", *PLUGIN)
    assert (code, f": 1 case, red in {earlier}, scope default\n" in out) == (1, True)
    assert latest().name.endswith("-1.0-last-failed")
    assert results(HOME / "latest")["selection"]["last_failed"]
    assert command("run", "--last-failed", *PLUGIN, "--resume")[0] == 1
    code, _, err = command("run", "vts.queries", "--last-failed", *PLUGIN)
    told = f"--last-failed: nothing of the selection was red in {latest()} or a run before it"
    assert (code, err) == (2, f"npu-conformance: {told}\n")


def test_what_failed_is_not_forgotten_where_something_else_has_run_since(command: Command) -> None:
    """As pytest's --last-failed has it."""
    assert command("run", RED, "vts.validation.RELU6.graph_indexes", *PLUGIN)[0] == 1
    earlier = latest()
    assert command("run", "vts.queries.liveness.ping", *PLUGIN)[0] == 0
    code, out, _ = command("run", "--last-failed", "-k", "RELU6", *PLUGIN)
    assert (code, f": 1 case, red in {earlier}, scope default\n" in out) == (1, True)
    assert command("run", RED, "--baseline", str(earlier), *PLUGIN)[0] == 0
    assert f": 1 case, red in {HOME}" in command("run", "--last-failed", *PLUGIN)[1], "one is green by now"
    assert command("run", RED, "vts.validation.RELU6.graph_indexes", "--baseline", str(earlier), *PLUGIN)[0] == 0
    code, _, err = command("run", "--last-failed", *PLUGIN)
    assert (code, err) == (2, f"npu-conformance: --last-failed: nothing was red in {latest()} or a run before it\n")


@pytest.mark.parametrize("named", [HOME, HOME / "latest" / "results.json"])
def test_all_failures_of_a_run_run_again(command: Command, named: Path) -> None:
    assert command("run", RED, "vts.validation.RELU6.graph_indexes", *PLUGIN)[0] == 1
    code, out, _ = command("replay", str(named), *PLUGIN)
    assert code == 1
    assert [line.partition(" NNHAL")[0] for line in out.splitlines()[:-1]] == [
        "was fail, now FAIL RELU",
        "was fail, now FAIL RELU6",
    ]
    assert out.splitlines()[-1] == "2 still fail, 0 now pass"
    assert command("replay", str(named), *PLUGIN, "--bisect")[0] == 1
    code, out, _ = command("replay", str(named), *REFERENCE)
    assert (code, out.splitlines()[-1]) == (0, "0 still fail, 2 now pass")
    assert command("replay", str(HOME / "latest" / "failures"), *REFERENCE, "--bisect")[0] == 0
    assert command("replay", ".", *PLUGIN)[::2] == (2, "npu-conformance: .: no failure file is here\n")


@pytest.mark.parametrize("named", [HOME, HOME / "latest" / "results.json"])
def test_a_failure_file_that_can_not_be_read_stops_no_other(command: Command, named: Path) -> None:
    assert command("run", RED, *PLUGIN)[0] == 1
    (good,) = (HOME / "latest" / "failures").glob("*.json")
    broken = good.with_name("broken.json")
    broken.write_text("{")
    good.with_name("unknown.json").write_text(good.read_text().replace(RED, "vts.gone.RELU.indexes"))
    code, out, err = command("replay", str(named), *REFERENCE)
    assert (code, out.splitlines()[-1]) == (1, "0 still fail, 1 now pass, 2 cannot be read")
    assert [line.startswith("npu-conformance: not replayed: ") for line in err.splitlines()] == [True, True]
    assert command("replay", str(named), *REFERENCE, "--bisect")[0] == 125
    assert command("replay", str(named), *PLUGIN, "--bisect")[0] == 1
    assert command("replay", str(broken), *REFERENCE)[0] == 2
    good.unlink()
    code, _, err = command("replay", str(named), *REFERENCE)
    assert (code, err.splitlines()[-1]) == (2, f"npu-conformance: {named}: no failure file here can be read")


def test_what_is_no_longer_supported_is_a_failure_of_every_front_door(command: Command) -> None:
    """A CI may read any of them."""
    case = "vts.generated.RELU.float32_rank1"
    assert command("run", case, *REFERENCE, "--report", "base")[0] == 0
    code, out, _ = command("run", case, *PLUGIN, "--baseline", "base", "--report", "new", "-x", "1")
    assert (code, "    1 no longer supported: " in out) == (1, True)
    assert 'failures="1"' in Path("new/junit.xml").read_text()
    code, out, _ = command("report", "new", "--failures")
    assert (code, f"NO LONGER SUPPORTED RELU: {case}: " in out) == (0, True)
    code, out, _ = command("replay", "new", *PLUGIN)
    assert (code, out.splitlines()[-1]) == (1, "1 still fail, 0 now pass")
    assert out.startswith("was no longer supported, now NO LONGER SUPPORTED RELU: ")
    assert command("replay", "new", *REFERENCE)[0] == 0
    assert command("run", "--last-failed", *PLUGIN, "--report", "new", "--baseline", "base")[0] == 1


def test_several_requirements_are_shown(command: Command) -> None:
    code, out, _ = command("requirements", "NNHAL-QUERY-003", "NNHAL-QUERY-001", "--json")
    assert (code, [row["id"] for row in json.loads(out)]) == (0, ["NNHAL-QUERY-001", "NNHAL-QUERY-003"])
    code, _, err = command("requirements", "NNHAL-QUERY-003", "NNHAL-QUERY-01")
    assert (code, err.startswith("npu-conformance: no requirement matches 'NNHAL-QUERY-01' (did you")) == (2, True)


def test_what_failed_as_another_hal_version_is_another_matter(command: Command) -> None:
    fault = ("--plugin-option", "fault=query-capabilities-later-type", "--isolation", "inprocess")
    words = ("--plugin", "npu_conformance.faults.plugin:plugin", *fault)
    for version in ("1.2", "1.3"):
        assert command("run", "vts.queries.capabilities", *words, "--hal", version)[0] == 1
    for version, case in (("1.2", "known_types"), ("1.3", "sorted_by_type")):
        code, out, _ = command("run", "--last-failed", *words, "--hal", version)
        assert (code, f"  1 fail: vts.queries.capabilities.{case}\n" in out) == (1, True)
    code, _, err = command("run", "--last-failed", *words, "--hal", "1.1")
    assert (code, err) == (2, "npu-conformance: --last-failed: nothing was red in a run as HAL 1.1\n")


def test_a_shard_may_run_in_several_processes(command: Command) -> None:
    words = ("vts.queries", RED, *PLUGIN, "-n", "2")
    codes = [command("run", *words, "--shard", f"{number}/2", "--report", str(number))[0] for number in (1, 2)]
    assert sorted(codes) == [0, 1]
    assert command("merge", "1", "2", "--report", "whole")[0] == 1
    assert command("run", *words, "--report", "alone")[0] == 1
    assert results(Path("whole"))["counts"] == results(Path("alone"))["counts"]
