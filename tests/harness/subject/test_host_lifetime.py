"""Nothing is left behind: processes, sockets, shared memory; however the harness ends."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
from patience import SECONDS, eventually
from places import HOSTILE

from npu_conformance.harness.judge.verdicts import Crashed, Failed, Hung
from npu_conformance.harness.subject import supervisor
from npu_conformance.harness.subject.loading import LoadError, open_subject
from npu_conformance.harness.subject.private_directory import PrivateDirectory, sweep
from npu_conformance.harness.subject.private_files import remove_directory
from npu_conformance.harness.subject.remote import RemoteSubject

PLUGINS = HOSTILE
_PTRACE_SEIZE = 0x4206

HARNESS = """
import os, sys
sys.path.insert(0, sys.argv[1])
from npu_conformance.harness.subject.loading import open_subject
subject = open_subject("echo_plugin:plugin")
pool = subject.memory.create("ashmem", 4096)
application = subject.application(10001)
host = subject.interfaces.device.get_version_string().split()[2]
print(host, os.path.dirname(subject._endpoint.store.directory + "/x"), flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def plugin_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PLUGINS))


def test_kill_of_the_harness_leaves_nothing() -> None:
    command = [sys.executable, "-c", HARNESS, str(PLUGINS)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as harness:
        assert harness.stdout is not None
        host, directory = harness.stdout.readline().split()
        assert len(os.listdir(directory)) == 3  # two files of shared memory, the applications' socket
        zygote = _parent(host)
        harness.send_signal(signal.SIGKILL)
        harness.wait(SECONDS)
    eventually(lambda: not _runs(host) and not _runs(zygote))
    eventually(lambda: not os.path.exists(directory))


@pytest.mark.parametrize(("plugin", "kind"), [("stopping", Hung), ("signalling", Crashed)])
def test_a_zygote_that_a_host_stops_or_kills_is_replaced(
    plugin: str, kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "_LIMIT_SECONDS", 1.0)
    subject = open_subject(f"dying_plugins:{plugin}")
    try:
        assert subject.interfaces.device is not None
        with pytest.raises(kind):
            subject.interfaces.device.get_type()
        subject.restart()
        assert subject.interfaces.device.get_version_string() == "fine"
    finally:
        subject.close()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda zygote: resource.prlimit(zygote, resource.RLIMIT_AS, (1 << 20, 1 << 20)),
        lambda zygote: os.setpriority(os.PRIO_PROCESS, zygote, os.getpriority(os.PRIO_PROCESS, zygote) + 1),
        pytest.param(
            lambda zygote: os.sched_setaffinity(zygote, list(os.sched_getaffinity(zygote))[:1]),
            marks=pytest.mark.skipif(len(os.sched_getaffinity(0)) == 1, reason="one processor is all that there is"),
        ),
        lambda zygote: os.sched_setscheduler(zygote, os.SCHED_BATCH, os.sched_param(0)),
    ],
    ids=["limit", "priority", "processors", "scheduler"],
)
def test_what_a_host_does_to_the_zygote_the_next_host_does_not_inherit(spoil: Callable[[int], object]) -> None:
    subject = open_subject("echo_plugin:plugin")
    try:
        zygote = int(_parent(str(subject.process())))
        spoil(zygote)
        subject.restart()
        assert int(_parent(str(subject.process()))) != zygote
        subject.restart()
        assert subject.alive()
    finally:
        subject.close()


def test_kill_of_the_zygote_kills_the_host() -> None:
    subject = open_subject("echo_plugin:plugin")
    assert isinstance(subject, RemoteSubject)
    device = subject.interfaces.device
    assert device is not None
    host = device.get_version_string().split()[2]
    pool = subject.memory.create("ashmem", 100)
    os.kill(int(_parent(host)), signal.SIGKILL)
    eventually(lambda: not _runs(host))
    with pytest.raises(Crashed, match="the process that imports the plug-in has died"):
        device.get_type()
    assert not subject.alive()
    subject.restart()
    assert subject.alive()
    for _ in range(2):
        subject.memory.create("ashmem", 100).close()
        subject.ping()
    subject.close()
    pool.close()


def test_an_import_that_ends_the_process_says_how_and_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "aborting_driver.py").write_text("import os\nos.abort()\n")
    monkeypatch.syspath_prepend(tmp_path)
    told = r"it was killed by SIGABRT at aborting_driver\.py:2 in <module>"
    with pytest.raises(LoadError, match=rf"^plug-in [\w:]+: (initialize: )?the process [\w -]+ has died: {told}"):
        open_subject("aborting_driver:plugin")


