"""Lines over a stream socket: bounded in size and time, with descriptors where the socket carries them."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import time
from collections import deque
from collections.abc import Callable

from npu_conformance.harness.wire import strangers_descriptors
from npu_conformance.harness.wire.protocol import LINE_LIMIT
from npu_conformance.harness.wire.starvation import Patience

NEVER = float("inf")
_CHUNK = 1 << 16
_LARGE_CHUNK = 1 << 20
TICK_SECONDS = 0.05
_SHOWN = 80
_MOST_DESCRIPTORS = 256
"""Descriptors that wait for a message that takes them. Whoever sends more exhausts those of this process."""


class WireError(Exception):
    """Base of what ends a connection."""


class Lost(WireError):
    """The other side has closed the connection, or its process has died."""


class ClosedHereError(WireError):
    """This side has closed the connection: whatever was reached through it is dead."""


class TimedOut(WireError):
    """The deadline has passed with nothing received."""


class Unread(TimedOut):
    """The deadline has passed, and the other side does not read what is sent."""


class Violation(WireError):
    """What was received breaks the protocol. The text names what was found."""


def truncated(data: bytes) -> str:
    """Return the beginning of received bytes, fit for one line of a message."""
    text = repr(bytes(data[:_SHOWN]))[1:]
    return f"{text}... ({len(data)} bytes)" if len(data) > _SHOWN else text


def is_readable(*sockets: socket.socket, seconds: float = 0.0) -> bool:
    """True where one of the sockets can be read, or has ended; false where that takes longer than some seconds."""
    # Not select(): it knows no descriptors beyond 1023.
    poll = select.poll()
    for each in sockets:
        poll.register(each, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


class LineSocket:
    """A stream socket that sends and receives lines.

    limit: bytes of the longest line accepted. has_ended: asked every 50 ms while waiting: has the other side ended?
    patience: says when a deadline is over.
    A waiting call returns with one system call where data is there: the kernel keeps the time (SO_RCVTIMEO).
    """

    def __init__(
        self,
        connection: socket.socket,
        limit: int = LINE_LIMIT,
        has_ended: Callable[[], bool] | None = None,
        patience: Patience | None = None,
    ) -> None:
        self.socket = connection
        self.descriptors: deque[int] = deque()
        self.carries_descriptors = connection.family == socket.AF_UNIX
        self._limit = limit
        self._has_ended = has_ended
        self.patience = patience or Patience()
        self.meanwhile: Callable[[], object] | None = None
        """Called now and then while this side waits, for what else may be waiting for it."""
        self._lines: deque[bytes] = deque()
        self._parts: list[bytes] = []
        self._partial_size = 0
        connection.setblocking(True)
        timeval = struct.pack("ll", 0, int(TICK_SECONDS * 1e6))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeval)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeval)
        if connection.family in (socket.AF_INET, socket.AF_INET6):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @property
    def partial(self) -> bytes:
        """What has been received of a line that is not complete."""
        return b"".join(self._parts)

    def buffered(self) -> bool:
        """True where a whole line can be read without waiting."""
        return bool(self._lines)

    def receive(self, deadline: float = NEVER) -> bytes:
        """Return the next line. deadline: on time.monotonic(). Raises Lost, TimedOut, Violation."""
        began = time.monotonic()
        while not self._lines:
            chunk = self._receive_chunk(deadline, began)
            if not self._parts and chunk.find(b"\n") == len(chunk) - 1:
                self._check_size(len(chunk) - 1)
                return chunk
            self._keep(chunk)
            if not self._lines and self.patience.is_over(deadline, began):
                raise TimedOut("the deadline has passed")
        return self._lines.popleft()

    def soak(self) -> bool:
        """Read what has arrived, for later; return false at once where there is nothing, or only the end."""
        if not is_readable(self.socket):
            return False
        chunk = self._receive_with_descriptors(_CHUNK) if self.carries_descriptors else self.socket.recv(_CHUNK)
        self._keep(chunk)
        return bool(chunk)

    def send(self, data: bytes | bytearray, deadline: float = NEVER, descriptor: int | None = None) -> None:
        """Send everything; a descriptor travels with the first byte. Raises Lost, TimedOut."""
        view = memoryview(data)
        try:
            while view:
                try:
                    sent = self._send_some(view, descriptor)
                    view, descriptor = view[sent:], None
                except BlockingIOError:
                    self._wait_for_reader(deadline)
        except (BrokenPipeError, ConnectionError):
            raise Lost("the connection was closed") from None
        except OSError as error:
            raise Lost(f"the connection was lost: {error.strerror}") from None
        finally:
            view.release()

    def shut_down(self) -> None:
        """End both directions, which wakes a thread that still reads or sends; the descriptor stays."""
        with contextlib.suppress(OSError):  # a socket that the other side has closed refuses it
            self.socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the socket and descriptors that nobody took."""
        if self.carries_descriptors:
            strangers_descriptors.close_socket(self.socket)
        else:
            self.shut_down()
            self.socket.close()
        untaken = list(self.descriptors)
        self.descriptors.clear()
        strangers_descriptors.close_all(untaken)

    def _wait_for_reader(self, deadline: float) -> None:
        """Look around while the other side does not read. Raises Lost, Unread."""
        try:
            if self._tick(deadline):
                raise Lost("the connection was closed")
        except TimedOut:
            raise Unread("what was sent is not read") from None

    def _send_some(self, view: memoryview, descriptor: int | None) -> int:
        if descriptor is None:
            return self.socket.send(view, socket.MSG_NOSIGNAL)
        return socket.send_fds(self.socket, [view], [descriptor], socket.MSG_NOSIGNAL)

    def _receive_chunk(self, deadline: float, began: float) -> bytes:
        size = _LARGE_CHUNK if self._partial_size > _CHUNK else _CHUNK
        ended = False
        while True:
            try:
                chunk = self._receive_with_descriptors(size) if self.carries_descriptors else self.socket.recv(size)
            except BlockingIOError:
                if ended:
                    raise Lost(self._closed_text()) from None
                ended = self._tick(deadline, began)
                continue
            except OSError as error:
                raise Lost(f"the connection was lost: {error.strerror}") from None
            if not chunk:
                raise Lost(self._closed_text())
            return chunk

    def _receive_with_descriptors(self, size: int) -> bytes:
        chunk, descriptors = strangers_descriptors.receive(self.socket, size)
        self.descriptors.extend(descriptors)
        if len(self.descriptors) > _MOST_DESCRIPTORS:
            raise Violation(f"more than {_MOST_DESCRIPTORS} descriptors that no message takes")
        return chunk

    def _keep(self, chunk: bytes) -> None:
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            self._lines.append(b"".join((*self._parts, line)))
            self._check_size(len(self._lines[-1]))
            self._parts.clear()
            self._partial_size = 0
        if rest:
            self._parts.append(rest)
            self._partial_size += len(rest)
            self._check_size(self._partial_size)

    def _check_size(self, size: int) -> None:
        if size > self._limit:
            self._parts.clear()
            raise Violation(f"a line longer than the limit of {self._limit} bytes")

    def _tick(self, deadline: float, began: float | None = None) -> bool:
        """Look around while waiting. True where the other side has ended: what it had sent is still to be read."""
        if self.meanwhile is not None:
            self.meanwhile()
        if self._has_ended is not None and self._has_ended():
            return True
        if self.patience.is_over(deadline, began):
            raise TimedOut("the deadline has passed")
        return False

    def _closed_text(self) -> str:
        partial = self.partial
        return (
            f"the connection was closed after half a line: {truncated(partial)}"
            if partial
            else "the connection was closed"
        )
