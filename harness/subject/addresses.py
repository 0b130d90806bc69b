"""Addresses of sockets as users write them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

_ROOM = 107
"""Bytes of a path in an address of AF_UNIX, without the zero behind it."""


@contextlib.contextmanager
def within_reach(path: str) -> Iterator[str]:
    """A name for the file of a socket that an address has room for, whatever the length of its path. Raises OSError."""
    if len(os.fsencode(path)) <= _ROOM:
        yield path
        return
    folder, name = os.path.split(path)
    descriptor = os.open(folder or os.curdir, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}/{name}"
    finally:
        os.close(descriptor)


def host_and_port(text: str) -> tuple[str, int]:
    """Split the HOST:PORT of a tcp address; the host may stand in square brackets. Raises ValueError."""
    host, _, port = text.rpartition(":")
    if not host or not (port.isascii() and port.isdigit()):
        raise ValueError("expected tcp:HOST:PORT, with a number as the port")
    return host.strip("[]"), int(port)
