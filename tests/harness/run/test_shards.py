"""Shards: the records of all come together in one run, and the cases that a dead one left are not-run."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from logged_runs import logged

from npu_conformance.harness.report.writing import UnwritableError
from npu_conformance.harness.run import merging, resuming, shards
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.engine import Engine, EngineOptions, header
from npu_conformance.harness.run.events import EventLog, read_log
from npu_conformance.harness.run.folders import EVENTS
from npu_conformance.harness.run.results import build
from npu_conformance.specs.documents.results import Selection
from npu_conformance.specs.outcomes import Outcome

MakeCase = Callable[..., Case]


def recorded(cases: list[Case], subject: Any, directory: Path, *, cut: bool = False) -> None:
    sink = EventLog(directory / EVENTS)
    engine = Engine(cases, subject, sink)
    engine.begin()
    for case in cases[:-1] if cut else cases:
        engine.run_case(case)
    if not cut:
        engine.finish()
    sink.close()


def begun(cases: list[Case], subject: Any, folder: Path) -> Path:
    """The event file of a run whose shards record apart: its header alone."""
    path = folder / EVENTS
    sink = EventLog(path)
    sink.write(header(EngineOptions(), subject, tuple(ids(cases))))
    sink.close()
    return path


def without_memory(context: object) -> None:
    raise MemoryError


def ids(cases: list[Case]) -> list[str]:
    return [case.id for case in cases]


def test_the_verdicts_of_all_shards_come_together(make_case: MakeCase, subject: Any, tmp_path: Path) -> None:
    cases = [make_case(name) for name in "abcd"]
    for number, part in enumerate((cases[:2], cases[2:])):
        recorded(part, subject, tmp_path / str(number))
    done = [shards.collect(n + 1, ids(cases[2 * n : 2 * n + 2]), 0, tmp_path / str(n)) for n in range(2)]
    outcome = build(shards.merge(done, begun(cases, subject, tmp_path)))
    assert (outcome.counts, outcome.exit_code, outcome.problems) == ({"pass": 4}, 0, ())


def test_what_a_dead_shard_owed_is_not_run_and_the_suite_failed(
    make_case: MakeCase, subject: Any, tmp_path: Path
) -> None:
    cases = [make_case(name) for name in "abcdef"]
    recorded(cases[:2], subject, tmp_path / "0")
    recorded(cases[2:4], subject, tmp_path / "1", cut=True)
    done = [
        shards.collect(1, ids(cases[:2]), 0, tmp_path / "0"),
        shards.collect(2, ids(cases[2:4]), -9, tmp_path / "1"),
        shards.collect(3, ids(cases[4:]), 1, tmp_path / "nothing"),
    ]
    outcome = build(shards.merge(done, begun(cases, subject, tmp_path)))
    assert outcome.counts == {"pass": 3, "not-run": 3}
    assert (outcome.exit_code, outcome.complete) == (3, False)
    assert outcome.problems == ("shard 2 was killed by signal 9", "shard 3 ended with exit code 1")
    assert [entry.case[-1] for entry in outcome.not_run] == ["d", "e", "f"]


def test_what_shards_of_a_killed_run_left_behind_is_kept(make_case: MakeCase, subject: Any, tmp_path: Path) -> None:
    cases = [make_case(name) for name in "abcde"]
    path = begun(cases, subject, tmp_path)
    recorded(cases[:3], subject, tmp_path / "shards" / "1", cut=True)
    (tmp_path / "shards" / "2").mkdir()
    (tmp_path / "shards" / "2" / "events.jsonl").write_bytes(b"")
    assert sorted(shards.read_run(tmp_path).results) == ids(cases[:2])
    shards.absorb(tmp_path)
    assert not (tmp_path / "shards").exists()
    earlier = resuming.earlier_results(read_log(path))
    assert sorted(earlier) == ids(cases[:2])
    recorded(cases[2:], subject, tmp_path / "shards" / "1")
    done = [shards.collect(1, ids(cases[2:]), 0, tmp_path / "shards" / "1")]
    outcome = build(shards.merge(done, path, earlier))
    assert (outcome.counts, outcome.exit_code, outcome.problems) == ({"pass": 5}, 0, ())
    assert build(shards.read_run(tmp_path)).problems == (), "what is in the file already is not added again"


def test_what_shards_of_a_killed_resumption_judged_again_counts(
    make_case: MakeCase, subject: Any, tmp_path: Path
) -> None:
    """A resumption runs again what was a suite-error, and its verdict is in the log of a shard until all have ended."""
    cases = [make_case("a", without_memory), make_case("b")]
    recorded(cases, subject, tmp_path)
    sink = EventLog(tmp_path / EVENTS, resume=True)
    sink.write(header(EngineOptions(), subject, tuple(ids(cases)), resumed=True))
    sink.close()
    recorded([make_case("a")], subject, tmp_path / "shards" / "1", cut=False)
    assert build(shards.read_run(tmp_path)).counts == {"pass": 2}
    shards.absorb(tmp_path)
    log = read_log(tmp_path / EVENTS)
    assert ({result.outcome for result in log.results.values()}, log.problems) == ({Outcome.PASS}, [])


def test_what_was_absorbed_already_is_not_added_again(make_case: MakeCase, subject: Any, tmp_path: Path) -> None:
    """The process may be killed between the two."""
    cases = [make_case("a", without_memory), make_case("b")]
    path = begun(cases, subject, tmp_path)
    recorded(cases, subject, tmp_path / "shards" / "1")
    left = (tmp_path / "shards" / "1" / EVENTS).read_bytes()
    shards.absorb(tmp_path)
    (tmp_path / "shards" / "1").mkdir(parents=True)
    (tmp_path / "shards" / "1" / EVENTS).write_bytes(left)
    before = path.read_bytes()
    shards.absorb(tmp_path)
    assert (path.read_bytes(), read_log(path).problems) == (before, [])


def _full(self: EventLog, event: object) -> None:
    raise UnwritableError("no room")


def test_a_full_disk_leaves_no_file_open(
    make_case: MakeCase, subject: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [make_case("a")]
    begun(cases, subject, tmp_path)
    recorded(cases, subject, tmp_path / "shards" / "1")
    shard = tmp_path / "one"
    logged(cases, subject, shard / EVENTS, selection=Selection(shard="1/1"))
    logs = merging.read([shard])
    monkeypatch.setattr(EventLog, "write", _full)
    before = os.listdir("/proc/self/fd")
    for step in (lambda: shards.absorb(tmp_path), lambda: merging.merge(logs, tmp_path / "whole", "")):
        with pytest.raises(UnwritableError):
            step()
    assert os.listdir("/proc/self/fd") == before
    assert (tmp_path / "shards" / "1" / EVENTS).exists()
