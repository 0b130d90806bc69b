"""The host process: serves a Python plug-in to the harness over the socket it was born with."""

from __future__ import annotations

import io
import os
import resource
import socket
import sys
import threading

from npu_conformance.harness.subject.addresses import within_reach
from npu_conformance.harness.subject.stack_signal import tell_stacks
from npu_conformance.harness.wire.framing import LineSocket
from npu_conformance.harness.wire.paths import NOWHERE, Paths
from npu_conformance.harness.wire.session import HostConnection, HostState
from npu_conformance.specs.plugin import Caller, Plugin


class ApplicationListener:
    """A socket in the private directory where applications present their tickets; opened when first needed."""

    def __init__(self, directory: str) -> None:
        self._path = f"{directory}/host-{os.urandom(8).hex()}.socket"
        self._listener: socket.socket | None = None
        self.host: HostState | None = None

    def address(self) -> str:
        """Where to connect: a new socket where the old one's name is gone, as with a directory that was removed."""
        if self._listener is None or not os.path.lexists(self._path):
            self._listener = listen_unix(self._path)
            threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()
        return f"unix:{self._path}"

    def _accept(self, listener: socket.socket) -> None:
        assert self.host is not None
        while True:
            connection, _ = listener.accept()
            serve_in_thread(LineSocket(connection), self.host, control=False, open_to_all=False)


def listen_unix(path: str) -> socket.socket:
    """Listen on a socket file that only this user may use. Raises OSError."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        with within_reach(path) as name:
            listener.bind(name)
        listener.listen()
    except OSError:
        listener.close()
        raise
    finally:
        os.umask(before)
    return listener


def serve_in_thread(
    lines: LineSocket,
    host: HostState,
    *,
    control: bool,
    open_to_all: bool,
    caller: Caller | None = None,
    paths: Paths = NOWHERE,
) -> threading.Thread:
    """Serve one connection in a thread of its own. See HostConnection."""
    caller = caller or peer(lines.socket)
    session = HostConnection(lines, host, caller, control=control, open_to_all=open_to_all, paths=paths)
    thread = threading.Thread(target=session.serve, daemon=True)
    thread.start()
    return thread


def serve_connection(connection: socket.socket, plugin: Plugin, options: dict[str, str], directory: str) -> None:
    """Serve the harness's own connection until it closes. directory: private, for the applications' socket."""
    tell_stacks()
    _print_at_once()
    listener = ApplicationListener(directory)
    host = listener.host = HostState(plugin, options, address=listener.address, own_process=True)
    HostConnection(LineSocket(connection), host, peer(connection), control=True, open_to_all=True).serve()


def _print_at_once() -> None:
    """Let a line that the plug-in prints leave at once: later it would be another case's, and a crash would lose it."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)


def limit_memory(size: int) -> None:
    """Let this process have at most `size` bytes of private memory; beyond, it gets MemoryError."""
    resource.setrlimit(resource.RLIMIT_DATA, (size, size))


def peer(connection: socket.socket) -> Caller:
    """The uid and pid at the other end, as the kernel knows them; over tcp those of nobody (65534)."""
    if connection.family != socket.AF_UNIX:
        return Caller(65534, 0)
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    pid, uid, _ = (int.from_bytes(credentials[start : start + 4], "little", signed=True) for start in (0, 4, 8))
    return Caller(uid, pid)
