"""Commands that end with all that they have started, and the run of an inference tool, which is one."""

from __future__ import annotations

import os
import select
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from patience import SECONDS

from npu_conformance.harness.subject.inference_tool import ToolRun
from npu_conformance.harness.subject.process_group import end_group, has_ended
from npu_conformance.specs.manifest import InferenceTool
from npu_conformance.specs.npu.workload import InferenceRun


class Child:
    """What a command leaves behind: a process that would live for hours, seen by a pipe that it alone writes to."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.start = f"(echo begun; exec sleep 9999) > {path} &"

    def read(self) -> bytes:
        """What comes next: a line where it has begun, nothing where it is gone."""
        poll = select.poll()
        poll.register(self.pipe, select.POLLIN)
        assert poll.poll(SECONDS * 1000), "the child lives on"
        return os.read(self.pipe, 100)


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Child]:
    made = Child(tmp_path / "pipe")
    yield made
    os.close(made.pipe)


def started(script: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sh", "-c", script], start_new_session=True)


def test_a_child_ends_with_a_command_that_still_runs(child: Child) -> None:
    process = started(f"{child.start} wait")
    assert child.read() == b"begun\n"
    assert not has_ended(process)
    assert end_group(process) == -9
    assert child.read() == b""


def test_a_child_ends_with_a_command_that_has_ended(child: Child) -> None:
    process = started(f"{child.start} exit 3")
    assert child.read() == b"begun\n"
    assert has_ended(process, SECONDS)
    assert end_group(process) == 3
    assert child.read() == b""


def test_a_command_that_has_been_reaped_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    process = started("exit 4")
    process.wait()
    monkeypatch.setattr(os, "killpg", lambda *_: pytest.fail("its number may be another's"))
    assert has_ended(process)
    assert end_group(process) == 4


@pytest.mark.parametrize("ends", [True, False])
def test_the_children_of_an_inference_tool_end_with_it(child: Child, ends: bool) -> None:
    script = f"{child.start} " + ("exit 0" if ends else "wait")
    run = ToolRun(InferenceTool(("sh", "-c", script), 10_000), 10_000, InferenceRun())
    assert child.read() == b"begun\n"
    while ends and run.succeeded is None:
        pass
    assert run.succeeded is (True if ends else None)
    run.kill()
    assert child.read() == b""
