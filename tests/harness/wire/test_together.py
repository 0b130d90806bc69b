"""Calls that travel together: one after the other for the driver, and each has its own answer."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator

import patience
import pytest

from npu_conformance.harness.wire.connection import Connection, marked_concurrent
from npu_conformance.harness.wire.framing import LineSocket, Violation
from npu_conformance.specs.errors import DeadObject, InterfaceError

_CALLS: list[tuple[str, object, object]] = [(f"runtime.call{number}", {}, int) for number in range(150)]


@pytest.fixture
def ends() -> Iterator[tuple[Connection, socket.socket]]:
    """A harness's connection, and the bare socket of a driver."""
    ours, theirs = socket.socketpair()
    connection = Connection(LineSocket(ours), -1, strict=True, deadline_of=lambda method: patience.SECONDS)
    with theirs:
        yield connection, theirs
        connection.close()


def _answer(driver: socket.socket, batches: list[int], last: int | None = None) -> None:
    """Answer each request with its id, as many lines as come at once; go after the answer to the last one."""
    while received := driver.recv(1 << 20):
        lines = received.splitlines()
        batches.append(len(lines))
        for line in lines:
            number = json.loads(line)["id"]
            driver.sendall(json.dumps({"jsonrpc": "2.0", "id": number, "result": number}).encode() + b"\n")
            if number == last:
                driver.shutdown(socket.SHUT_RDWR)
                return


def test_requests_travel_together_and_answers_keep_their_order(ends: tuple[Connection, socket.socket]) -> None:
    connection, driver = ends
    batches: list[int] = []
    server = threading.Thread(target=_answer, args=(driver, batches))
    server.start()
    assert connection.call_each(_CALLS) == list(range(1, 151))
    assert batches == [64, 64, 22]
    connection.close()
    server.join(patience.SECONDS)


def test_the_first_call_without_an_answer_is_to_blame(ends: tuple[Connection, socket.socket]) -> None:
    connection, driver = ends
    server = threading.Thread(target=_answer, args=(driver, [], 2))
    server.start()
    with pytest.raises(DeadObject, match=r"^runtime\.call2: the connection was closed$"):
        connection.call_each(_CALLS[:5])
    server.join(patience.SECONDS)


def test_calls_at_once_are_not_mixed_with_those_behind_them(ends: tuple[Connection, socket.socket]) -> None:
    connection, driver = ends
    batches: list[int] = []
    server = threading.Thread(target=_answer, args=(driver, batches))
    server.start()
    with marked_concurrent():
        assert connection.call_each(_CALLS[:3]) == [1, 2, 3]
    assert batches == [1, 1, 1]
    connection.close()
    server.join(patience.SECONDS)


def _refuse(driver: socket.socket, count: int) -> None:
    """Answer so many requests with an error."""
    refused = 0
    while refused < count:
        lines = driver.recv(1 << 20).splitlines()
        refused += len(lines)
        for line in lines:
            answer = {"jsonrpc": "2.0", "id": json.loads(line)["id"], "error": {"code": -32603, "message": "refused"}}
            driver.sendall(json.dumps(answer).encode() + b"\n")


def test_after_a_call_that_fails_no_later_answer_is_kept(ends: tuple[Connection, socket.socket]) -> None:
    connection, driver = ends
    server = threading.Thread(target=_refuse, args=(driver, 9))
    server.start()
    for calls in (_CALLS[:4], _CALLS[:4], _CALLS[:1]):
        with pytest.raises(InterfaceError, match="refused"):
            connection.call_each(calls)
    server.join(patience.SECONDS)
    assert connection._outstanding._waiters == {}


def test_a_line_that_comes_whole_may_not_be_too_long_either() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        lines = LineSocket(ours, limit=10)
        theirs.sendall(b"x" * 10 + b"\n")
        assert lines.receive().rstrip() == b"x" * 10
        theirs.sendall(b"x" * 11 + b"\n")
        with pytest.raises(Violation, match="longer than the limit of 10 bytes"):
            lines.receive()
