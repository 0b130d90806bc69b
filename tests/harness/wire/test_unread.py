"""A message of which the other side reads a part alone ends the connection: the next one would be mixed with it."""

from __future__ import annotations

import socket

import pytest

from npu_conformance.harness.wire.connection import Connection
from npu_conformance.harness.wire.framing import LineSocket, Unread, WireError
from npu_conformance.harness.wire.protocol import RemoteError
from npu_conformance.specs.errors import LostObject

_MORE_THAN_FITS = "x" * (8 << 20)


class StuckError(Exception):
    """What a caller of this connection sees."""


def _connected() -> tuple[Connection, socket.socket]:
    def problem(problem: WireError | RemoteError, method: str) -> Exception:
        return StuckError(f"{method}: {type(problem).__name__}")

    ours, theirs = socket.socketpair()
    lines = LineSocket(ours)
    return Connection(lines, -1, strict=True, problem=problem, deadline_of=lambda method: 0.05), theirs


def test_a_wait_whose_messages_are_not_read_breaks_the_connection() -> None:
    connection, theirs = _connected()
    connection.notify_later("event", _MORE_THAN_FITS)
    with pytest.raises(StuckError, match="a message: Unread"):
        connection.serve_until(lambda: False, 0.05)
    assert isinstance(connection.broken, Unread)
    with pytest.raises(LostObject):
        connection.call("ping", {}, dict)
    connection.close()
    theirs.close()


def test_the_call_after_a_message_that_is_not_read_tells_it() -> None:
    connection, theirs = _connected()
    connection.tell("event", _MORE_THAN_FITS)
    theirs.recv(1 << 24)
    with pytest.raises(StuckError, match="ping: Unread"):
        connection.call("ping", {}, dict)
    connection.close()
    theirs.close()


def test_a_connection_that_has_ended_shows_at_the_next_call() -> None:
    connection, theirs = _connected()
    theirs.close()
    connection.tell("event", "short")
    with pytest.raises(StuckError, match="ping: Lost"):
        connection.call("ping", {}, dict)
    connection.close()


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_small_messages_do_not_wait_for_the_answer_to_earlier_ones(address: str) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        server = socket.create_server((address, 0), family=family)
    except OSError:
        pytest.skip("this machine has no IPv6")
    with server, socket.create_connection(server.getsockname()[:2]) as client:
        LineSocket(client)
        assert client.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
