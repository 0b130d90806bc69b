"""Logs and traces while a run lasts, in this process and all that it starts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from npu_conformance.harness.wire import wire_log
from npu_conformance.specs.diagnostics import trace, vlog
from npu_conformance.specs.documents import DocumentError


@contextmanager
def diagnosed(
    trace_file: Path | None = None, log_file: Path | None = None, wire_file: Path | None = None
) -> Iterator[None]:
    """Trace into a file, send the lines that NPU_VLOG asks for to another, and log the wire. Raises DocumentError."""
    try:
        tags = vlog.enabled_tags()
        if log_file is not None:
            if not tags:
                raise DocumentError(
                    "--log", "", f"needs the environment variable {vlog.VARIABLE}: {' '.join(vlog.TAGS)} or all"
                )
            log_file.write_bytes(b"")
            os.environ[vlog.FILE_VARIABLE] = str(log_file.resolve())
        if trace_file is not None:
            trace.begin(trace_file)
        trace.path()  # a file that the environment names is begun, or said to be impossible, before anything runs
        if wire_file is not None:
            wire_log.begin(wire_file)
    except ValueError as error:
        raise DocumentError(vlog.VARIABLE, "", str(error).partition(": ")[2]) from None
    except OSError as error:
        raise DocumentError(str(error.filename), "", str(error.strerror)) from None
    try:
        yield
    finally:
        os.environ.pop(vlog.FILE_VARIABLE, None)
        if trace_file is not None:
            trace.end()
        if wire_file is not None:
            wire_log.end()
