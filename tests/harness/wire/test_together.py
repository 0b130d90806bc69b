"""Calls that travel together: one after the other for the driver, and each has its own answer."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator

import patience
import pytest

from npu_conformance.harness.wire.connection import Connection, marked_concurrent
from npu_conformance.harness.wire.framing import LineSocket
from npu_conformance.specs.errors import DeadObject

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
