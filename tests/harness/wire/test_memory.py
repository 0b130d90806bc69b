"""The host's side of shared memory: every pool lies in a file, however it travelled."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

import pytest

from npu_conformance.harness.wire.memory import HostMemory
from npu_conformance.harness.wire.paths import EVERYWHERE
from npu_conformance.harness.wire.protocol import Attach, Detach, MemoryWrite
from npu_conformance.specs.errors import IllegalArgument, ServiceError
from npu_conformance.specs.neuralnetworks.types import Memory

POOL = Memory("ashmem", 5000, 7)


def attached(transport: str, folder: Path) -> HostMemory:
    memory = HostMemory()
    path = folder / "pool"
    path.write_bytes(bytes(5000))
    descriptor = os.open(path, os.O_RDWR) if transport == "descriptor" else None
    memory.attach(Attach(7, 5000, transport, str(path)), descriptor, EVERYWHERE)
    return memory


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("transport", ["path", "descriptor", "message"])
def test_a_pool_has_a_descriptor_with_the_same_bytes(transport: str, tmp_path: Path) -> None:
    before = open_descriptors()
    memory = attached(transport, tmp_path)
    descriptor = memory.descriptor(POOL)
    memory.write(MemoryWrite(7, 10, b"hello"))
    with mmap.mmap(descriptor, 5000) as mapped:
        assert mapped[10:15] == b"hello"
        mapped[0:2] = b"ab"
    os.close(descriptor)
    assert bytes(memory.map(POOL)[:2]) == b"ab"
    memory.detach(Detach(7))
    with pytest.raises(ServiceError, match="token 7 is not known"):
        memory.descriptor(POOL)
    assert open_descriptors() == before


@pytest.mark.parametrize(("token", "size"), [(0, 5000), (-1, 5000), (7, 0), (7, -1)])
def test_a_refused_pool_leaves_no_descriptor(token: int, size: int) -> None:
    before, memory = open_descriptors(), HostMemory()
    with pytest.raises(IllegalArgument, match="must be positive"):
        memory.attach(Attach(token, size, "descriptor"), os.open("/dev/null", os.O_RDWR), EVERYWHERE)
    assert open_descriptors() == before


def test_nobody_changes_the_size_of_what_came_by_message() -> None:
    memory = HostMemory()
    memory.attach(Attach(7, 5000, "message"), None)
    descriptor = memory.descriptor(POOL)
    for size in (0, 10000):
        with pytest.raises(PermissionError):
            os.ftruncate(descriptor, size)
    os.close(descriptor)
    memory.detach(Detach(7))
