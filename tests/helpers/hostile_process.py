"""The process of a harness that meets hostile kinds, in name spaces of its own where the kernel allows it."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

import hostile_harness
import msgspec
from hostile_harness import MARK, Told
from patience import SECONDS
from places import HOSTILE

_APART = 'mount -t tmpfs -o size=64m none /dev/shm && "$@"; exit $?'
"""64 MB is what Docker gives."""


def name_spaces() -> tuple[str, ...]:
    """The beginning of a command that gets processes, mounts, a network and a /dev/shm of its own; empty for none."""
    root = () if os.geteuid() == 0 else ("--map-root-user",)
    own = ("--mount", "--pid", "--net", "--ipc", "--fork", "--mount-proc", "--kill-child")
    around = ("unshare", *root, *own, "sh", "-c", _APART, "sh")
    try:
        return around if subprocess.run([*around, "true"], capture_output=True, check=False).returncode == 0 else ()
    except FileNotFoundError:
        return ()


class HarnessProcess:
    """One warm harness; a new one where a kind has killed it, or silenced it for good."""

    def __init__(self, folder: Path) -> None:
        """folder: for its temporary files, which it must not leave."""
        self._around = name_spaces()
        self._folder = folder / "temporary"
        self._folder.mkdir()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_apart(self) -> bool:
        """True where what it does hurts nobody else."""
        return bool(self._around)

    def tell(self, kind: str, seconds: float = SECONDS) -> Told:
        """Let it meet a kind. Fails where the harness dies, or is silent for so long that only a hang explains it."""
        process = self._process = self._process or self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(kind.encode() + b"\n")
        process.stdin.flush()
        told = b""
        if select.select([process.stdout], [], [], seconds)[0]:
            told = process.stdout.readline()
        if not told:
            raise AssertionError(f"{kind}: the harness died or never came back (exit code {self._give_up()})")
        return msgspec.json.decode(told, type=Told)

    def close(self) -> int:
        """End it in order; return its exit code."""
        process, self._process = self._process, None
        if process is None:
            return 0
        with process:
            assert process.stdin is not None
            process.stdin.close()
            return process.wait(SECONDS)

    def _give_up(self) -> int | None:
        """Kill it; return how it had ended, None where it had not."""
        process, self._process = self._process, None
        assert process is not None
        code = process.poll()
        process.kill()
        process.communicate()
        return code

    def _started(self) -> subprocess.Popen[bytes]:
        mark = f"{os.getpid()}-{os.urandom(4).hex()}-{'alone' if self._around else 'beside'}"
        path = os.pathsep.join((str(HOSTILE), *filter(None, sys.path)))
        environment = {**os.environ, MARK: mark, "TMPDIR": str(self._folder), "PYTHONPATH": path}
        command = [*self._around, sys.executable, hostile_harness.__file__]
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=self._folder
        )
