"""Standard streams that are closed, or that lead to a full disk."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys

_AS_BYTES = "npu-conformance-as-bytes"


def open_closed_streams() -> None:
    """Give streams that our caller has closed (`>&-`) a place: nowhere. Files would get their numbers otherwise."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def write_every_text() -> None:
    """Let standard output take what its encoding has no place for: a path that is no text is shown byte by byte."""
    codecs.register_error(_AS_BYTES, _as_bytes)
    if isinstance(sys.stdout, io.TextIOWrapper):
        with contextlib.suppress(OSError):  # it was a file once, and leads to a pipe now
            sys.stdout.reconfigure(errors=_AS_BYTES)


def _as_bytes(error: UnicodeError) -> tuple[str | bytes, int]:
    assert isinstance(error, UnicodeEncodeError)
    try:
        return error.object[error.start : error.end].encode(errors="surrogateescape"), error.end
    except UnicodeEncodeError:  # half a character, which came from no path
        return codecs.backslashreplace_errors(error)


def unwritable(error: Exception) -> str:
    """Return the line for an error that says that something cannot be written; empty for every other error."""
    from npu_conformance.harness.judge.verdicts import NoSharedMemory
    from npu_conformance.harness.report.console import abandon
    from npu_conformance.harness.report.writing import UnwritableError, is_of_the_machine

    if isinstance(error, UnwritableError | NoSharedMemory):
        return str(error)
    if not isinstance(error, OSError) or not is_of_the_machine(error):
        return ""
    if not _can_be_flushed():
        abandon(sys.stdout)
    return f"{error.filename or 'the output'}: cannot be written: {error.strerror}"


def tell(line: str) -> None:
    """Print lines for people; where even that cannot be written, the exit code has to do."""
    try:
        print(line, file=sys.stderr)
    except OSError:
        from npu_conformance.harness.report.console import abandon

        abandon(sys.stderr)


def _can_be_flushed() -> bool:
    try:
        sys.stdout.flush()
    except OSError:
        return False
    return True
