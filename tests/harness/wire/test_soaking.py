"""What one thread reads for another, so that a sender can go on, is never lost out of sight."""

from __future__ import annotations

import socket
import threading

import patience
import pytest

from npu_conformance.harness.wire.connection import Connection
from npu_conformance.harness.wire.framing import LineSocket


def _connected() -> tuple[Connection, socket.socket]:
    ours, theirs = socket.socketpair()
    return Connection(LineSocket(ours), -1, strict=True), theirs


def test_what_is_being_put_away_has_arrived(monkeypatch: pytest.MonkeyPatch) -> None:
    connection, theirs = _connected()
    has_read, may_go_on = threading.Event(), threading.Event()
    keep = connection.lines._keep

    def keep_slowly(chunk: bytes) -> None:
        has_read.set()
        assert may_go_on.wait(patience.SECONDS)
        keep(chunk)

    monkeypatch.setattr(connection.lines, "_keep", keep_slowly)
    theirs.sendall(b"{}\n")
    soaking = threading.Thread(target=connection.soak)
    soaking.start()
    assert has_read.wait(patience.SECONDS)
    answers: list[bool] = []
    asking = threading.Thread(target=lambda: answers.append(connection.ready()))
    asking.start()
    may_go_on.set()
    for thread in (soaking, asking):
        thread.join(patience.SECONDS)
    assert answers == [True]
    connection.close()
    theirs.close()


def test_a_socket_that_is_being_closed_brings_nothing() -> None:
    connection, theirs = _connected()
    connection.lines.socket.close()
    assert not connection.soak()
    theirs.close()
