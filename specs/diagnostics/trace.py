"""Spans of time for Perfetto or chrome://tracing: NPU_TRACE names the file that all processes append to.

The file is Chrome's JSON array of events, one a line. The closing bracket may be missing where a run was killed, which
both viewers allow.
"""

from __future__ import annotations

import functools
import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

VARIABLE = "NPU_TRACE"
_BEGINNING = "[\n"
_UNTRACED = nullcontext()


@functools.cache
def path() -> Path | None:
    """The file that NPU_TRACE names, begun where nobody has yet; None where nothing is traced. Raises OSError."""
    name = os.environ.get(VARIABLE)
    if not name:
        return None
    with suppress(FileExistsError), open(name, "x") as file:
        file.write(_BEGINNING)
    return Path(name)


def begin(file: Path) -> None:
    """Start a file, and trace into it from now on, in processes that are started later too. Raises OSError."""
    file.write_text(_BEGINNING)
    os.environ[VARIABLE] = str(file.resolve())
    path.cache_clear()


def end() -> None:
    """Close the list that `begin` has begun, so that the file is whole JSON. Spans that end later would be lost."""
    file = path()
    if file is not None:
        _append(file, json.dumps(_event("M", "process_name", name="npu-conformance")) + "\n]\n")
        del os.environ[VARIABLE]
        path.cache_clear()


def span(category: str, name: str, **details: Any) -> AbstractContextManager[None]:
    """Trace what happens inside, with its start and duration. details: shown with the span; plain JSON values."""
    file = path()
    return _UNTRACED if file is None else _traced(file, category, name, details)


@contextmanager
def _traced(file: Path, category: str, name: str, details: Mapping[str, Any]) -> Iterator[None]:
    started = time.monotonic_ns()
    try:
        yield
    finally:
        duration = (time.monotonic_ns() - started) / 1000
        event = _event("X", name, **details) | {"cat": category, "ts": started / 1000, "dur": duration}
        _append(file, json.dumps(event) + ",\n")


def _event(phase: str, title: str, /, **details: Any) -> dict[str, Any]:
    return {"name": title, "ph": phase, "pid": os.getpid(), "tid": threading.get_native_id(), "args": details}


def _append(file: Path, text: str) -> None:
    # In one write, so that lines of several processes stay whole.
    with open(file, "ab", buffering=0) as stream:
        stream.write(text.encode())
