"""What a process wrote as it died: what was wrong, and where, as sanitizers, C libraries and languages say it.

Such reports are long, and what matters stands in their beginning: the last lines of AddressSanitizer are a legend.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator
from typing import NamedTuple

from npu_conformance.specs.diagnostics import stacks

_NEAR, _LONGEST_LINE = 400, 5000
"""Lines: what was written longer before the end, and survived, is not what the process died of. An overflow of the
stack has 256 frames. A line that is longer, in characters, belongs to no report, and what is before it neither."""
_SPEAKING = (signal.SIGABRT, signal.SIGILL, signal.SIGTRAP)
"""Signals by which a process ends itself, and can say so before; of others it dies in silence."""


class LastWords(NamedTuple):
    """A report. start: its first character in the text. kind, what: in short and in words. The rest as far as told."""

    start: int
    kind: str
    what: str
    file: str = ""
    line: str = ""
    function: str = ""

    @property
    def place(self) -> str:
        """Where it was, such as `driver.c:41 in prepare`; empty where the report does not say so."""
        where = f"{self.file}:{self.line}" if self.line else self.file
        return " in ".join(filter(None, (where, self.function)))

    @property
    def cause(self) -> str:
        """What deaths of one cause have in common: not the line, which moves. Empty where no place is known."""
        if not self.function:
            return f"{self.kind} at {self.place}" if self.place else ""
        return f"{self.kind} in {self.function}" + (f" of {self.file}" if self.file else "")


def of_death(text: str, wait_status: int) -> LastWords | None:
    """Return the report of a process that has died so; None where it died in silence, whatever it wrote before."""
    number, code = wait_status & 0x7F, wait_status >> 8
    return told(text) if number in _SPEAKING or (number == 0 and code != 0) else None


def told(text: str) -> LastWords | None:
    """Return the latest report near the end of what a process wrote; None where there is none."""
    near = _near(text)
    skipped = len(text) - len(near)
    latest = max((found for read in _READERS for found in read(near)), key=lambda found: found.start, default=None)
    return latest._replace(start=latest.start + skipped) if latest else None


def _near(text: str) -> str:
    """The last lines of a text."""
    lines = text.splitlines(keepends=True)[-_NEAR:]
    long = max((index for index, line in enumerate(lines) if len(line) > _LONGEST_LINE), default=-1)
    return "".join(lines[long + 1 :])


def telling(text: str, lines: int) -> list[str]:
    """Return so many lines that tell most: the first ones of a report, else the last ones; without empty ones."""
    found = told(text)
    shown = [line.strip() for line in text[found.start if found else 0 :].splitlines() if line.strip(" \t=\r")]
    return shown[:lines] if found else shown[-lines:]


def kept(text: str, characters: int) -> str:
    """Return so many characters of a text at most: its end, or the beginning of a report that would not be in it."""
    found = told(text)
    start = min(found.start, max(len(text) - characters, 0)) if found else max(len(text) - characters, 0)
    return text[start : start + characters]


Spot = tuple[str, str, str]
"""File, line and function, each empty where it is not told."""
NOWHERE: Spot = ("", "", "")

# ---- sanitizers

_SUMMARY = re.compile(r"^SUMMARY: (?P<tool>\w+): (?P<rest>.+)$", re.MULTILINE)
_BUILD = re.compile(r" \(BuildId: \w+\)")
_HEADER = re.compile(
    r"^(?:==\d+==(?:ERROR|WARNING): \w+: |WARNING: \w+: |\S+:\d+:\d+: runtime error: )(?P<what>.*)$", re.MULTILINE
)
_LEAK = re.compile(r"^(?:Direct|Indirect) leak of ", re.MULTILINE)
_FRAMES = re.compile(r"(?:^[ \t]+#\d+ .*\n)+", re.MULTILINE)
_FRAME = re.compile(
    r"^[ \t]+#\d+ (?:0x[0-9a-f]+ ?)?(?:in )?(?P<spot>.*?)(?: ?\((?P<module>[^()\s]+)\))?$", re.MULTILINE
)
_PLACE = re.compile(r"\(?(?P<file>[^:()]+)\)?(?::(?P<line>\d+))?(?::\d+)?")
_NUMBER = re.compile(r"\d+")
_OF_THE_SYSTEM = re.compile(
    r"(?:__|interceptor_|operator (?:new|delete)|_Unwind_|std::terminate)|"
    r"(?:malloc|calloc|realloc|free|posix_memalign|aligned_alloc|abort|raise|gsignal|pthread_\w+|(?:mem|str)\w+|"
    r"v?s?n?printf|read|write|v?f?s?scanf)$"
)
_RUNTIME = re.compile(r"libsanitizer|sanitizer_common|compiler-rt|lib[a-z]*san\.so|libclang_rt|libc\.so|libstdc\+\+")


def _sanitizers(text: str) -> Iterator[LastWords]:
    before = 0
    for summary in _SUMMARY.finditer(text):
        header = max(_HEADER.finditer(text, before, summary.start()), key=lambda found: found.start(), default=None)
        start = header.start() if header else summary.start()
        said, where = _summary(_BUILD.sub("", summary["rest"]))
        where = next(_frames_of(text[start : summary.start()]), where)
        what = f"{summary['tool']}: {said}"
        kind = _NUMBER.sub("N", what)
        yield LastWords(start, kind, header["what"] if header and said == "undefined-behavior" else what, *where)
        before = summary.end()


def _summary(rest: str) -> tuple[str, Spot]:
    """What is said, and where, of `heap-buffer-overflow driver.c:5:77 in prepare`."""
    head, _, function = rest.rpartition(" in ")
    said, _, place = (head if head else rest).strip().removesuffix(" in").rpartition(" ")
    file, line = _file(place)
    return (said, (file, line, _function(function if head else ""))) if said and file else (rest.rstrip("."), NOWHERE)


def _frames_of(report: str) -> Iterator[Spot]:
    """The frames of a report's first stack, without those that a sanitizer or the C library put in between."""
    leak = _LEAK.search(report)
    stack = _FRAMES.search(report, leak.start() if leak else 0)
    for frame in _FRAME.finditer(_BUILD.sub("", stack.group()) if stack else ""):
        if _RUNTIME.search(frame.group()):
            continue
        file, line, function = _spot(frame["spot"])
        if not _OF_THE_SYSTEM.match(function) and (function or file or frame["module"]):
            yield (file or ("" if function else _base(frame["module"]))), line, function


