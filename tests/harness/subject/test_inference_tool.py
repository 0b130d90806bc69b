"""Whose word the harness takes for a command that it runs: real drivers on loopback that name one in their manifest."""

from __future__ import annotations

import contextlib
import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import warm_python
from places import ROOT
from wire_client import environment, served

from npu_conformance.harness.run.session_options import SessionOptions
from npu_conformance.harness.subject.inference_tool import IGNORED, given_tool, settled
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.manifest import InferenceTool, Manifest

CASE = "vts.npu_scheduling.work.undisturbed"
PLUGIN = "tool_plugin:plugin"


def command(marker: Path, more: str = "") -> str:
    """A tool that records its arguments, and fails, so that nobody waits for events."""
    return shlex.join(["sh", "-c", f'echo "$@" >> {marker}; exit 1', "tool", *more.split()])


@contextlib.contextmanager
def driver(kind: str, folder: Path, marker: Path) -> Iterator[list[str]]:
    """The words that reach a driver whose manifest names the tool."""
    tool = f"tool={command(marker)}"
    if kind in ("unix", "tcp"):
        with served(PLUGIN, kind, folder, tool) as (address, options):
            words = [f"{name}={value}" for name, value in options.items()]
            yield ["--plugin", address, *(word for each in words for word in ("--plugin-option", each))]
    elif kind == "exec":
        serve = [sys.executable, "-m", "npu_conformance.harness.subject.serve", PLUGIN, "--inherited", str(folder)]
        yield ["--plugin", f"exec:{shlex.join([*serve, '--plugin-option', tool])}"]
    else:
        yield ["--plugin", PLUGIN, "--isolation", kind, "--plugin-option", tool]


def run(folder: Path, *words: str, module: str = "npu_conformance") -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    return warm_python.run("-m", module, *words, cwd=folder, env=environment())


def reason(report: Path) -> tuple[str, str]:
    """The outcome of the case, and why."""
    events = [json.loads(line) for line in (report / "events.jsonl").read_text().splitlines()]
    found = next(event["result"] for event in events if event.get("result", {}).get("case") == CASE)
    return found["outcome"], found.get("message", "")


@pytest.mark.parametrize("kind", ["unix", "tcp", "exec"])
def test_what_the_manifest_of_a_driver_on_a_socket_names_is_not_run(kind: str, tmp_path: Path) -> None:
    marker, report = tmp_path / "marker", tmp_path / "report"
    with driver(kind, tmp_path, marker) as words:
        found = run(tmp_path, "run", CASE, *words, "--report", str(report))
    assert not marker.exists()
    assert reason(report) == ("not-applicable", IGNORED)
    assert found.stdout.count(f" not applicable: {IGNORED}") == 1, found.stdout + found.stderr
    assert "--inference-tool" in IGNORED


@pytest.mark.parametrize("kind", ["process", "inprocess"])
def test_a_plug_in_that_is_loaded_here_names_its_tool(kind: str, tmp_path: Path) -> None:
    marker, report = tmp_path / "marker", tmp_path / "report"
    with driver(kind, tmp_path, marker) as words:
        found = run(tmp_path, "run", CASE, *words, "--report", str(report))
    assert marker.read_text().startswith("--job-priority 500 --original-uid")
    assert IGNORED not in found.stdout


@pytest.mark.parametrize(
    ("kind", "processes"), [("tcp", "2"), ("exec", "1"), ("unix", "1"), ("process", "1"), ("inprocess", "1")]
)
def test_the_option_names_the_tool_for_any_driver(kind: str, processes: str, tmp_path: Path) -> None:
    marker, ours, report = tmp_path / "marker", tmp_path / "ours", tmp_path / "report"
    chosen = ["--inference-tool", command(ours), "--inference-tool-uid", "0"]
    cases = (CASE, "vts.npu_scheduling.work.complete")  # one for each process
    with driver(kind, tmp_path, marker) as words:
        found = run(tmp_path, "run", *cases, *words, *chosen, "--report", str(report), "-n", processes)
    assert ours.read_text().startswith("--job-priority 500 --original-uid"), found.stdout + found.stderr
    assert not marker.exists()
    assert shlex.join(chosen) in found.stdout  # the commands that run it again


def test_a_replay_has_the_tool_by_the_option_alone(tmp_path: Path) -> None:
    marker, ours, report = tmp_path / "marker", tmp_path / "ours", tmp_path / "report"
    chosen = ["--inference-tool", command(ours), "--inference-tool-uid", "0"]
    with driver("exec", tmp_path, marker) as words:
        run(tmp_path, "run", CASE, *words, *chosen, "--report", str(report))
        ours.unlink()
        failure = str(next((report / "failures").glob("*.json")))
        found = run(tmp_path, "replay", failure, *words)
        assert IGNORED in found.stdout
        assert not marker.exists()
        run(tmp_path, "replay", failure, *words, *chosen)
    assert ours.exists()
    assert not marker.exists()


def test_pytest_has_options_of_its_own_for_it(tmp_path: Path) -> None:
    words = ["-p", "no:cacheprovider", "--npu-plugin=reference", str(ROOT / "vts" / "queries.py"), "-k", "ping"]
    chosen = ["--npu-inference-tool=true", "--npu-inference-tool-uid=7"]
    found = run(tmp_path, *words, *chosen, module="pytest")
    assert "--plugin reference --inference-tool true --inference-tool-uid 7\n" in found.stdout, found.stdout
    found = run(tmp_path, *words, chosen[0], module="pytest")
    assert found.returncode == 4
    assert "expected either {uid} in the command" in found.stderr


def test_check_says_so(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    with driver("exec", tmp_path, marker) as words:
        found = run(tmp_path, "check", words[1])
    assert found.stderr.count(IGNORED) == 1, found.stderr
    assert not marker.exists()


@pytest.mark.parametrize("given", [InferenceTool(("./tool.sh",), 0), None])
def test_a_tool_that_cannot_be_started_is_refused_at_once(given: InferenceTool | None) -> None:
    source = "--inference-tool" if given else "the manifest: inference_tool"
    named = Manifest(name="x", vendor="v", version="1", inference_tool=InferenceTool(("./tool.sh",), 0))
    with pytest.raises(LoadError, match=f"^{source}: no command ./tool.sh$"):
        settled(named, given, is_loaded_here=True)
    assert settled(named, None, is_loaded_here=False).inference_tool is None
    by_uid = InferenceTool(("./run-as-{uid}",))
    assert settled(named, by_uid, is_loaded_here=False).inference_tool == by_uid  # which command it is the case says


def test_a_tool_as_on_a_command_line() -> None:
    assert given_tool(None, None) is None
    assert given_tool("su '{uid}' 'a b'", None) == InferenceTool(("su", "{uid}", "a b"))
    assert given_tool("tool", 0) == InferenceTool(("tool",), 0)
    options = SessionOptions("reference", inference_tool="tool x", inference_tool_uid=0)
    assert options.plugin_words == "--plugin reference --inference-tool 'tool x' --inference-tool-uid 0"


@pytest.mark.parametrize(
    ("line", "uid", "rule"),
    [
        ("", None, "expected a command"),
        ("'", None, "No closing quotation"),
        ("tool", None, r"expected either \{uid\}"),
        ("tool {uid}", 0, r"expected either \{uid\}"),
        (None, 0, "goes with --inference-tool"),
    ],
)
def test_a_bad_tool_is_one_line(line: str | None, uid: int | None, rule: str) -> None:
    with pytest.raises(DocumentError, match=rule):
        given_tool(line, uid)
