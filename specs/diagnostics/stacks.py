"""Where a Python implementation was: tracebacks of its exceptions, and what faulthandler writes when it dies.

What comes from an implementation is text of a stranger: it is shortened, and its control characters are escaped.
"""

from __future__ import annotations

import re
import sys
import threading
import traceback
from pathlib import PurePath
from types import FrameType, TracebackType

LIMIT = 1 << 13
"""Characters that are kept of a traceback: its end."""

_HARNESS = "npu_conformance.harness."
_CALLERS = re.compile(r"npu_conformance/(?:harness|fuzz)/|^<string>$")
_LIBRARY = re.compile(r"^<frozen |/lib/python3\.\d+/(?!site-packages/|dist-packages/)")
_SHARED = re.compile(r"\.so(\.\d+)*$")
"""A shared library: its frame stands for a function of C, of which no line is known."""
_FRAME = re.compile(r'^ *File "([^"\n]*)", line (\d+),? in (\S+)(?:\n    ([^\s^~].*))?', re.MULTILINE)
_INSTALLED = re.compile(r"/(?:site|dist)-packages/([^/.]+)")
"""A package that pip has installed."""
_SUITE = "/npu_conformance/"
_LONGEST_SOURCE = 80
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
    shown = printable(text[-LIMIT:])
    return shown if len(text) <= LIMIT and len(shown) <= LIMIT else f"...\n{shown[-LIMIT:]}"


def place(stack: str) -> str:
    """Return where a traceback or faulthandler's stack points to, such as `driver.py:41 in prepare_model`.

    It is the innermost frame outside of Python's own library, if there is one; empty where the text names no frame.
    """
    found = _frames(stack)
    outside = [_written(frame) for frame in found if not _LIBRARY.search(frame[0])]
    return next(iter([*outside, *map(_written, found)]), "")


def cause(stack: str) -> str:
    """Return what two tracebacks of one cause have in common, such as `driver.py in compute: raise ValueError(name)`.

    It is the innermost frame of the implementation itself, not of what it has imported, with its line of source where
    that is told: unlike the line's number it stays when something else of the file is edited. Empty without a frame.
    """
    own = _own(_frames(stack))
    if not own:
        return ""
    file, _, function, source = own[0]
    return f"{file.rpartition('/')[2]} in {function}" + (f": {source.strip()[:_LONGEST_SOURCE]}" if source else "")


def function(stack: str) -> str:
    """Return the function of `cause`, such as `driver.compute` of driver.py; empty where the text names no frame."""
    own = _own(_frames(stack))
    return f"{PurePath(own[0][0]).stem}.{own[0][2]}" if own else ""


def _own(found: list[tuple[str, str, str, str]]) -> list[tuple[str, str, str, str]]:
    """The frames of the implementation itself; all of them where each is of Python's own library.

    It is in no installed package, or in that of the outermost frame: the suite's own adapters, which may be installed
    as well, say nothing of where a driver is.
    """
    outside = [frame for frame in found if not _LIBRARY.search(frame[0])] or found
    beyond = [frame for frame in outside if _SUITE not in frame[0]] or outside
    return [frame for frame in outside if _installed(frame[0]) in ("", _installed(beyond[-1][0]))]


def _installed(file: str) -> str:
    """The installed package that a file belongs to; empty for any other file, and for those of this suite."""
    found = _INSTALLED.search(file)
    return found[1] if found and _SUITE not in file else ""


def frames(stack: str) -> list[str]:
    """Return the frames of a traceback, or of the thread that ran in faulthandler's stack, the innermost first.

    Those of the harness, which called the implementation, are left out.
    """
    return [_written(frame) for frame in _frames(stack)]


def _frames(stack: str) -> list[tuple[str, str, str, str]]:
    """File, line, function and source of each frame, the innermost first."""
    current = _CURRENT.search(stack) or _FAULT.search(stack)
    text = stack[current.end() :].partition("\n\n")[0] if current else stack
    found = [frame for frame in _FRAME.findall(text) if not _CALLERS.search(frame[0])]
    return found if current else found[::-1]


def _written(frame: tuple[str, str, str, str]) -> str:
    file, line, function, _ = frame
    name = file.rpartition("/")[2]
    return f"{name} in {function}" if _SHARED.search(name) else f"{name}:{line} in {function}"


def of_thread(thread: threading.Thread) -> str:
    """Return where a thread is, and behind it where all others are, as faulthandler writes it."""
    now = sys._current_frames()
    numbers = [thread.ident, *(number for number in now if number != thread.ident)]
    return "\n".join(_of_frame(number, now[number]) for number in numbers if number in now)


def _of_frame(number: int | None, frame: FrameType) -> str:
    innermost_first = traceback.extract_stack(frame)[::-1]
    lines = [f'  File "{one.filename}", line {one.lineno} in {one.name}' for one in innermost_first]
    return "\n".join([f"Thread 0x{number or 0:016x} (most recent call first):", *lines, ""])


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