def _spot(words: str) -> Spot:
    """File, line and function of `function file:line:column`."""
    function, _, place = words.strip().rpartition(" ")
    file, line = _file(place)
    return (file, line, _function(function)) if file or place == "<null>" else ("", "", _function(words))


def _file(place: str) -> tuple[str, str]:
    """Name and line of `/path/file:line:column`; empty where it is no place."""
    found = _PLACE.fullmatch(place)
    is_file = found is not None and any(one in found["file"] for one in "/.")
    return (_base(found["file"]), found["line"] or "") if found and is_file else ("", "")


def _function(signature: str) -> str:
    """The name in `ns::(anonymous namespace)::name(int, char const*)`."""
    return signature.replace("(anonymous namespace)::", "").partition("(")[0].strip()


def _base(path: str) -> str:
    return path.rpartition("/")[2]


# ---- languages that say where it was

_PLACED = (
    # C: assert of glibc, musl and bionic
    re.compile(
        r"^(?:\S+: )?(?P<file>[^\s:]+):(?P<line>\d+): (?:(?P<signature>.+): )?"
        r"(?P<kind>[Aa]ssertion) (?P<what>.+) failed\.?$",
        re.MULTILINE,
    ),
    re.compile(
        r"^(?P<kind>Assertion) failed: (?P<what>.+) \((?P<file>[^\s:]+): (?P<function>\w+): (?P<line>\d+)\)$",
        re.MULTILINE,
    ),
    # UndefinedBehaviorSanitizer of gcc, which has no summary
    re.compile(r"^(?P<file>[^\s:]+):(?P<line>\d+):\d+: (?P<kind>runtime error): (?P<what>.+)$", re.MULTILINE),
    # Rust, from 1.73 on and before
    re.compile(
        r"^thread '[^'\n]*' (?:\(\d+\) )?(?P<kind>panicked) at (?P<file>[^\s:]+):(?P<line>\d+):\d+:\n(?P<what>.*)$",
        re.MULTILINE,
    ),
    re.compile(
        r"^thread '[^'\n]*' (?P<kind>panicked) at '(?P<what>.*)', (?P<file>[^\s:]+):(?P<line>\d+):\d+$", re.MULTILINE
    ),
    # Go: the stack of the goroutine that runs, behind frames of the runtime
    re.compile(
        r"^(?P<kind>panic|fatal error): (?P<what>.+)\n(?:.*\n)*?goroutine \d+ \[.*\]:\n"
        r"(?:(?:panic|runtime\S*|testing\.\S*)\(.*\n\t.*\n)*(?P<function>\S+?)\([^()\n]*\)\n\t(?P<file>\S+):(?P<line>\d+)",
        re.MULTILINE,
    ),
    # JavaScript
    re.compile(
        r"^(?:Uncaught )?(?P<kind>\w*Error)\b(?P<what>.*)\n(?:.*\n)??"
        r" {4}at (?:(?P<function>[^\n(]+) \()?(?:file://)?(?P<file>[^\s()]+):(?P<line>\d+):\d+\)?$",
        re.MULTILINE,
    ),
    # Java and Kotlin
    re.compile(
        r"^Exception in thread \".*\" (?P<kind>[\w.$]+)(?P<what>.*)\n"
        r"\tat (?P<function>[\w.$<>]+)\((?P<file>\w+\.\w+):(?P<line>\d+)\)",
        re.MULTILINE,
    ),
)
_PYTHON = re.compile(
    r"^Traceback \(most recent call last\):\n(?:[ \t].*\n)+(?P<what>(?P<kind>[\w.]+).*)$", re.MULTILINE
)
_AT = re.compile(r"(?P<file>\S+?)(?::(?P<line>\d+))? in (?P<function>.+)")


