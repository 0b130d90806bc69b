"""Shared memory that a driver harms, or that is full: neither ends the harness, and one line says what is wrong."""

from __future__ import annotations

import ctypes
import errno
import json
import mmap
import os
import subprocess
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import warm_python
from patience import SECONDS
from places import HOSTILE

from npu_conformance.harness.judge.verdicts import Failed, NoSharedMemory
from npu_conformance.harness.subject.files import CacheFile
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.harness.subject.pools import Pool, SharedPools
from npu_conformance.harness.subject.shared_files import FileStore
from npu_conformance.harness.wire.margin import with_margin
from npu_conformance.harness.wire.memory import HostMemory
from npu_conformance.harness.wire.paths import EVERYWHERE
from npu_conformance.harness.wire.protocol import Attach, Detach
from npu_conformance.specs.neuralnetworks.burst_packets import ELEMENT_SIZE
from npu_conformance.specs.neuralnetworks.enums import DeviceType
from npu_conformance.specs.neuralnetworks.message_queue import MessageQueue, size_of

_FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
_CAPACITY = 1024


class Link:
    """A subject that opens nothing. attached: what it was told of, the last one last."""

    def __init__(self) -> None:
        self.attached: list[tuple[Attach, int | None]] = []

    def attach(self, request: Attach, descriptor: int | None) -> None:
        self.attached.append((request, descriptor))

    def detach(self, token: int) -> None: ...

    def write(self, token: int, offset: int, data: bytes) -> None: ...

    def read(self, token: int, offset: int, length: int) -> bytes:
        return b""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FileStore]:
    store = FileStore(base=str(tmp_path))
    yield store
    store.close()
    assert not list(tmp_path.iterdir())


def pool_and_path(store: FileStore, size: int) -> tuple[Pool, str]:
    """A pool that travels by path."""
    link = Link()
    pool = SharedPools(link, store, ("path",)).create("ashmem", size)
    return pool, str(link.attached[0][0].path)


class HostLink(Link):
    """A subject that maps what it is told of."""

    def __init__(self) -> None:
        super().__init__()
        self.host = HostMemory()

    def attach(self, request: Attach, descriptor: int | None) -> None:
        self.host.attach(request, None if descriptor is None else os.dup(descriptor), EVERYWHERE)

    def detach(self, token: int) -> None:
        self.host.detach(Detach(token))

    def write_behind(self, pool: Pool) -> None:
        """Write as code in C does that counts wrong."""
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.host.map(pool.memory)))
        ctypes.memset(start + pool.memory.size, 1, 4)


@pytest.mark.parametrize("transport", ["path", "descriptor"])
@pytest.mark.parametrize("size", [100, mmap.PAGESIZE, 3 * mmap.PAGESIZE, 1 << 20])
def test_a_write_behind_a_pool_is_seen_and_is_nothing_of_the_next(store: FileStore, transport: str, size: int) -> None:
    link = HostLink()
    pools = SharedPools(link, store, (transport,))
    pool = pools.create("ashmem", size)
    assert not pool.take_overrun()
    link.write_behind(pool)
    assert pool.take_overrun()
    assert not pool.take_overrun()
    link.write_behind(pool)
    pool.close()
    assert pool.take_overrun()
    again = pools.create("ashmem", size - 1)
    assert not again.take_overrun()
    again.close()


@pytest.mark.parametrize("transport", ["path", "descriptor"])
def test_a_closed_pool_waits_for_no_collector(store: FileStore, transport: str) -> None:
    pool = SharedPools(Link(), store, (transport,)).create("ashmem", 100)
    pool.close()
    left = weakref.ref(pool)
    del pool
    assert left() is None


def test_a_truncated_pool_is_a_failure_where_it_is_read(store: FileStore) -> None:
    pool, path = pool_and_path(store, 5000)
    pool.write(4990, b"0123456789")
    os.truncate(path, 4995)
    assert pool.read(4990, 5) == b"01234"
    with pytest.raises(Failed, match="truncated the file of a pool: it has no bytes 4995 to 5000"):
        pool.read(4990, 10)
    pool.write(4990, b"0123456789")
    assert pool.read(4990, 10) == b"0123456789"
    pool.close()


