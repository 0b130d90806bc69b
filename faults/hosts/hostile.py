"""A host that misbehaves: `python -m npu_conformance.faults.hosts.hostile BEHAVIOUR`, started by the harness.

It answers the handshake and getVersionString correctly, and misbehaves at getType, or at a getSupportedOperations that
is not as it should be. It shares no code with the harness.
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

_FOREVER = 600.0
_MANIFEST = {
    "name": "hostile",
    "vendor": "npu-conformance-faults",
    "version": "1",
    "hal_version": "1.2",
    "deadlines": {"prepare": 0.5, "execute": 0.5, "call": 0.5, "start": 10.0},
}


class _Host:
    """One end of the wire."""

    def __init__(self, connection: socket.socket, behaviour: str) -> None:
        self._connection = connection
        self._behaviour = behaviour
        self._deeds: dict[str, Callable[[int], None]] = {
            "segfaults": lambda _: signal.raise_signal(signal.SIGSEGV),
            "exits": lambda _: os._exit(0),
            "hangs": lambda _: time.sleep(_FOREVER),
            "half-a-line": self._half_a_line,
            "garbage": lambda _: self._send_raw(b"\x00\xff garbage\n"),
            "wrong-type": lambda number: self._send({"id": number, "result": "one"}),
            "wrong-id": lambda _: self._send({"id": 4711, "result": 1}),
            "huge-line": self._huge_line,
            "dies-of-malformed-message": lambda _: os._exit(1),
            "hangs-on-malformed-message": lambda _: time.sleep(_FOREVER),
            "hangs-up-on-malformed-message": lambda _: self._connection.shutdown(socket.SHUT_RDWR),
            "internal-error-for-malformed-message": lambda number: self._refuse(number, -32603),
            "wrong-params-for-unknown-field": lambda number: self._refuse(number, -32602),
            "status-99-for-malformed-message": lambda number: self._refuse(number, -32001, {"status": 99}),
        }

    def serve(self) -> None:
        """Answer until the harness is gone."""
        with self._connection.makefile("rb") as lines:
            for line in lines:
                self._answer(json.loads(line))

    def _answer(self, request: dict[str, Any]) -> None:
        method, number = request["method"], request.get("id")
        if method == "initialize":
            objects, transports = {"device": 1}, ["message"]
            result = {"protocolVersion": 1, "manifest": _MANIFEST, "objects": objects, "transports": transports}
            self._send({"id": number, "result": result})
            if self._behaviour == "dies-quietly":
                os._exit(0)
        elif method == "device.getType" or (method.endswith("Operations") and not _is_sound(request["params"])):
            self._deeds[self._behaviour](int(number or 0))
        elif method == "device.getSupportedOperations":
            self._send({"id": number, "result": [True]})
        elif method == "device.getVersionString":
            self._send({"id": number, "result": "fine"})
        elif number is not None:
            self._send({"id": number, "result": None})

    def _half_a_line(self, _: int) -> None:
        self._send_raw(b'{"jsonrpc": "2.0", "id"')
        time.sleep(_FOREVER)

    def _huge_line(self, _: int) -> None:
        for _block in range(100):
            self._send_raw(b"x" * (1 << 20))

    def _refuse(self, number: int, code: int, data: dict[str, int] | None = None) -> None:
        error = {"code": code, "message": "no", **({"data": data} if data else {})}
        self._send({"id": number, "error": error})

    def _send(self, message: dict[str, Any]) -> None:
        self._send_raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def _send_raw(self, data: bytes) -> None:
        try:
            self._connection.sendall(data)
        except BrokenPipeError:
            sys.exit(0)  # the harness has closed the connection


def _is_sound(params: dict[str, Any]) -> bool:
    """True for the params of a call with a model of one operation, as far as this host looks."""
    model = params.get("model")
    main = model.get("main") if isinstance(model, dict) else None
    if set(params) != {"object", "model"} or not isinstance(main, dict):
        return False
    operations = main.get("operations")
    return isinstance(operations, list) and len(operations) == 1 and isinstance(operations[0], dict)


if __name__ == "__main__":
    _Host(socket.socket(fileno=int(os.environ["NPU_CONFORMANCE_FD"])), sys.argv[1]).serve()
