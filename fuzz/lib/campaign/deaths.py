"""How the process of a round died, as a finding: by which signal, in which function, with which last words."""

from __future__ import annotations

from pathlib import Path

from npu_conformance.fuzz.lib.campaign.documents import Sighting
from npu_conformance.fuzz.lib.ending import Ending
from npu_conformance.fuzz.lib.findings import Kind
from npu_conformance.fuzz.lib.worker import STACK
from npu_conformance.specs.diagnostics import last_words, stacks
from npu_conformance.specs.diagnostics.one_line import one_line
from npu_conformance.specs.diagnostics.signal_name import signal_name

OUTPUT, DEATH = "output", "death.json"
"""Files of a round's folder."""
_SHOWN_LINES = 3
_OF_ENGINES = ("INFO:", "#", "==", "NEW_FUNC", "WARNING: Failed to find function")
"""How lines begin that libFuzzer writes of itself."""
_OUT_OF_MEMORY = b"libFuzzer: out-of-memory"
"""Said by libFuzzer as it ends a process for its memory."""


def sighting(folder: Path, returncode: int, data: bytes, execution: int, hanging_seconds: float) -> Sighting:
    """The finding: a hang where `hanging_seconds` passed without an end, else what the exit status says."""
    kind: Kind = "crash"
    if hanging_seconds:
        kind, message = "hang", f"no end within {hanging_seconds:g} s (killed)"
        where = f"no end{_place(folder)}"
    elif returncode == Ending.OUT_OF_MEMORY and _OUT_OF_MEMORY in (folder / OUTPUT).read_bytes():
        kind, message, where = "memory", "the process took more memory than the limit", "the process"
    else:
        how = _manner(returncode)
        said = last_words.of_death(_output(folder), -returncode if returncode < 0 else returncode << 8)
        words = one_line(said.what) if said else printed_last(folder)
        at = f" at {said.place}" if said and said.place else ""
        message = f"the process ended with {how}{at}" + (f"; last words: {words}" if words else "")
        where = (said.cause if said else "") or f"{how}{_place(folder)}"
    return Sighting(kind=kind, where=one_line(where), message=one_line(message), data=data, execution=execution)


def at_start(plugin: str, returncode: int) -> str:
    """A process that ended before its first input, and without a word."""
    return f"plug-in {plugin}: the fuzzer's process ended with {_manner(returncode)} while it was loaded"


def _manner(returncode: int) -> str:
    return signal_name(-returncode) if returncode < 0 else f"status {returncode}"


def _place(folder: Path) -> str:
    """The innermost function of the plug-in's own files in Python, where the stack could be written."""
    path = folder / STACK
    found = stacks.function(path.read_text(errors="replace")) if path.exists() else ""
    return f" in {found}" if found else ""


def _output(folder: Path) -> str:
    return (folder / OUTPUT).read_text(errors="replace")


def printed_last(folder: Path) -> str:
    """The end of what the process printed, without what libFuzzer says of itself, as one line."""
    lines = (line.strip() for line in _output(folder).splitlines())
    shown = [line for line in lines if line and not line.startswith(_OF_ENGINES)]
    return one_line(" | ".join(shown[-_SHOWN_LINES:]))