def _languages(text: str) -> Iterator[LastWords]:
    for pattern in _PLACED:
        for found in pattern.finditer(text):
            parts = found.groupdict()
            what = parts["what"].strip(" :")
            said = f"{parts['kind']}: {what}" if what else parts["kind"]
            where = (
                _base(parts["file"]),
                parts["line"],
                parts.get("function") or _function(parts.get("signature") or ""),
            )
            yield LastWords(found.start(), parts["kind"], said, *where)


def _python(text: str) -> Iterator[LastWords]:
    for found in _PYTHON.finditer(text):
        at = _AT.fullmatch(stacks.place(found.group()))
        where = (at["file"], at["line"] or "", at["function"]) if at else NOWHERE
        innermost = max(text.rfind('  File "', found.start(), found.end()), found.start())
        yield LastWords(innermost, found["kind"], found["what"], *where)


# ---- words without a place

_PLACELESS = re.compile(
    r"^(?:\*\*\* .+ \*\*\*.*|double free or corruption.*|"
    r"\w+\(\): (?:invalid|double free|corrupt|unaligned|mismatch|unsorted).*|"
    r"corrupted (?:size|double-linked).*|Fatal glibc error: .*|FORTIFY: .*|Abort message: .*|"
    r"terminate called .*(?:\n  what\(\):.*)?|libc\+\+abi: terminating .*)$",
    re.MULTILINE,
)


def _placeless(text: str) -> Iterator[LastWords]:
    for found in _PLACELESS.finditer(text):
        what = " | ".join(line.strip() for line in found.group().splitlines())
        yield LastWords(found.start(), what, what)


_READERS: tuple[Callable[[str], Iterator[LastWords]], ...] = (_sanitizers, _languages, _python, _placeless)
"""Of reports that begin at one place, the first reader's counts."""
