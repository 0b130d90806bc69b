"""The target whose inputs are single lines: each is read by the harness's end of the wire, or by a host's.

Whatever the line, an end reads it, refuses it in the ways that the wire has, or tells what the line says was raised.
All else is a mistake of this suite.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from npu_conformance.fuzz.lib import line_edits, wire_lines
from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.document_edits import smaller
from npu_conformance.fuzz.lib.document_limits import place
from npu_conformance.fuzz.lib.findings import Defect
from npu_conformance.fuzz.lib.line_ends import LINE_LIMIT, End, EndedError, HarnessEnd, HostEnd
from npu_conformance.fuzz.lib.line_judge import Due, due, is_refusal, judge_read, judge_refused, kind_name
from npu_conformance.fuzz.lib.line_seeds import HARNESS, HOST, seeds
from npu_conformance.fuzz.lib.memory_limit import MemoryLimit
from npu_conformance.harness.wire import protocol
from npu_conformance.harness.wire.decoding import UNREADABLE, message
from npu_conformance.specs.errors import InterfaceError

MOST_MEMORY = 64 << 20
"""Bytes that may be asked for while one line is read: 16 MiB of a file are the most that it can name."""
_MADE = {HARNESS: HarnessEnd, HOST: HostEnd}
_RAISED = (EndedError, InterfaceError, protocol.MemoryUnreachableError, protocol.RemoteError)
"""What an end may raise: the connection has ended, or what the line says that the other side has raised."""
_QUOTED = re.compile(r"""['"]|(?<=no method )""")
_PARTICULAR = re.compile(r"`[^`]*`|\$\S*|-?\d+")
_SHOWN = 60


class LineTarget:
    """Inputs are lines, each with the end that reads it. See Target."""

    name = "lines"

    def __init__(self) -> None:
        self.seeds: Sequence[bytes] = seeds()
        self._ends: dict[str, End] = {}
        self._limit = MemoryLimit(MOST_MEMORY)

    def mutate(self, data: bytes, choices: Choices, max_size: int) -> bytes:
        """Change the line, or let another end read it that awaits something else."""
        head, _, line = data.partition(b"\n")
        if choices.below(32) == 31:
            head = choices.pick(self.seeds).partition(b"\n")[0]
        else:
            line = line_edits.mutated(line, choices)
        return (head + b"\n" + line)[:max_size]

    def run(self, data: bytes) -> tuple[str, ...]:
        """Let an end read the line, and judge what comes of it. Raises Defect, of what fails at fresh ends too."""
        head, _, rest = data.partition(b"\n")
        name, _, awaited = head.decode(errors="replace").partition(" ")
        line = rest.replace(b"\n", b" ")
        if name not in _MADE or wire_lines.is_greedy(line):
            return ()
        was_fresh = name not in self._ends
        try:
            return self._read(name, line, awaited)
        except Exception:
            self._renew(name)
            if was_fresh:
                raise
            return self._read(name, line, awaited)

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """The same end with a part of the line, then with a plainer one."""
        head, _, line = data.partition(b"\n")
        yield from (b"%s\n%s" % (head, piece) for piece in smaller(line))

    def readable(self, data: bytes) -> bytes:
        """The input as it is: text already."""
        return data

    def forget(self) -> None:
        """There is no subject."""

    def _read(self, name: str, line: bytes, awaited: str) -> tuple[str, ...]:
        end = self._ends.get(name) or self._ends.setdefault(name, _MADE[name]())
        wanted = due(end, line, awaited)
        outcome = self._outcome(end, line, awaited, wanted)
        lasts = end.broken is not None and len(line) > LINE_LIMIT
        if lasts or any(kind.__module__ == protocol.__name__ for kind, _ in end.read.values if isinstance(kind, type)):
            self._renew(name)
        return (f"{name}: {outcome}",)

    def _outcome(self, end: End, line: bytes, awaited: str, wanted: Due | None) -> str:
        try:
            with self._limit:
                sent = end.take(line, awaited)
        except _RAISED as ended:
            if not end.read.values:
                judge_refused(wanted, line, str(ended))
            judge_read(end, line, awaited, wanted, [*end.read.values])
            return f"{type(ended).__name__} {_general(str(ended))}"
        except MemoryError as error:
            raise Defect(f"more than {MOST_MEMORY >> 20} MiB for one line", f"memory in {place(error)}") from None
        except Exception as error:
            where = f"{type(error).__name__} in {place(error)}"
            raise Defect(f"{where}: {error!s:.300}", where) from error
        return self._answered(end, line, awaited, wanted, sent)

    def _answered(self, end: End, line: bytes, awaited: str, wanted: Due | None, sent: bytes) -> str:
        """Judge a line behind which the connection lives on: the value that was read, and what was answered."""
        found = [*end.read.values]
        judge_read(end, line, awaited, wanted, found)
        errors = [one.error for one in map(_told, sent.split(b"\n")[:-1]) if one.error is not None]
        if any(error.code == protocol.INTERNAL_ERROR for error in errors):
            raise Defect(f"an exception that nobody planned: {errors[0].message:.300}", "an internal error")
        if not found or any(map(is_refusal, errors)):
            judge_refused(wanted, line, errors[0].message if errors else "nothing was read")
        return _general(errors[0].message) if errors else f"read {kind_name(found[-1][0])}" if found else "nothing"

    def _renew(self, name: str) -> None:
        end = self._ends.pop(name, None)
        if end is not None:
            end.let_go()


def _told(line: bytes) -> protocol.Envelope:
    """A line that an end sends. Raises Defect where it is none."""
    try:
        return message(line)
    except UNREADABLE as error:
        raise Defect(f"an end sends what is no message: {error}", "sent") from None


def _general(words: str) -> str:
    """What is said, without what is particular to one line."""
    return _PARTICULAR.sub("", _QUOTED.split(words, maxsplit=1)[0])[:_SHOWN]
