"""A case that knows every byte of a pool notices each that somebody else has written."""

from __future__ import annotations

import pytest

from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.subject.mirrored import MirroredPool
from npu_conformance.harness.subject.pools import MappedPool
from npu_conformance.specs.neuralnetworks.types import Memory

SIZE, SPANS = 32, [(0, 8), (16, 16)]


def pool() -> MappedPool:
    return MappedPool(Memory("ashmem", SIZE, 1), memoryview(bytearray(SIZE)), lambda apart: None, lambda size: False)


def test_what_the_case_has_written_or_taken_is_right() -> None:
    inner = pool()
    mirrored = MirroredPool(inner, SPANS, 0xA5)
    mirrored.write(2, b"ab")
    inner.write(17, b"result")
    assert mirrored.take(17, 6) == b"result"
    mirrored.check("pool 0")
    assert bytes(inner.read(0, 8)) == b"\xa5\xa5ab" + b"\xa5" * 4


@pytest.mark.parametrize("at", [0, 7, 16, 31])
def test_another_byte_is_named(at: int) -> None:
    inner = pool()
    mirrored = MirroredPool(inner, SPANS, 0xA5)
    inner.write(at, b"\x01")
    with pytest.raises(Failed, match=f"byte {at} of pool 0, which nobody was to write: expected 165, found 1"):
        mirrored.check("pool 0")


def test_what_lies_between_is_not_looked_at() -> None:
    inner = pool()
    mirrored = MirroredPool(inner, SPANS, 0xA5)
    inner.write(9, b"\x01")
    mirrored.check("pool 0")
