"""Logs and traces while a command runs, in this process and all that it starts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from npu_conformance.cli.errors import UsageError
from npu_conformance.specs.diagnostics import trace, vlog


@contextmanager
def diagnosed(trace_file: Path | None, log_file: Path | None) -> Iterator[None]:
    """Trace into a file, and send the lines that NPU_VLOG asks for to another. Raises UsageError."""
    try:
        tags = vlog.enabled_tags()
        if log_file is not None:
            if not tags:
                raise UsageError(f"--log needs the environment variable {vlog.VARIABLE}: {' '.join(vlog.TAGS)} or all")
            log_file.write_bytes(b"")
            os.environ[vlog.FILE_VARIABLE] = str(log_file.resolve())
        if trace_file is not None:
            trace.begin(trace_file)
    except ValueError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}") from None
    try:
        yield
    finally:
        os.environ.pop(vlog.FILE_VARIABLE, None)
        trace.end()
