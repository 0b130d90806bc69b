"""A client that speaks the wire line by line, right or wrong."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from patience import SECONDS

SERVE = [sys.executable, "-m", "npu_conformance", "serve"]
"""The command, with the plug-ins of HOSTILE where the environment is `environment()`."""
HOSTILE = str(Path(__file__).parents[1] / "hostile")

HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}
"""The first request of a connection."""


class Client:
    """A connection that sends and receives lines."""

    def __init__(self, connection: socket.socket) -> None:
        connection.settimeout(SECONDS)
        self.connection, self.lines = connection, connection.makefile("rb")

    def ask(self, message: dict[str, Any] | bytes) -> dict[str, Any]:
        """Send a line; return the next one."""
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.connection.sendall(data + b"\n")
        answer: dict[str, Any] = json.loads(self.lines.readline())
        return answer


def call(method: str, **params: Any) -> dict[str, Any]:
    """A request as a message."""
    return {"jsonrpc": "2.0", "id": 5, "method": method, "params": params}


def environment() -> dict[str, str]:
    """The environment in which a process can import what this one can, and the plug-ins of tests."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join((HOSTILE, *filter(None, sys.path)))}


@contextlib.contextmanager
def served(plugin: str, scheme: str, folder: Path, *plugin_options: str) -> Iterator[tuple[str, dict[str, str]]]:
    """A plug-in behind `npu-conformance serve`: its address, and the options that reach it."""
    address = f"unix:{folder}/socket" if scheme == "unix" else "tcp:127.0.0.1:0"
    options = {} if scheme == "unix" else {"key-file": str(folder / "key")}
    words = ["--key-file", options["key-file"]] if options else []
    words += [f"--plugin-option={option}" for option in plugin_options]
    command = [*SERVE, plugin, "--listen", address, *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment())
    assert process.stdout is not None
    try:
        assert select.select([process.stdout], [], [], SECONDS)[0], "no address"
        yield process.stdout.readline().decode().strip(), options
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
