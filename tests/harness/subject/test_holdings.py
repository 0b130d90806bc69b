"""What is read of a process, whatever names its files and threads have: for Linux they are bytes."""

from __future__ import annotations

import contextlib
import mmap
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from npu_conformance.harness.subject.holdings import descendants, holdings_of, private_kib


@contextlib.contextmanager
def _named(name: bytes) -> Iterator[None]:
    """Gives this process's first thread a name (prctl(2), PR_SET_NAME) for a while."""
    comm = Path("/proc/self/comm")
    before = comm.read_bytes().rstrip(b"\n")
    comm.write_bytes(name)
    try:
        yield
    finally:
        comm.write_bytes(before)


@pytest.mark.parametrize("name", [b"b\xe4r", "bär".encode(), b"a\rRssAnon:"])
def test_a_thread_may_have_any_name(name: bytes) -> None:
    with _named(name):
        found = holdings_of(os.getpid())
        assert found is not None
        assert found.memory > 0
        assert private_kib(os.getpid()) > 0


def test_a_file_that_is_mapped_may_have_any_name(tmp_path: Path) -> None:
    folder = os.path.join(os.fsencode(tmp_path), b"b\xe4r")
    os.mkdir(folder)
    before = holdings_of(os.getpid())
    with open(os.path.join(folder, b"file"), "w+b") as file:
        file.truncate(mmap.PAGESIZE)
        with mmap.mmap(file.fileno(), mmap.PAGESIZE):
            held = holdings_of(os.getpid())
    assert before is not None
    assert held is not None
    assert held.shared_mappings == before.shared_mappings


_CHILDREN = 40
_PASSED_ON = f"""
import subprocess, sys, threading
all_born, ends = threading.Barrier({_CHILDREN} + 1), threading.Semaphore(0)
def live():
    subprocess.Popen(["sleep", "60"])
    all_born.wait()
    ends.acquire()
threads = [threading.Thread(target=live) for _ in range({_CHILDREN})]
for thread in threads: thread.start()
all_born.wait()
print("all are born", flush=True)
sys.stdin.readline()
for _ in threads: ends.release()
for thread in threads: thread.join()
print("all threads have ended", flush=True)
sys.stdin.readline()
"""


def test_a_child_whose_thread_ends_is_never_out_of_sight() -> None:
    parent = subprocess.Popen(
        [sys.executable, "-S", "-c", _PASSED_ON], stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0
    )
    assert parent.stdin is not None
    assert parent.stdout is not None
    try:
        parent.stdout.readline()
        born = set(descendants(parent.pid))
        assert len(born) == _CHILDREN
        parent.stdin.write(b"\n")
        parent.stdin.flush()
        os.set_blocking(parent.stdout.fileno(), False)
        while parent.stdout.readline() != b"all threads have ended\n":
            assert set(descendants(parent.pid)) == born
    finally:
        os.killpg(parent.pid, signal.SIGKILL)
        parent.communicate()
