"""Full disks, closed streams and removed folders: one line, exit 3, and what was written stays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import warm_python
from places import HOSTILE

COMMAND = ("-m", "npu_conformance")
RUN = (*COMMAND, "run", "vts.queries", "--plugin", "reference", "--isolation", "inprocess", "-q")


def run(*command: str, stdout: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run with standard output into a file, or captured."""
    if stdout is None:
        return warm_python.run(*command)
    with open(stdout, "w") as stream:
        return warm_python.run(*command, stdout=stream.fileno())


def assert_one_line(done: subprocess.CompletedProcess[str], where: str) -> None:
    """The end that every such run has."""
    assert done.returncode == 3, done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith(f"npu-conformance: {where}: "), done.stderr
    assert "bug" not in done.stderr


@pytest.mark.parametrize("command", [(*COMMAND, "list", "vts.queries"), (*COMMAND, "schemas", "manifest"), RUN])
def test_a_full_disk_behind_the_output(command: tuple[str, ...], tmp_path: Path) -> None:
    report = ("--report", str(tmp_path)) if "run" in command else ()
    assert_one_line(run(*command, *report, stdout="/dev/full"), "the output")


def test_a_closed_output_is_an_output_that_nobody_reads(tmp_path: Path) -> None:
    words = " ".join((sys.executable, *RUN, "--report", str(tmp_path)))
    done = subprocess.run(["sh", "-c", f"{words} >&- 2>&-"], check=False)
    assert done.returncode == 0
    assert json.loads((tmp_path / "results.json").read_bytes())["counts"]["pass"]


_LIMITED = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))"
_FILLING = """
import sys
from pathlib import Path
from npu_conformance.harness.run import folders
take = folders.take
def taken_and_full(*arguments):
    taken = take(*arguments)
    (arguments[0] / sys.argv.pop()).symlink_to("/dev/full")
    return taken
folders.take = taken_and_full
"""


@pytest.mark.parametrize("name", ["junit.xml", "report.html"])
def test_a_full_disk_behind_the_report(name: str, tmp_path: Path) -> None:
    program = f"{_FILLING}\nfrom npu_conformance.cli.main import main; sys.exit(main(sys.argv[1:-1]))"
    assert_one_line(run("-c", program, *RUN[2:], "--report", str(tmp_path), name), str(tmp_path))


def test_a_run_that_filled_the_disk_goes_on_when_there_is_room(tmp_path: Path) -> None:
    limited = f"{_LIMITED}; {_MAIN}"
    arguments = (*RUN[2:], "--report", str(tmp_path))
    assert_one_line(run("-c", limited, *arguments), str(tmp_path / "events.jsonl"))
    before = (tmp_path / "events.jsonl").read_text().splitlines()
    assert any("case-finished" in line for line in before)
    resumed = run(*RUN, "--report", str(tmp_path), "--resume")
    assert resumed.returncode == 0, resumed.stderr
    after = (tmp_path / "events.jsonl").read_text().splitlines()
    assert after[: len(before) - 1] == before[:-1]


_MAIN = "import sys; from npu_conformance.cli.main import main; sys.exit(main())"
_REMOVING = """
import shutil, sys
from npu_conformance.harness.run import engine
begin = engine.Engine.begin
def removing(self):
    begin(self)
    shutil.rmtree(sys.argv[-1])
engine.Engine.begin = removing
"""


def test_a_report_folder_that_is_removed_meanwhile(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    done = run("-c", _REMOVING + _MAIN, *RUN[2:], "--report", str(folder))
    assert_one_line(done, str(folder / "events.jsonl"))
    assert "was removed while the run went on" in done.stderr


_MERGING = """
import resource
from npu_conformance.harness.run import shards
merge = shards.merge
def merging(parts, path, earlier):
    most = path.stat().st_size + 1000
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    return merge(parts, path, earlier)
shards.merge = merging
"""


@pytest.mark.parametrize("isolation", ["inprocess", "process"])
def test_pytest_ends_in_one_line_too(isolation: str, tmp_path: Path) -> None:
    """In process it is the report that cannot be written; in a process of its own no memory can be shared."""
    program = f"{_LIMITED}; import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))"
    words = ("-q", "-p", "no:cacheprovider", "--pyargs", "npu_conformance.vts.queries", "--npu-plugin=reference")
    done = run("-c", program, "-W", "ignore", *words, f"--npu-isolation={isolation}", f"--npu-report={tmp_path}")
    assert done.returncode == 3
    assert "Traceback" not in done.stdout + done.stderr
    assert "File too large" in done.stdout + done.stderr


def test_parts_of_a_report_are_kept_where_they_cannot_be_merged(tmp_path: Path) -> None:
    done = run("-c", _MERGING + _MAIN, *RUN[2:], "-n", "2", "--report", str(tmp_path))
    assert_one_line(done, str(tmp_path / "events.jsonl"))
    assert len(list(tmp_path.glob("shards/*/events.jsonl"))) == 2


def run_with_full_errors(*command: str) -> subprocess.CompletedProcess[bytes]:
    """Run where what goes to standard error cannot be written."""
    with open("/dev/full", "wb") as full:
        return subprocess.run([sys.executable, *command], stdout=subprocess.PIPE, stderr=full, check=False)


@pytest.mark.parametrize("more", [(), ("-n", "2")])
def test_progress_that_cannot_be_shown_costs_no_verdict(
    more: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HOSTILE), os.environ.get("PYTHONPATH", "")]))
    cases = ("vts.queries.liveness.ping", "vts.validation.RELU.graph_indexes", "vts.validation.RELU6.graph_indexes")
    words = ("--plugin", "vendor_plugins:first_day", "--isolation", "inprocess", "--report", str(tmp_path), *more)
    done = run_with_full_errors(*COMMAND, "run", *cases, *words)
    found = json.loads((tmp_path / "results.json").read_bytes())
    assert (done.returncode, found["complete"], found["problems"]) == (1, True, [])
    assert found["counts"]["fail"] == 2
    assert b"vts.validation.RELU.graph_indexes" in done.stdout


@pytest.mark.parametrize("more", [(), ("-n", "2")])
def test_a_verdict_that_cannot_be_shown_is_in_the_report(more: tuple[str, ...], tmp_path: Path) -> None:
    words = ("--plugin", "reference", "--isolation", "inprocess", "--report", str(tmp_path), *more)
    command = [sys.executable, *COMMAND, "run", "vts.queries", *words]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 3
    assert done.stderr.endswith(b"npu-conformance: the output: cannot be written: No space left on device\n")
    found = json.loads((tmp_path / "results.json").read_bytes())
    assert (found["complete"], found["counts"].get("fail", 0)) == (True, 0)
    assert (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    ("command", "code"), [(("run", "vts.queries", "--plugin", "nowhere:plugin"), 2), (("report", "nowhere"), 2)]
)
def test_the_exit_code_has_to_do_where_no_error_can_be_told(command: tuple[str, ...], code: int) -> None:
    assert run_with_full_errors(*COMMAND, *command).returncode == code


def test_a_bisection_goes_on_where_no_error_can_be_told(tmp_path: Path) -> None:
    assert (
        run_with_full_errors(
            *COMMAND, "replay", str(tmp_path / "gone.json"), "--plugin", "reference", "--bisect"
        ).returncode
        == 125
    )
