"""Events are read while they are written: whole lines only, each once."""

from __future__ import annotations

from pathlib import Path

import msgspec

from npu_conformance.harness.run.tail import Tail
from npu_conformance.specs.documents.results import CaseStarted, Event


def names(tail: Tail) -> list[str]:
    return [event.case for event in tail.events() if isinstance(event, CaseStarted)]


def line(name: str) -> bytes:
    event: Event = CaseStarted(case=name)
    return msgspec.json.encode(event) + b"\n"


def test_each_whole_line_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    tail = Tail(path)
    assert names(tail) == [], "the file is not there yet"
    with path.open("ab", buffering=0) as file:
        file.write(line("a") + line("b")[:9])
        assert names(tail) == ["a"]
        assert names(tail) == []
        file.write(line("b")[9:])
        assert names(tail) == ["b"]
        file.write(b"no event\n" + line("c"))
        assert names(tail) == ["c"]
