"""Addresses of sockets as users write them."""

from __future__ import annotations


def host_and_port(text: str) -> tuple[str, int]:
    """Split the HOST:PORT of a tcp address; the host may stand in square brackets. Raises ValueError."""
    host, _, port = text.rpartition(":")
    if not host or not (port.isascii() and port.isdigit()):
        raise ValueError("expected tcp:HOST:PORT, with a number as the port")
    return host.strip("[]"), int(port)
