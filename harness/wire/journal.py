"""The last messages between the suite and a subject, for the failure file, and all of them where a log is asked for."""

from __future__ import annotations

import re
import time
from collections import deque
from typing import Any, NamedTuple

import msgspec

from npu_conformance.harness.wire.wire_log import Direction, WireLog, without_secrets
from npu_conformance.specs.diagnostics.stacks import printable
from npu_conformance.specs.documents.failures import LastCall

_CALLS, _MESSAGES = 20, 100
_HEAD = 300
"""Bytes that are kept of a message, and shown of its arguments."""
_VALUE = re.compile(r'"(?:params|result|error)"\s*:\s*')
_OBJECT = re.compile(r'"object"\s*:\s*(-?\d{1,18})\b')
_HOUSEKEEPING = frozenset({"object.release", "memory.detach"})


class _Message(NamedTuple):
    time: float
    connection: int
    is_sent: bool
    id: int | None
    method: str | None
    head: bytes | bytearray


class Journal:
    """What crossed the wire last, over all connections to one subject. Any thread may add to it."""

    def __init__(self) -> None:
        self.log = WireLog.asked_for()
        self._messages: deque[_Message] = deque(maxlen=_MESSAGES)
        self._began = time.monotonic()
        self._connections = 0
        self._kept: tuple[LastCall, ...] = ()

    def begin(self, case: str) -> None:
        """A case begins: times count from here."""
        self._began = time.monotonic()
        self._kept = ()
        if self.log is not None:
            self.log.case = case

    def page(self) -> Page:
        """Where one connection writes its messages."""
        self._connections += 1
        return Page(self._messages, self._connections, self.log)

    def keep(self) -> None:
        """Keep the calls as they stand, until the next case: the subject is lost, and its successor is called next."""
        self._kept = self._kept or self._calls()

    def calls(self) -> tuple[LastCall, ...]:
        """The last calls in both directions, the newest last: up to the loss of the subject where one was kept."""
        return self._kept or self._calls()

    def close(self) -> None:
        """Close the log."""
        if self.log is not None:
            self.log.close()

    def _calls(self) -> tuple[LastCall, ...]:
        now = time.monotonic()
        found: dict[tuple[int, bool, int | str | None], dict[str, Any]] = {}
        for number, message in enumerate(tuple(self._messages)):
            if message.method is None:
                asked = found.get((message.connection, not message.is_sent, message.id))
                if asked is not None:
                    asked["answer"] = _value(message.head)
            elif message.method not in _HOUSEKEEPING:
                key = (message.connection, message.is_sent, message.id if message.id is not None else f"#{number}")
                found[key] = self._call(message, now)
        return tuple(LastCall(**fields) for fields in list(found.values())[-_CALLS:])

    def _call(self, message: _Message, now: float) -> dict[str, Any]:
        arguments = _value(message.head)
        named = _OBJECT.search(arguments)
        silent = f"no answer: sent {now - message.time:.1f} s ago"
        return {
            "seconds": round(message.time - self._began, 6),
            "caller": "suite" if message.is_sent else "driver",
            "connection": message.connection,
            "method": printable(message.method or ""),
            "object": int(named[1]) if named else None,
            "arguments": arguments,
            "answer": "" if message.id is None else silent,
        }


class Page:
    """One connection's part of a journal."""

    __slots__ = ("_connection", "_log", "_messages")

    def __init__(self, messages: deque[_Message], connection: int, log: WireLog | None) -> None:
        self._messages = messages
        self._connection = connection
        self._log = log

    def sent(self, message: Any, line: bytearray, start: int) -> None:
        """Take a message of ours, encoded from `start` on."""
        self._messages.append(
            _Message(
                time.monotonic(),
                self._connection,
                True,
                getattr(message, "id", None),
                getattr(message, "method", None),
                line[start : start + _HEAD],
            )
        )

    def received(self, message: Any, line: bytes) -> None:
        """Take a message of the driver's."""
        self._messages.append(
            _Message(time.monotonic(), self._connection, False, message.id, message.method, line[:_HEAD])
        )

    def log(self, direction: Direction, data: bytes | bytearray) -> None:
        """Write lines to the log, where one is kept."""
        if self._log is not None:
            self._log.write(direction, self._connection, data)


def _value(head: bytes | bytearray) -> str:
    """Arguments, result or error of a message, of which `head` is the beginning; shortened."""
    head = without_secrets(bytes(head))
    try:
        whole = msgspec.json.decode(head)
        value = next((whole[name] for name in ("params", "result", "error") if name in whole), None)
        return printable(msgspec.json.encode(value).decode())
    except (msgspec.DecodeError, TypeError, UnicodeDecodeError, RecursionError):
        text = head.decode(errors="replace")
        found = _VALUE.search(text)
        return printable(text[found.end() if found else 0 :]) + "..."
