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


def test_a_socket_is_closed_behind_whoever_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its descriptor may be another socket's at once, whose bytes the reader would take."""
    connection, theirs = _connected()
    has_read, may_go_on = threading.Event(), threading.Event()
    events: list[str] = []
    keep, close = connection.lines._keep, connection.lines.close

    def keep_slowly(chunk: bytes) -> None:
        has_read.set()
        assert may_go_on.wait(patience.SECONDS)
        keep(chunk)
        events.append("read")

    def close_and_note() -> None:
        events.append("closed")
        close()

    monkeypatch.setattr(connection.lines, "_keep", keep_slowly)
    monkeypatch.setattr(connection.lines, "close", close_and_note)
    theirs.sendall(b"{}\n")
    soaking, closing = threading.Thread(target=connection.soak), threading.Thread(target=connection.close)
    soaking.start()
    assert has_read.wait(patience.SECONDS)
    closing.start()
    assert theirs.recv(1) == b"", "it is shut down at once, so that whoever waits for a message leaves"
    may_go_on.set()
    for thread in (soaking, closing):
        thread.join(patience.SECONDS)
    assert events == ["read", "closed"]
    theirs.close()
