"""Open files: a limit that is too low is said before anything runs, and where there are many, all of them work."""

from __future__ import annotations

import fcntl
import os
import resource
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from npu_conformance.harness.wire.framing import LineSocket, Violation, is_readable
from npu_conformance.specs.descriptor_file import write_at

_RUN = [sys.executable, "-m", "npu_conformance", "run", "vts.queries", "--plugin", "reference", "--report", "kept"]


@pytest.mark.parametrize(("soft", "hard", "code"), [(32, 32, 2), (32, 256, 0), (256, 256, 0)])
def test_a_low_limit_is_raised_or_said(soft: int, hard: int, code: int, tmp_path: Path) -> None:
    done = subprocess.run(
        _RUN,
        cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    if code:
        line = "npu-conformance: a run needs at least 64 open files, and the limit is 32 (ulimit -n)\n"
        assert done.stderr == line


def test_a_socket_beyond_those_that_select_knows_is_waited_for() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(2048, before[1]), before[1]))
    ours, theirs = socket.socketpair()
    try:
        with ours, theirs, socket.socket(fileno=fcntl.fcntl(ours, fcntl.F_DUPFD_CLOEXEC, 1500)) as far:
            assert not is_readable(far)
            theirs.sendall(b"x\n")
            assert is_readable(far)
            assert is_readable(theirs, far, seconds=60)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_what_is_written_in_parts_is_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda descriptor, data, at: written(descriptor, data[:3], at))
    path = tmp_path / "file"
    path.write_bytes(b"0123456789abc")
    with path.open("r+b") as file:
        write_at(file.fileno(), 2, b"-------")
    assert path.read_bytes() == b"01-------9abc"


def test_descriptors_that_nobody_takes_are_closed_and_end_the_connection() -> None:
    ours, theirs = socket.socketpair()
    lines = LineSocket(ours)
    for _ in range(16):
        socket.send_fds(theirs, [b"{}\n"], [0] * 16)
        lines.receive(0)
    assert len(lines.descriptors) == 256
    socket.send_fds(theirs, [b"{}\n"], [0])
    with pytest.raises(Violation, match="more than 256 descriptors that no message takes"):
        lines.receive(0)
    lines.close()
    assert not lines.descriptors
    theirs.close()


_RAISED = "from npu_conformance.harness.systems import raise_limit_of_open_files; raise_limit_of_open_files()"
_LIMITS = "import resource; print(*resource.getrlimit(resource.RLIMIT_NOFILE))"


@pytest.mark.parametrize(("soft", "hard"), [(128, 4096), (4096, 4096)])
def test_the_limit_is_raised_as_far_as_it_may_for_what_is_started_too(soft: int, hard: int) -> None:
    """A thousand pools lie in some cases; many machines allow a shell 1024 open files, and more to who asks."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"{_RAISED}; import subprocess, sys; subprocess.run([sys.executable, '-c', {_LIMITS!r}])",
        ],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["4096", "4096"]
