"""Open files: a limit that is too low is said before anything runs, and where there are many, all of them work."""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from npu_conformance.harness.subject import supervisor
from npu_conformance.harness.subject.zygote import Load, Loaded
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


@pytest.fixture
def sink() -> Iterator[socket.socket]:
    """Listens at 127.0.0.1; nobody reads what comes."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


def _lingering(sink: socket.socket) -> tuple[socket.socket, socket.socket]:
    """A connection with more to send than its other end takes, whose last close waits for 30000 s; that other end."""
    ours = socket.create_connection(sink.getsockname())
    theirs, _ = sink.accept()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 30000))
    ours.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            ours.send(bytes(1 << 16))
    return ours, theirs


def _returns(call: Callable[[], object]) -> bool:
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(20)
    return not thread.is_alive()


def _is_reset(far: socket.socket) -> bool:
    """Whether the other end is closed and has dropped what was unsent, which is waited for."""
    far.settimeout(20)
    try:
        while far.recv(1 << 20):
            pass
    except ConnectionResetError:
        return True
    return False


def test_a_descriptor_that_nobody_takes_is_closed_without_waiting_as_long_as_its_owner_likes(
    sink: socket.socket,
) -> None:
    ours, theirs = socket.socketpair()
    lines = LineSocket(ours)
    lingering, far = _lingering(sink)
    with theirs, far:
        socket.send_fds(theirs, [b"{}\n"], [lingering.fileno(), 0])
        lingering.close()
        lines.receive(0)
        assert _returns(lines.close)
        assert _is_reset(far)


def test_a_connection_in_which_such_a_descriptor_lies_unread_is_closed_at_once(sink: socket.socket) -> None:
    ours, theirs = socket.socketpair()
    lines = LineSocket(ours)
    lingering, far = _lingering(sink)
    with theirs, far:
        socket.send_fds(theirs, [b"{}\n"], [lingering.fileno()])
        lingering.close()
        assert _returns(lines.close)


def test_the_kernel_closes_none_of_the_descriptors_of_a_message() -> None:
    """It would close those for which there is no room, and wait for it."""
    ours, theirs = socket.socketpair()
    lines = LineSocket(ours)
    with theirs:
        socket.send_fds(theirs, [b"{}\n"], [0] * 253)
        lines.receive(0)
        assert len(lines.descriptors) == 253
        lines.close()


def test_a_descriptor_in_the_name_of_the_process_that_imports_plugins_does_not_hold_up_the_harness(
    sink: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends: list[socket.socket] = []

    def spawned(control: int, output: int) -> int:
        ends.append(socket.socket(fileno=os.dup(control)))
        return os.posix_spawnp("sleep", ["sleep", "600"], os.environ)

    monkeypatch.setattr(supervisor, "_spawn", spawned)
    supervised = supervisor.Supervisor(Load("reference", (), {}, None, "", ()))
    lingering, far = _lingering(sink)
    with ends[0] as zygote, far:
        socket.send_fds(zygote, [msgspec.json.encode(Loaded())], [lingering.fileno()])
        lingering.close()
        assert _returns(supervised.has_ended)
        assert _is_reset(far)
        assert _returns(supervised.close)


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
