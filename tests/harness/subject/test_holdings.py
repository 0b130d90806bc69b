"""What is read of a process, whatever names its files and threads have: for Linux they are bytes."""

from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from npu_conformance.harness.subject.holdings import holdings_of, private_kib


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
