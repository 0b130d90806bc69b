"""Where a driver of its own answers the first message: what it says, or does, instead. Sockets and json alone.

`python handshakes.py FILE`: the answer to the handshake with the changes that the file says.
`do` and `raw`: what is done, and said, first.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from typing import Any

MANIFEST: dict[str, Any] = {
    "name": "hostile",
    "vendor": "tests",
    "version": "1",
    "hal_version": "1.2",
    "deadlines": {"prepare": 3600.0, "execute": 3600.0, "call": 3600.0, "start": 3600.0},
}
ANSWER: dict[str, Any] = {
    "protocolVersion": 1,
    "manifest": MANIFEST,
    "objects": {"device": 1},
    "transports": ["message"],
}


def _sleep() -> None:
    time.sleep(3600.0)


def _leave_a_child_and_exit() -> None:
    if os.fork() == 0:
        os.setsid()
        _sleep()
    os._exit(0)


DEEDS: dict[str, Callable[[], object]] = {
    "exit": lambda: os._exit(7),
    "abort": os.abort,
    "fault": lambda: signal.raise_signal(signal.SIGSEGV),
    "sleep": _sleep,
    "stop": lambda: signal.raise_signal(signal.SIGSTOP),
    "child_and_exit": _leave_a_child_and_exit,
    "print": lambda: [os.write(number, b"p" * (1 << 16)) for number in (1, 2) for _ in range(160)],
}


def _answer(connection: socket.socket, told: dict[str, Any], number: int) -> bytes:
    error = told.get("error")
    result = {**ANSWER, **told.get("answer", {}), "manifest": {**MANIFEST, **told.get("manifest", {})}}
    if "whole_manifest" in told:
        result["manifest"] = told["whole_manifest"]
    body = {"result": result} if error is None else {"error": error}
    return json.dumps({"jsonrpc": "2.0", "id": told.get("id", number), **body}).encode() + b"\n"


def main(told: dict[str, Any]) -> None:
    """Answer the handshake, then every call, until the connection ends."""
    connection = socket.socket(fileno=int(os.environ["NPU_CONFORMANCE_FD"]))
    with connection.makefile("rb") as lines:
        for line in lines:
            request = json.loads(line)
            if request["method"] == "initialize":
                connection.sendall(told.get("raw", "").encode("latin-1"))
                DEEDS.get(told.get("do", ""), int)()
                connection.sendall(_answer(connection, told, request["id"]))
                DEEDS.get(told.get("after", ""), int)()
            elif "id" in request:
                result = "fine" if request["method"] == "device.getVersionString" else None
                answer = {"jsonrpc": "2.0", "id": request["id"], "result": result}
                connection.sendall(json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        told = json.load(file)
    main(told)
