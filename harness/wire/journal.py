"""The last messages between the suite and a subject, for the failure file, and all of them where a log is asked for."""

from __future__ import annotations

import re
from collections import deque
from time import monotonic
from typing import Any

import msgspec

from npu_conformance.harness.wire.wire_log import Direction, WireLog, without_secrets
from npu_conformance.specs.diagnostics.stacks import printable
from npu_conformance.specs.documents.failures import LastCall

_CALLS, _MESSAGES = 20, 100
_HEAD = 300
"""Bytes that are kept of a message, and shown of its arguments."""
_VALUE = re.compile(r'"(?:params|result|error)"\s*:\s*')
_OBJECT = re.compile(r'"object"\s*:\s*(-?\d{1,18})\b')
_OURS = re.compile(rb'\{(?:"id":(\d+),?)?(?:"method":"([^"]*)")?')
_HOUSEKEEPING = frozenset({"object.release", "memory.detach"})


_Message = tuple[float, int, bool, bytes | bytearray, int | None, str | None]
"""Time, connection, whether we sent it, its beginning; id and method of a received one, whose fields have any order."""


class Journal:
    """What crossed the wire last, over all connections to one subject. Any thread may add to it."""

    def __init__(self) -> None:
        self.log = WireLog.asked_for()
        self._messages: deque[_Message] = deque(maxlen=_MESSAGES)
        self._began = monotonic()
        self._connections = 0
        self._kept: tuple[LastCall, ...] = ()

    def begin(self, case: str) -> None:
        """A case begins: times count from here."""
        self._began = monotonic()
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
        now = monotonic()
        found: dict[tuple[int, bool, int | str | None], dict[str, Any]] = {}
        for number, message in enumerate(tuple(self._messages)):
            _, connection, is_sent, head, identity, method = message = _known(message)
            if method is None:
                asked = found.get((connection, not is_sent, identity))
                if asked is not None:
                    asked["answer"] = _value(head)
            elif method not in _HOUSEKEEPING:
                key = (connection, is_sent, identity if identity is not None else f"#{number}")
                found[key] = self._call(message, now)
        return tuple(LastCall(**fields) for fields in list(found.values())[-_CALLS:])

    def _call(self, message: _Message, now: float) -> dict[str, Any]:
        sent_at, connection, is_sent, head, identity, method = message
        arguments = _value(head)
        named = _OBJECT.search(arguments)
        silent = f"no answer: sent {now - sent_at:.1f} s ago"
        return {
            "seconds": round(sent_at - self._began, 6),
            "caller": "suite" if is_sent else "driver",
            "connection": connection,
            "method": printable((method or "")[:_HEAD]),
            "object": int(named[1]) if named else None,
            "arguments": arguments,
            "answer": "" if identity is None else silent,
        }


class Page:
    """One connection's part of a journal. It is asked at every message: a copy of the beginning is all it makes."""

    __slots__ = ("_add", "_connection", "_log")

    def __init__(self, messages: deque[_Message], connection: int, log: WireLog | None) -> None:
        self._add = messages.append
        self._connection = connection
        self._log = log

    def sent(self, line: bytearray, start: int) -> None:
        """Take a message of ours, encoded from `start` on."""
        self._add((monotonic(), self._connection, True, line[start : start + _HEAD], None, None))

    def received(self, line: bytes, identity: int | None, method: str | None) -> None:
        """Take a message of the driver's."""
        self._add((monotonic(), self._connection, False, line[:_HEAD], identity, method))

    def log(self, direction: Direction, data: bytes | bytearray) -> None:
        """Write lines to the log, where one is kept."""
        if self._log is not None:
            self._log.write(direction, self._connection, data)


def _known(message: _Message) -> _Message:
    """The message, with its id and method where it is one of ours: those stand at its beginning."""
    sent_at, connection, is_sent, head, identity, method = message
    if not is_sent:
        return message
    found = _OURS.match(head)
    if found is not None:
        identity = int(found[1]) if found[1] else None
        method = found[2].decode() if found[2] else None
    return sent_at, connection, is_sent, head, identity, method


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
