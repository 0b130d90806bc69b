"""Where a Python implementation was: tracebacks of its exceptions, and the stacks that faulthandler writes when it dies.

What comes from an implementation is text of a stranger: it is shortened, and its control characters are escaped.
"""

from __future__ import annotations

import re
import traceback
from types import TracebackType

LIMIT = 1 << 13
"""Characters that are kept of a traceback: its end."""

_HARNESS = "npu_conformance.harness."
_FRAME = re.compile(r'^ *File "([^"\n]*)", line (\d+),? in (\S+)', re.MULTILINE)
_FAULT = re.compile(r"^(?:Fatal Python error: .*|(?:Current thread|Thread) 0x[0-9a-f]+\b.*)$", re.MULTILINE)
_CURRENT = re.compile(r"^Current thread 0x[0-9a-f]+\b.*$", re.MULTILINE)
_MODULES = re.compile(r"^Extension modules: .*\n?", re.MULTILINE)


def printable(text: str) -> str:
    """Return the text with everything but newlines and tabs escaped that a terminal would obey or hide."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in "\n\t" else repr(one)[1:-1] for one in text)


def of_exception(error: BaseException) -> str:
    """Return the traceback of an exception, without the frames of the harness that lead to the implementation."""
    written = traceback.TracebackException(type(error), error, _beyond_harness(error.__traceback__))
    return bounded("".join(written.format()))


def bounded(text: str) -> str:
    """Return the end of a text, at most LIMIT characters, printable."""
    shown = printable(text)
    return shown if len(shown) <= LIMIT else f"...\n{shown[-LIMIT:]}"


def place(stack: str) -> str:
    """Return the innermost frame of a traceback or of faulthandler's stack, such as `driver.py:41 in prepare_model`.

    It is empty where the text names none.
    """
    current = _CURRENT.search(stack) or _FAULT.search(stack)
    frames = list(_FRAME.finditer(stack, current.end() if current else 0))
    if not frames:
        return ""
    # faulthandler begins with the innermost frame, a traceback ends with it.
    file, line, function = frames[0 if current else -1].groups()
    return f"{file.rpartition('/')[2]}:{line} in {function}"


def split(stderr: str) -> tuple[str, str]:
    """Split what a process wrote before it died into its own words and the stack that faulthandler added, if any."""
    fault = _FAULT.search(stderr)
    if fault is None:
        return stderr, ""
    return stderr[: fault.start()], _MODULES.sub("", stderr[fault.start() :]).strip("\n") + "\n"


def _beyond_harness(frames: TracebackType | None) -> TracebackType | None:
    """Return the frames from the first one that is not the harness's; all of them where there is no other."""
    found = frames
    while found is not None and found.tb_frame.f_globals.get("__name__", "").startswith(_HARNESS):
        found = found.tb_next
    return found or frames
