"""Logs and traces while a run lasts, in this process and all that it starts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from npu_conformance.harness.wire import wire_log
from npu_conformance.specs.diagnostics import trace, vlog
from npu_conformance.specs.documents import DocumentError


@contextmanager
def diagnosed(
    trace_file: Path | None = None, log_file: Path | None = None, wire_file: Path | None = None
) -> Iterator[None]:
    """Trace into a file, send the lines that NPU_VLOG asks for to another, and log the wire.

    Raises DocumentError where one of them cannot begin; the others have ended then, as they do behind the run.
    """
    tags = _tags()
    with ExitStack() as begun:
        if log_file is not None:
            _begin_log(log_file, tags)
            begun.callback(os.environ.pop, vlog.FILE_VARIABLE, None)
        if trace_file is not None:
            with _named(trace_file):
                trace.begin(trace_file)
            begun.callback(trace.end)
        with _named(Path(os.environ.get(trace.VARIABLE, ""))):
            trace.path()  # a file that the environment names is begun, or said to be impossible, before anything runs
        if wire_file is not None:
            with _named(wire_file):
                wire_log.begin(wire_file)
            begun.callback(wire_log.end)
        yield


def _tags() -> frozenset[str]:
    try:
        return vlog.enabled_tags()
    except ValueError as error:
        raise DocumentError(vlog.VARIABLE, "", str(error).partition(": ")[2]) from None


def _begin_log(file: Path, tags: frozenset[str]) -> None:
    if not tags:
        raise DocumentError(
            "--log", "", f"needs the environment variable {vlog.VARIABLE}: {' '.join(vlog.TAGS)} or all"
        )
    with _named(file):
        file.write_bytes(b"")
    os.environ[vlog.FILE_VARIABLE] = str(file.resolve())


@contextmanager
def _named(file: Path) -> Iterator[None]:
    """Say of which file it is that it cannot be written, or that its name is impossible."""
    try:
        yield
    except OSError as error:
        raise DocumentError(str(file), "", error.strerror or str(error)) from None
    except ValueError as error:
        raise DocumentError(str(file), "", str(error)) from None
