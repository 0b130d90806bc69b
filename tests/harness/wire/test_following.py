"""Who waits while another thread reads is told when that thread no longer does, whatever it has read for."""

from __future__ import annotations

import socket
import threading

import patience
import pytest

from npu_conformance.harness.wire.connection import Connection
from npu_conformance.harness.wire.framing import LineSocket


def test_who_soaks_lets_others_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = socket.socketpair()
    connection = Connection(LineSocket(ours), -1, strict=True)
    soaks, follows = threading.Event(), threading.Event()
    keep, wait = connection.lines._keep, connection._follower_turn.wait

    def keep_when_followed(chunk: bytes) -> None:
        soaks.set()
        assert follows.wait(patience.SECONDS)
        keep(chunk)

    def wait_without_end(_: float) -> bool:
        follows.set()
        return wait(patience.SECONDS)

    monkeypatch.setattr(connection.lines, "_keep", keep_when_followed)
    monkeypatch.setattr(connection._follower_turn, "wait", wait_without_end)
    theirs.sendall(b"{}\n")
    soaking = threading.Thread(target=connection.soak)
    soaking.start()
    assert soaks.wait(patience.SECONDS)
    assert connection.serve_until(connection.lines.buffered, patience.SECONDS)
    soaking.join(patience.SECONDS)
    connection.close()
    theirs.close()
