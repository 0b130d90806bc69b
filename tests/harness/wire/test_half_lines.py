"""A line that is being written when a wait ends is waited for; one whose end does not come ends the connection."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest
from patience import SECONDS

from npu_conformance.harness.wire.connection import Connection
from npu_conformance.harness.wire.framing import LineSocket, WireError
from npu_conformance.harness.wire.protocol import Release, RemoteError

_LINE = b'{"jsonrpc":"2.0","method":"object.release","params":{"object":-1,"count":1}}\n'
_BEGINNING, _END = _LINE[:30], _LINE[30:]
_SHORT = 0.02
_LATER = 0.15


class BreachError(Exception):
    """What a caller of this connection sees."""


class Driver:
    """The other end, and the connection to it. seconds: the deadline of a call."""

    def __init__(self, seconds: float = SECONDS) -> None:
        ours, self.socket = socket.socketpair()
        self.released: list[Release] = []
        self.connection = Connection(
            LineSocket(ours), -1, strict=True, problem=_problem, deadline_of=lambda _: seconds
        )  # fmt: skip
        self.connection.builtins["object.release"] = (Release, self.released.append)

    def close(self) -> None:
        self.connection.close()
        self.socket.close()


def _problem(problem: WireError | RemoteError, method: str) -> Exception:
    return BreachError(f"{method}: {type(problem).__name__}")


@pytest.fixture
def driver() -> Iterator[Driver]:
    driver = Driver()
    yield driver
    driver.close()


@pytest.mark.parametrize("after", [b"", _BEGINNING])
def test_a_line_that_is_being_written_when_a_wait_ends_arrives(driver: Driver, after: bytes) -> None:
    driver.socket.sendall(_BEGINNING)
    later = threading.Timer(_LATER, driver.socket.sendall, (_END + after,))
    later.start()
    assert driver.connection.serve_until(lambda: False, _SHORT) is False
    later.join()
    assert [each.object for each in driver.released] == [-1]


def test_what_is_waited_for_may_be_in_the_line_that_has_begun(driver: Driver) -> None:
    driver.socket.sendall(_BEGINNING)
    later = threading.Timer(_LATER, driver.socket.sendall, (_END,))
    later.start()
    assert driver.connection.serve_until(lambda: bool(driver.released), _SHORT) is True
    later.join()


@pytest.mark.parametrize("one", [False, True])
def test_half_a_line_has_the_time_of_a_call_for_its_end(*, one: bool) -> None:
    driver = Driver(seconds=0.3)
    driver.socket.sendall(_BEGINNING)
    began = time.monotonic()
    with pytest.raises(BreachError, match="a callback: TimedOut"):
        driver.connection.serve_one() if one else driver.connection.serve_until(lambda: False, _SHORT)
    assert time.monotonic() - began >= 0.3
    driver.close()


def test_a_wait_on_a_connection_that_a_deadline_has_ended_is_over() -> None:
    driver = Driver(seconds=0.05)
    with pytest.raises(BreachError, match="ping: TimedOut"):
        driver.connection.call("ping", {}, dict)
    assert driver.connection.serve_until(lambda: False, SECONDS) is False
    driver.close()
