"""Shards: the records of all come together in one run, and the cases that a dead one left are not-run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from npu_conformance.harness.run import shards
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.engine import Engine
from npu_conformance.harness.run.events import EventLog
from npu_conformance.harness.run.results import build
from npu_conformance.specs.documents import DocumentError

MakeCase = Callable[..., Case]


def recorded(cases: list[Case], subject: Any, directory: Path, *, cut: bool = False) -> None:
    sink = EventLog(directory / shards.EVENTS)
    engine = Engine(cases, subject, sink)
    engine.begin()
    for case in cases[:-1] if cut else cases:
        engine.run_case(case)
    if not cut:
        engine.finish()
    sink.close()


def ids(cases: list[Case]) -> list[str]:
    return [case.id for case in cases]


def test_the_verdicts_of_all_shards_come_together(make_case: MakeCase, subject: Any, tmp_path: Path) -> None:
    cases = [make_case(name) for name in "abcd"]
    for number, part in enumerate((cases[:2], cases[2:])):
        recorded(part, subject, tmp_path / str(number))
    done = [shards.collect(n + 1, ids(cases[2 * n : 2 * n + 2]), 0, tmp_path / str(n)) for n in range(2)]
    outcome = build(shards.merge(done, tmp_path / "events.jsonl"))
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
    outcome = build(shards.merge(done, tmp_path / "events.jsonl"))
    assert outcome.counts == {"pass": 3, "not-run": 3}
    assert outcome.exit_code == 3
    assert outcome.problems == ("shard 2 was killed by signal 9", "shard 3 ended with exit code 1")
    assert [entry.case[-1] for entry in outcome.not_run] == ["d", "e", "f"]


def test_no_shard_at_all_is_an_error(tmp_path: Path) -> None:
    dead = shards.collect(1, ["vts.a.b.c"], 2, tmp_path)
    with pytest.raises(DocumentError, match="shard 1 ended with exit code 2"):
        shards.merge([dead], tmp_path / "events.jsonl")