def test_a_truncated_queue_is_a_failure(store: FileStore) -> None:
    pool, path = pool_and_path(store, size_of(_CAPACITY, ELEMENT_SIZE))
    queue = MessageQueue(pool.queue_memory(), _CAPACITY, ELEMENT_SIZE)
    assert queue.write(bytes(ELEMENT_SIZE))
    os.truncate(path, 0)
    queue.wake()
    for look in (queue.available, queue.read, lambda: queue.wait(0), lambda: queue.write(bytes(ELEMENT_SIZE))):
        with pytest.raises(Failed, match="truncated"):
            look()
    pool.close()


def test_a_queue_that_is_cut_off_before_it_is_used_is_a_failure(store: FileStore) -> None:
    pool, path = pool_and_path(store, size_of(_CAPACITY, ELEMENT_SIZE))
    os.truncate(path, 0)
    with pytest.raises(Failed, match="truncated"):
        pool.queue_memory()
    pool.close()


def test_a_queue_in_a_file_is_the_one_in_its_mapping(store: FileStore) -> None:
    pool, path = pool_and_path(store, size_of(5, ELEMENT_SIZE))
    ours = MessageQueue(pool.queue_memory(), 5, ELEMENT_SIZE)
    with open(path, "r+b") as file:
        theirs = MessageQueue(memoryview(mmap.mmap(file.fileno(), pool.memory.size)), 5, ELEMENT_SIZE)
    for turn in range(20):
        packet = bytes([turn]) * (ELEMENT_SIZE * (turn % 5 + 1))
        assert ours.write(packet)
        assert theirs.wait(0)
        assert theirs.read() == packet
        assert theirs.write(packet)
        assert ours.read() == packet
        assert not ours.wait(0)
    pool.close()


def test_the_size_of_what_is_mapped_is_sealed(store: FileStore) -> None:
    file = store.take(5000, named=False)
    for size in (0, 4096, 1 << 20):
        with pytest.raises(PermissionError):
            os.ftruncate(file.descriptor, size)
    store.give_back(file)


@pytest.mark.parametrize("kind", ["truncated", "stretched", "locked", "unlinked"])
def test_no_other_pool_gets_a_file_that_was_harmed(store: FileStore, kind: str) -> None:
    file = store.take(5000, named=True)
    store.give_back(file)
    path = str(file.path)
    if kind == "locked":
        os.chmod(path, 0)
    elif kind == "unlinked":
        os.unlink(path)
    else:
        os.truncate(path, 0)
        os.truncate(path, file.size if kind == "stretched" else 0)
    other = store.take(5000, named=True)
    assert other.path != path
    assert other.read(0, 5000) == bytes(5000)
    other.remove()


def test_a_file_is_used_again_and_zero(store: FileStore) -> None:
    file = store.take(5000, named=True)
    file.write(0, b"x" * file.size)
    store.give_back(file)
    again = store.take(4500, named=True)
    assert again is file
    assert again.read(0, 8192) == bytes(8192)
    again.remove()


@pytest.mark.parametrize("named", [True, False])
def test_space_is_taken_before_a_driver_needs_it(store: FileStore, named: bool) -> None:
    file = store.take(1 << 20, named=named)
    assert os.fstat(file.descriptor).st_blocks * 512 >= 1 << 20
    file.remove()


