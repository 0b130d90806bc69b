"""A socket whose other end has said everything already: a server can be run against it in one thread."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

_CHUNK = 1021
"""Bytes that arrive at once: odd, so that lines come in pieces and several at a time."""


class ScriptedSocket:
    """The methods of a socket that LineSocket uses. react: may answer what the server sends with further bytes."""

    family = socket.AF_UNIX

    def __init__(self, script: bytes, react: Callable[[bytes], bytes] = lambda line: b"") -> None:
        self._script = script
        self._react = react
        self.sent = bytearray()

    def recvmsg(self, size: int, *_: object) -> tuple[bytes, list[Any], int, None]:
        """The next bytes; none at the end."""
        chunk, self._script = self._script[: min(size, _CHUNK)], self._script[min(size, _CHUNK) :]
        return chunk, [], 0, None

    def send(self, data: memoryview, *_: object) -> int:
        """Take everything."""
        self.sent += data
        self._script = self._react(bytes(data)) + self._script
        return len(data)

    def say(self, script: bytes) -> None:
        """What the other end says next, instead of what is left."""
        self._script = script
        self.sent.clear()

    def taken(self) -> bytes:
        """What was sent since `say`."""
        return bytes(self.sent)

    def setblocking(self, flag: bool) -> None:
        """Nothing ever blocks."""

    def setsockopt(self, *_: object) -> None:
        """There is no option to set."""

    def shutdown(self, how: int) -> None:
        """There is no other end."""

    def close(self) -> None:
        """There is nothing to release."""
