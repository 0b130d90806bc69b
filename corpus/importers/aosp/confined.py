"""The child that runs specification files: started by children.py as a script, never imported.

It reads requests, JSON lines, from standard input. For each it forks a process that confines itself, runs the file and
prints its tests; so that no file sees another one, and what one does to its process ends with it. The answer to a
request is a line `{"size": bytes, "ended": reason}` and so many bytes: JSON lines, tests first, then what was wrong.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from npu_conformance.corpus.importers.aosp.expansion import ExampleError

_CHUNK = 1 << 20
_LOOK_SECONDS = 0.1


def main() -> None:
    """Answer requests until there are no more. Arguments: folders to import from."""
    sys.path += sys.argv[1:]
    from npu_conformance.corpus.importers.aosp import confinement, expansion, language, numbers, system_calls  # noqa: F401 -- before any fork

    confinement.load_ahead()
    for line in sys.stdin.buffer:
        ended, content = _answer(json.loads(line))
        sys.stdout.buffer.write(json.dumps({"size": len(content), "ended": ended}).encode() + b"\n" + content)
        sys.stdout.buffer.flush()


def _answer(request: dict[str, Any]) -> tuple[str, bytes]:
    """Fork, collect what the process says, and tell how it ended: empty where it came to its end.

    Not by specs.forked: the process closes all else, and its time is that of the processor, with waiting limited apart.
    """
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        _become(request, sink)
    os.close(sink)
    try:
        why, content = _collect(source, child, request)
    finally:
        os.close(source)
        os.kill(child, signal.SIGKILL)  # it is ours until waitpid, ended or not
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if why or content.endswith(b'{"end": true}\n'):
        return why, content
    from npu_conformance.specs.diagnostics.signal_name import how_it_ended  # the path is known only now

    return f"the process that ran the file ended before its time: it {how_it_ended(code)}", content


def _collect(source: int, child: int, request: dict[str, Any]) -> tuple[str, bytes]:
    """Read until the end, a flood, or too much waiting: processor time is limited by the process itself."""
    parts: list[bytes] = []
    size, asleep = 0, 0.0
    while asleep < request["asleep_seconds"]:
        if not select.select([source], [], [], _LOOK_SECONDS)[0]:
            asleep += _LOOK_SECONDS * _sleeps(child)
            continue
        part = os.read(source, _CHUNK)
        if not part:
            return "", b"".join(parts)
        parts.append(part)
        size += len(part)
        if size > request["output"]:
            return f"its tests take more than {request['output']} bytes", b""
    return f"waited for {request['asleep_seconds']} seconds instead of computing", b""


def _sleeps(process: int) -> bool:
    """True where a process waits for something; one that only waits for a busy processor can run."""
    with open(f"/proc/{process}/stat", "rb") as file:
        return file.read().rpartition(b") ")[2][:1] == b"S"


def _become(request: dict[str, Any], sink: int) -> NoReturn:
    """Turn this process into the one that runs the file. Only the way to the parent stays open."""
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nothing, standard)
        os.closerange(3, sink)
        os.closerange(sink + 1, max(sink, nothing) + 16)
        with os.fdopen(sink, "wb") as answers:
            _run(request, answers)
    finally:
        os._exit(1)  # whatever happened: only the end of the answer says that it is whole


def _run(request: dict[str, Any], answers: Any) -> None:
    from npu_conformance.corpus.importers.aosp import confinement, examples, expansion, language, naming, system_calls

    def tell(document: dict[str, Any]) -> None:
        answers.write(json.dumps(document).encode() + b"\n")

    try:
        words = {**language.namespace(), "__builtins__": confinement.scope(), "__name__": "__main__"}
        specification = naming.begin(request["name"], request["version"])
        with open(request["path"], "rb") as file:
            confinement.limit(request["seconds"], request["memory"])
            text = file.read()
        system_calls.confine()
        confinement.watch()
        exec(compile(text, examples.SPECIFICATION, "exec", dont_inherit=True), words)
        for test in expansion.tests(specification):
            tell({"test": test})
    except expansion.ExampleError as error:
        tell({"line": _line_of(error), "problem": _describe(error.problem)})
    except BaseException as error:  # whatever the file raised is to be reported
        tell({"line": _line(error), "problem": _describe(error)})
    tell({"end": True})


def _line_of(error: ExampleError) -> int:
    return _line(error.problem, error.line)


def _line(error: BaseException, otherwise: int = 1) -> int:
    """The innermost line of the file that the error passed through."""
    from npu_conformance.corpus.importers.aosp.examples import SPECIFICATION

    if isinstance(error, SyntaxError) and error.filename == SPECIFICATION:
        return error.lineno or otherwise
    found, trace = otherwise, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == SPECIFICATION:
            found = trace.tb_lineno
        trace = trace.tb_next
    return found


def _describe(error: BaseException) -> str:
    from npu_conformance.corpus.importers.aosp.confinement import OvertimeError

    if isinstance(error, OvertimeError):
        return "used up its processor time"
    if isinstance(error, MemoryError):
        return "used up its memory"
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {' '.join(text.split())[:300]}".rstrip(": ")


if __name__ == "__main__":
    main()
