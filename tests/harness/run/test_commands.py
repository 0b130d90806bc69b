"""A command of the suite in a process of its own: what comes back, and what is left when it is stopped."""

from __future__ import annotations

import os
import threading

import pytest

from npu_conformance.harness.run import commands
from npu_conformance.harness.run.commands import FOLDER, StoppedError
from npu_conformance.harness.subject.holdings import children_of

_CASE = "vts.queries.instance.name"


def test_what_a_command_leaves_in_its_folder_comes_back() -> None:
    ended = commands.run(("run", _CASE, "--plugin", "reference", "-q", "--report", f"{FOLDER}/report"))
    assert (ended.exit_code, ended.errors) == (0, "")
    assert {"report/events.jsonl", "report/results.json", "report/junit.xml"} <= set(ended.files)
    assert _CASE.encode() in ended.files["report/results.json"]


def test_what_a_command_complains_of_comes_back() -> None:
    ended = commands.run(("run", "--plugin", "nobody.has:this"))
    assert (ended.exit_code, ended.files) == (2, {})
    assert "nobody" in ended.errors


def test_a_command_that_is_stopped_is_gone() -> None:
    stop, before = threading.Event(), set(children_of(os.getpid()))
    stop.set()
    with pytest.raises(StoppedError):
        commands.run(("run", "--plugin", "reference", "--report", FOLDER), stop)
    assert set(children_of(os.getpid())) == before
