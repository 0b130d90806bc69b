"""The event file: what stands in it survives a kill, and what was spoilt costs nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from logged_runs import logged

from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.events import read_log
from npu_conformance.harness.run.results import build
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.results import CaseStarted, Event

MakeCase = Callable[..., Case]


def test_a_killed_run_keeps_what_was_done(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    script = f"""
import os, signal
from npu_conformance.harness.run.events import EventLog
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.specs.documents.results import *
from pathlib import Path
log = EventLog(Path({str(path)!r}))
manifest = Manifest(name="fake", vendor="nobody", version="1")
log.write(RunStarted(format=1, suite_version="1", digests=Digests(), manifest=manifest, hal_version="1.2", seed=0,
    shuffled=False, selection=Selection(), cases=("vts.a.b.c", "vts.a.b.d", "vts.a.b.e"), time="now"))
log.write(CaseStarted(case="vts.a.b.c"))
log.write(CaseFinished(result=CaseResult(case="vts.a.b.c", outcome=Outcome.PASS)))
log.write(CaseStarted(case="vts.a.b.d"))
os.write(log._descriptor, b'{{"event":"case-fin')
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -signal.SIGKILL
    log = read_log(path)
    outcome = build(log)
    assert outcome.counts == {"pass": 1, "not-run": 2}
    assert [entry.reason for entry in outcome.not_run] == [
        "no verdict was recorded: the run died in it",
        "no verdict was recorded",
    ]
    assert not outcome.complete
    assert "the run was cut off" in outcome.reasons


@pytest.mark.parametrize("where", [0, 1, 3])
def test_a_line_of_somebody_else_costs_no_verdict(make_case: MakeCase, subject: Any, path: Path, where: int) -> None:
    logged([make_case("a"), make_case("b")], subject, path)
    lines = path.read_bytes().splitlines(keepends=True)
    lines.insert(where, b"\xff garbage\n")
    path.write_bytes(b"".join(lines))
    outcome = build(read_log(path))
    assert outcome.counts == {"pass": 2}
    assert outcome.exit_code == 3
    assert outcome.problems[0].startswith(f"{path}:{where + 1}: not JSON")


def test_a_broken_line_in_the_middle_costs_only_itself(make_case: MakeCase, subject: Any, path: Path) -> None:
    logged([make_case("a"), make_case("b")], subject, path)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = b'{"event":"case-started","case":7}\n'
    lines[2:2] = [b"garbage\n", b'{"event":"\xff"}\n']
    path.write_bytes(b"".join(lines))
    outcome = build(read_log(path))
    assert outcome.counts == {"pass": 2}
    assert outcome.exit_code == 3
    assert outcome.problems[0] == f"{path}:2: $.case: Expected `str`, got `int`"
    assert outcome.problems[1].startswith(f"{path}:3: not JSON")
    assert outcome.problems[2].startswith(f"{path}:4: not JSON")


@pytest.mark.parametrize(
    "text", [b"", b"garbage\n", b'{"event":"nothing"}\n', b'{"event":"case-started","case":"a"}\n']
)
def test_what_is_no_event_file_is_refused(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(text)
    with pytest.raises(DocumentError, match=r"events\.jsonl"):
        read_log(path)


def test_events_reach_the_file_before_the_next_step(make_case: MakeCase, subject: Any, path: Path) -> None:
    seen = []

    def body(context: Any) -> None:
        seen.append(read_log(path).open_cases)

    logged([make_case("a", body)], subject, path)
    assert seen == [{"vts.area.subject.a": None}]


def test_the_file_is_one_whole_line_an_event(make_case: MakeCase, subject: Any, path: Path) -> None:
    logged([make_case("a")], subject, path)
    assert path.read_bytes().endswith(b"\n")
    assert len(path.read_bytes().splitlines()) == 4
    assert os.access(path, os.R_OK)
    assert CaseStarted(case="x") == msgspec.json.decode(msgspec.json.encode(CaseStarted(case="x")), type=Event)


def test_what_a_budget_left_out_is_not_left_out_of_a_resumption_without_one(
    make_case: MakeCase, subject: Any, path: Path
) -> None:
    log = logged([make_case("a")], subject, path, seconds=0.0)
    assert list(log.left_out) == ["vts.area.subject.a"]
    log.add(log.header)
    log.add(CaseStarted(case="vts.area.subject.a"))  # where the resumption is killed
    outcome = build(log)
    assert (outcome.counts, outcome.left_out) == ({"not-run": 1}, ())