def test_what_is_kept_is_given_up_before_the_memory_is_full(store: FileStore, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = store.take(100, named=True)
    store.give_back(kept)
    real = os.posix_fallocate

    def allocate(*arguments: Any) -> None:
        if os.path.exists(str(kept.path)):
            raise _FULL
        real(*arguments)

    monkeypatch.setattr(os, "posix_fallocate", allocate)
    taken = store.take(1 << 20, named=True)
    assert not os.path.exists(str(kept.path))
    assert taken.size == with_margin(1 << 20)
    taken.remove()


def test_full_memory_is_one_line_and_leaves_nothing(store: FileStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def allocate(*arguments: Any) -> None:
        raise _FULL

    before = set(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(os, "posix_fallocate", allocate)
    with pytest.raises(NoSharedMemory, match=r"^the shared memory is full: it has \d+ bytes; make it larger [^\n]+$"):
        store.take(100, named=True)
    assert os.listdir(store.directory) == []
    assert set(os.listdir("/proc/self/fd")) <= before  # what an earlier test has left may be collected meanwhile


def test_a_pool_that_cannot_be_attached_is_given_back(store: FileStore) -> None:
    class Deaf(Link):
        def attach(self, request: Attach, descriptor: int | None) -> None:
            raise Failed("deaf")

    for _ in range(2):
        with pytest.raises(Failed, match="deaf"):
            SharedPools(Deaf(), store, ("path",)).create("ashmem", 100)
    assert len(os.listdir(store.directory)) == 1


def test_a_cache_file_needs_space_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(*arguments: Any) -> int:
        raise _FULL

    monkeypatch.setattr(os, "pwrite", write)
    with pytest.raises(NoSharedMemory, match="the shared memory is full"):
        CacheFile(str(tmp_path), b"abc")
    assert not list(tmp_path.iterdir())


def test_a_cache_file_longer_than_any_is_not_read(tmp_path: Path) -> None:
    file = CacheFile(str(tmp_path), b"abc")
    os.truncate(file.path, 1 << 40)
    with pytest.raises(Failed, match="a cache file: expected at most"):
        file.read()
    file.close()


def run(folder: Path, *arguments: str, around: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder, with the hostile plug-ins at hand."""
    words = ["-m", "npu_conformance", "run", "--report", str(folder / "report"), *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HOSTILE), *filter(None, sys.path)])}
    if not around:
        return warm_python.run(*words, cwd=folder, env=environment)
    command = [*around, sys.executable, *words]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS
    )


def outcomes(folder: Path) -> list[str]:
    """How the cases of the run ended."""
    found = json.loads((folder / "report/results.json").read_text())
    return [result["outcome"] for result in found["cases"]]


@pytest.mark.parametrize(
    ("harm", "transport", "red"),
    [
        ("truncate", "path", 1),
        ("truncate", "descriptor", 0),
        ("truncate_and_stretch", "path", 1),
        ("write_behind", "path", 1),
        ("write_behind", "descriptor", 1),
        ("remove_folder", "path", 0),
        ("move_folder", "path", 0),
    ],
)
def test_only_the_guilty_case_suffers(tmp_path: Path, harm: str, transport: str, red: int) -> None:
    options = ("--plugin", "memory_drivers:harmful", "--plugin-option", f"harm={harm}", "--transport", transport)
    ended = run(tmp_path, "vts.generated.FLOOR", *options)
    found = outcomes(tmp_path)
    assert ended.returncode == min(red, 1), ended.stderr
    assert [found.count("fail"), found.count("pass")] == [red, len(found) - red]


SMALL = """mount -t tmpfs -o "$1" none /dev/shm && shift && "$@"; code=$?; test -z "$(ls -A /dev/shm)" && exit $code"""
"""Ends with another code than the command where that has left something."""


def beside(options: str) -> tuple[str, ...]:
    """The beginning of a command that gives it a /dev/shm of its own. options: of its mount."""
    around = ("unshare", "-rm", "sh", "-c", SMALL, "sh", options)
    if subprocess.run([*around, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no name space for mounts is to be had here")
    return around


def test_a_full_file_system_is_one_line(tmp_path: Path) -> None:
    ended = run(tmp_path, "vts.burst", "--plugin", "reference", around=beside("size=16k"))
    assert ended.returncode == 3
    assert "the shared memory is full: it has 16384 bytes; make it larger" in ended.stdout
    assert "Traceback" not in ended.stdout + ended.stderr
    assert set(outcomes(tmp_path)) <= {"pass", "not-applicable", "suite-error"}


def test_a_small_run_needs_no_more_than_containers_have(tmp_path: Path) -> None:
    ended = run(tmp_path, "vts.generated.FLOOR", "vts.burst", "--plugin", "reference", around=beside("size=4m"))
    assert ended.returncode == 0, ended.stderr


def test_a_file_system_that_is_read_only_is_one_line(tmp_path: Path) -> None:
    ended = run(tmp_path, "vts.queries", "--plugin", "reference", around=beside("ro"))
    assert ended.returncode == 3
    assert ended.stderr == "npu-conformance: /dev/shm: no directory can be made there: Read-only file system\n"


def test_a_pool_that_goes_before_anything_was_sent_fails_no_later_call() -> None:
    """Its attach is sent with the next call, when its file is gone; nobody has asked for it by then."""
    subject = open_subject("reference", {}, "process")
    try:
        pool = subject.memory.create("ashmem", 1 << 20)
        pool.apart = True  # whose file no other pool gets
        pool.close()
        device = subject.interfaces.device
        assert device is not None
        assert device.get_type() == DeviceType.ACCELERATOR
    finally:
        subject.close()
