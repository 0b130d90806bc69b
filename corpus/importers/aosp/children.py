"""The parent's end of the confined children: a file goes in, its tests or one problem come out."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import msgspec

SUFFIX = ".mod.py"
_VERSION = re.compile(r"V\d_\d|AIDL_V\d")


@dataclass(frozen=True)
class Limits:
    """How much one file may use. seconds: of processor time. memory, output: bytes.

    asleep_seconds: in which it waits instead of computing; a specification has nothing to wait for.
    """

    seconds: int = 60
    memory: int = 4 << 30
    output: int = 1 << 29
    asleep_seconds: int = 5


@dataclass(frozen=True)
class Problem:
    """Why a file gave no tests. Reads `file:line: what`; the line is 1 where it is not known."""

    path: Path
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"


@dataclass(frozen=True)
class Loaded:
    """What became of a file: its tests, each one line of a JSON collection, or a problem."""

    path: Path
    lines: list[bytes] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    problem: Problem | None = None


class _Answer(msgspec.Struct):
    size: int
    ended: str


class _Test(msgspec.Struct):
    name: str


class _Line(msgspec.Struct):
    test: msgspec.Raw = msgspec.Raw()
    line: int = 1
    problem: str | None = None


class _About(msgspec.Struct):
    spec_file: str
    spec_dir: str


class Child:
    """One confined child, started when it is needed and again after it died. To be closed."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None

    def load(self, path: Path) -> Loaded:
        """Run a file and return its tests."""
        process = self._running()
        limits = self._limits
        request = {
            "path": str(path.absolute()),
            "name": path.name.partition(".")[0],
            "version": version_of(path),
            "seconds": limits.seconds,
            "asleep_seconds": limits.asleep_seconds,
            "memory": limits.memory,
            "output": limits.output,
        }
        try:
            answer, content = _ask(process, request)
        except (OSError, msgspec.DecodeError, EOFError) as error:
            self.close()
            return Loaded(path, problem=Problem(path, 1, f"the confined child died: {error}"))
        return _loaded(path, answer, content)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None:
            self._process = _start()
        return self._process

    def close(self) -> None:
        """End the child."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def version_of(path: Path) -> str | None:
    """The version that a file's directory is named after, the nearest one (`V1_3_cts_only`), or None."""
    return next((folder.name for folder in path.absolute().parents if _VERSION.fullmatch(folder.name)), None)


def _start() -> subprocess.Popen[bytes]:
    """A fresh interpreter without site, environment and working directory of ours."""
    package = Path(sys.modules["npu_conformance"].__path__[0]).parent
    numpy = importlib.util.find_spec("numpy")
    if numpy is None or numpy.origin is None:
        raise ModuleNotFoundError("numpy is needed to read specifications")
    folders = [str(package), str(Path(numpy.origin).parent.parent)]
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-B", "-W", "ignore", str(Path(__file__).parent / "confined.py"), *folders],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
        env={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PATH": os.defpath},
    )


def _ask(process: subprocess.Popen[bytes], request: Mapping[str, object]) -> tuple[_Answer, bytes]:
    to_child, from_child = _pipes(process)
    to_child.write(json.dumps(request).encode() + b"\n")
    to_child.flush()
    head = from_child.readline()
    if not head:
        raise EOFError("no answer")
    answer = msgspec.json.decode(head, type=_Answer)
    content = from_child.read(answer.size)
    if len(content) != answer.size:
        raise EOFError("half an answer")
    return answer, content


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    if process.stdin is None or process.stdout is None:
        raise EOFError("no pipe")
    return process.stdin, process.stdout


def _loaded(path: Path, answer: _Answer, content: bytes) -> Loaded:
    if answer.ended:
        return Loaded(path, problem=Problem(path, 1, answer.ended))
    about = _About(f"{path.absolute().parent.name}/{path.name}", path.absolute().parent.name)
    opening = msgspec.json.encode(about)[:-1] + b","
    lines, names = [], []
    try:
        for text in content.splitlines():
            said = msgspec.json.decode(text, type=_Line)
            if said.problem is not None:
                return Loaded(path, problem=Problem(path, said.line, said.problem))
            if bytes(said.test):
                names.append(msgspec.json.decode(said.test, type=_Test).name)
                lines.append(opening + bytes(said.test)[1:])
    except msgspec.DecodeError as error:  # only a file that meddles with its process gets here
        return Loaded(path, problem=Problem(path, 1, f"wrote into the answer: {error}"))
    return Loaded(path, lines, names)
