"""The wire log: a line a message, shortened, without secrets, and never the end of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from npu_conformance.harness.wire import journal
from npu_conformance.harness.wire.journal import Journal
from npu_conformance.harness.wire.wire_log import WireLog


def logged(tmp_path: Path, line: bytes) -> Any:
    """What a log makes of a message."""
    log = WireLog(str(tmp_path / "log"))
    log.write("from driver", 1, line)
    log.close()
    return json.loads((tmp_path / "log").read_text())["message"]


def test_large_memory_is_shortened(tmp_path: Path) -> None:
    message = logged(tmp_path, b'{"id":1,"result":"' + b"A" * 100_000 + b'"}\n')
    assert message == {"id": 1, "result": "A" * 200 + "... (100000 characters)"}


def test_long_lists_are_shortened(tmp_path: Path) -> None:
    message = logged(tmp_path, b'{"id":1,"result":[' + b"1," * 5000 + b"1]}")
    assert message["result"] == [*[1] * 64, "... (5001 elements)"]


def test_what_is_no_json_is_told_as_text(tmp_path: Path) -> None:
    assert logged(tmp_path, b"\x00\xff garbage\n") == r"not JSON: '\x00\xff garbage'"


def test_keys_and_tickets_are_not_told(tmp_path: Path) -> None:
    assert logged(tmp_path, b'{"params":{"key" : "abc", "ticket":"def"}}') == {
        "params": {"key": "(hidden)", "ticket": "(hidden)"}
    }
    told = Journal()
    line = bytearray(b'{"id":1,"method":"initialize","params":{"key":"abcdef')
    told.page().sent(line, 0)
    assert "abc" not in told.calls()[0].arguments


def test_a_full_disk_ends_the_log_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    log = WireLog("/dev/full")
    log.write("to driver", 1, b"{}\n{}\n")
    log.write("to driver", 1, b"{}\n")
    assert capsys.readouterr().err == "npu-conformance: /dev/full: the wire log ends here: No space left on device\n"


def test_only_the_last_calls_are_kept_and_answers_find_theirs() -> None:
    told = Journal()
    pages = told.page(), told.page()
    for number in range(40):
        line = bytearray(b'{"id":%d,"method":"device.getType","params":{"object":-3}}' % number)
        pages[0].sent(line, 0)
    pages[1].received(b'{"id":39,"result":"of the other connection"}', 39, None)
    pages[0].received(b'{"result":4,"id":38}', 38, None)
    calls = told.calls()
    assert len(calls) == journal._CALLS
    assert [call.answer[:9] for call in calls[-2:]] == ["4", "no answer"]
    assert calls[-1].object == -3


def test_the_calls_up_to_a_loss_stay_until_the_next_case() -> None:
    told = Journal()
    page = told.page()
    page.sent(bytearray(b'{"id":1,"method":"device.getType"'), 0)
    told.keep()
    page.sent(bytearray(b'{"id":2,"method":"initialize"'), 0)
    assert [call.method for call in told.calls()] == ["device.getType"]
    told.begin("next")
    assert [call.method for call in told.calls()] == ["device.getType", "initialize"]
