"""Descriptors that somebody else has sent: they are received whole, and closing them holds up nobody.

The last close of a socket may wait for its other end as long as its owner likes (SO_LINGER), and that of a socket in
which such a one lies unread waits as well.
"""

from __future__ import annotations

import array
import contextlib
import os
import socket
import struct
import threading
from collections.abc import Callable, Sequence

_MOST_IN_A_MESSAGE = 253
_ANCILLARY = socket.CMSG_SPACE(_MOST_IN_A_MESSAGE * struct.calcsize("i"))
"""Room for all: those that find none the kernel closes within the call that receives, which waits for it."""
_AT_ONCE = struct.pack("ii", 1, 0)
"""SO_LINGER of a socket whose close drops what is unsent."""


def receive(connection: socket.socket, size: int, flags: int = 0) -> tuple[bytes, list[int]]:
    """Bytes from a Unix socket, and the descriptors that came with them. Raises OSError."""
    data, ancillary, _, _ = connection.recvmsg(size, _ANCILLARY, flags | socket.MSG_CMSG_CLOEXEC)
    numbers = array.array("i")
    for level, kind, content in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            numbers.frombytes(content[: len(content) - len(content) % numbers.itemsize])
    return data, numbers.tolist()


def close_all(descriptors: Sequence[int]) -> None:
    """Close descriptors without waiting for it."""
    if descriptors:
        _elsewhere(lambda: _close(descriptors))


def close_socket(connection: socket.socket) -> None:
    """End a Unix socket in both directions and close it, without waiting for what may lie in it unread."""
    with contextlib.suppress(OSError):  # a socket that the other side has closed refuses it
        connection.shutdown(socket.SHUT_RDWR)
    if _holds_something(connection):
        _elsewhere(connection.close)
    else:
        connection.close()


def _holds_something(connection: socket.socket) -> bool:
    """Whether something is unread; nothing can come in any more."""
    try:
        return bool(connection.recvmsg(1, 0, socket.MSG_PEEK | socket.MSG_DONTWAIT)[0])
    except OSError:  # the error of a connection is told when nothing is left to be read
        return False


def _elsewhere(close: Callable[[], None]) -> None:
    """In a thread that ends with the process at the latest: the end of a process does not wait for any socket."""
    threading.Thread(target=close, name="close", daemon=True).start()


def _close(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        _forbid_lingering(descriptor)
        with contextlib.suppress(OSError):  # what was written may be lost, but it is closed
            os.close(descriptor)


def _forbid_lingering(descriptor: int) -> None:
    """Spare the thread the wait where it can be: many that wait would exhaust the open files."""
    with contextlib.suppress(OSError):  # it is no socket
        # Any family does for this, and Python does not know all of them.
        found = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno=descriptor)
        try:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        finally:
            found.detach()