def test_close_leaves_nothing() -> None:
    before = set(os.listdir("/proc/self/fd"))
    subject = open_subject("echo_plugin:plugin")
    assert isinstance(subject, RemoteSubject)
    directory = subject._endpoint.store.directory
    for _ in range(3):
        subject.memory.create("ashmem", 1 << 20)
        subject.restart()
    subject.close()
    assert not os.path.exists(directory)
    # Pools that a case has not closed keep a descriptor each until they are collected.
    assert len(set(os.listdir("/proc/self/fd")) - before) <= 3 * 2


def test_sweep_removes_what_dead_processes_left(tmp_path: Path) -> None:
    living, foreign = PrivateDirectory(str(tmp_path)), tmp_path / "other-1-ab"
    # The process of that number lives: the number says nothing, the lock does.
    dead = tmp_path / f"npu-conformance-run-{os.getpid()}-ab"
    for directory in (dead, foreign):
        directory.mkdir()
        (directory / "1").write_bytes(b"x")
    sweep(str(tmp_path))
    assert [os.path.exists(path) for path in (dead, living.path, foreign)] == [False, True, True]
    living.close()


def test_private_directory_is_private(tmp_path: Path) -> None:
    directory = PrivateDirectory(str(tmp_path))
    assert os.stat(directory.path).st_mode & 0o777 == 0o700
    directory.close()
    remove_directory(directory.path)
    assert not list(tmp_path.iterdir())


def test_memory_eater_gets_memory_error() -> None:
    subject = open_subject("faulty_plugins:eater")
    device = subject.interfaces.device
    assert device is not None
    with pytest.raises(Failed, match="MemoryError"):
        device.get_type()
    assert device.get_version_string() == "fine"
    subject.close()


@pytest.mark.parametrize(("plugin", "restart"), [("crasher", "fork"), ("fresh_crasher", "spawn")])
def test_crash_in_a_python_plugin(plugin: str, restart: str) -> None:
    subject = open_subject(f"faulty_plugins:{plugin}")
    assert subject.manifest.restart == restart
    for _ in range(3):
        device = subject.interfaces.device
        assert device is not None
        with pytest.raises(Crashed, match=r"device\.getType: the host process was killed by SIGSEGV") as caught:
            device.get_type()
        assert "before the crash" in caught.value.stderr
        subject.restart()
    subject.close()


def test_numpy_stays_out_of_the_harness() -> None:
    program = f"""
import sys
sys.path.insert(0, {str(PLUGINS)!r})
from npu_conformance.harness.subject.loading import open_subject
open_subject("echo_plugin:plugin").close()
unwanted = {{"numpy", "subprocess", "asyncio", "multiprocessing", "pytest", "ctypes"}} & set(sys.modules)
sys.exit(f"imported: {{unwanted}}" if unwanted else 0)
"""
    finished = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert (finished.returncode, finished.stderr) == (0, "")


def _is_zombie(pid: str) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def _parent(pid: str) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]


def _runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_zygote_that_somebody_traces_to_its_end_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its end is told to whoever traces it (ptrace), and to nobody else."""
    monkeypatch.setattr(supervisor, "_REAPING_SECONDS", 0.2)
    subject = open_subject("echo_plugin:plugin")
    zygote = _parent(str(cast(RemoteSubject, subject).process()))
    reading, writing = os.pipe()
    tracer = os.fork()
    if tracer == 0:
        is_traced = ctypes.CDLL(None).ptrace(_PTRACE_SEIZE, int(zygote), None, None) == 0
        os.write(writing, b"+" if is_traced else b"-")
        signal.pause()
    try:
        is_traced = os.read(reading, 1) == b"+"
        os.kill(int(zygote), signal.SIGKILL)
        eventually(lambda: _is_zombie(zygote))
        subject.close()
        if not is_traced:
            pytest.skip("the kernel lets nobody trace here")
        assert _is_zombie(zygote)
    finally:
        os.kill(tracer, signal.SIGKILL)
        os.waitpid(tracer, 0)
        os.close(reading)
        os.close(writing)
    if is_traced:
        os.waitpid(int(zygote), 0)


@pytest.mark.parametrize(
    ("number", "says"),
    [(errno.EAGAIN, "Resource temporarily unavailable (ulimit -u, or a limit of the container)"),
     (errno.EACCES, "Permission denied")],
)  # fmt: skip
def test_where_no_process_can_be_started_a_line_says_so(
    number: int, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **more: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "posix_spawn", refuse)
    before = set(os.listdir("/dev/shm"))
    with pytest.raises(LoadError) as told:
        open_subject("echo_plugin:plugin")
    assert str(told.value) == f"no process can be started for the plug-in: {says}"
    assert not {name for name in set(os.listdir("/dev/shm")) - before if f"-{os.getpid()}-" in name}
