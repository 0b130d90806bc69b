"""A log of all messages, one JSON object a line: the harness's processes append to the file of NPU_WIRE_LOG."""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path
from typing import Any, Literal

import msgspec

from npu_conformance.harness.wire.framing import truncated

VARIABLE = "NPU_WIRE_LOG"
Direction = Literal["to driver", "from driver"]
_SECRET = re.compile(rb'"(key|ticket)"\s*:\s*"[^"]*"?')
_LONG_LINE, _LONG_TEXT, _LONG_LIST = 2048, 200, 64


def begin(file: Path) -> None:
    """Start a file, and log into it from now on, in processes that are started later too. Raises OSError."""
    file.write_bytes(b"")
    os.environ[VARIABLE] = str(file.resolve())


def end() -> None:
    """Log no more."""
    os.environ.pop(VARIABLE, None)


class WireLog:
    """Appends messages to a file. case: the one that runs."""

    def __init__(self, path: str) -> None:
        self.case = ""
        self._path = path
        # One write appends one line, so that the lines of several processes stay whole.
        self._descriptor: int | None = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)

    @classmethod
    def asked_for(cls) -> WireLog | None:
        """The log that NPU_WIRE_LOG asks for, if any. Raises OSError."""
        path = os.environ.get(VARIABLE)
        return cls(path) if path else None

    def write(self, direction: Direction, connection: int, data: bytes | bytearray) -> None:
        """Append the messages in `data`, a line each. A log that cannot go on says so once, and costs no verdict."""
        for line in bytes(data).removesuffix(b"\n").split(b"\n"):
            if self._descriptor is None:
                return
            try:
                os.write(self._descriptor, self._entry(direction, connection, line))
            except OSError as error:
                print(f"npu-conformance: {self._path}: the wire log ends here: {error.strerror}", file=sys.stderr)
                self.close()

    def close(self) -> None:
        """Close the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _entry(self, direction: Direction, connection: int, line: bytes) -> bytes:
        entry = {
            "time": round(time.time(), 6),
            "process": os.getpid(),
            "direction": direction,
            "case": self.case,
            "connection": connection,
            "message": _message(line),
        }
        return msgspec.json.encode(entry) + b"\n"


def without_secrets(line: bytes) -> bytes:
    """A message, or its beginning, without the key and the tickets that open connections: logs are passed on."""
    return _SECRET.sub(rb'"\1":"(hidden)"', line)


def _message(line: bytes) -> Any:
    """A line as JSON, with long texts and lists shortened; what is no JSON as text."""
    try:
        value = msgspec.json.decode(without_secrets(line))
        return _shortened(value) if len(line) > _LONG_LINE else value
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return f"not JSON: {truncated(line)}"


def _shortened(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _LONG_TEXT:
        return f"{value[:_LONG_TEXT]}... ({len(value)} characters)"
    if isinstance(value, list):
        more = [f"... ({len(value)} elements)"] if len(value) > _LONG_LIST else []
        return [*map(_shortened, value[:_LONG_LIST]), *more]
    if isinstance(value, dict):
        return {name: _shortened(one) for name, one in value.items()}
    return value
