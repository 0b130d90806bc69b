"""Copies of memory for a driver in another process: none outlives the call that it was made for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from npu_conformance.adapters.stacked.carrying import Carrier
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import Memory, Model, Request, RequestMemoryPool, Subgraph

KNOWN, UNKNOWN = Memory("ashmem", 4, token=1), Memory("ashmem", 4, token=2)


class Pools:
    """The driver's pools, which are counted."""

    def __init__(self) -> None:
        self.made = self.closed = 0

    def create(self, kind: str, size: int) -> Any:
        self.made += 1
        content = bytearray(size)

        def write(offset: int, data: bytes) -> None:
            content[offset : offset + len(data)] = data

        return SimpleNamespace(
            memory=Memory(kind, size, token=100 + self.made),
            write=write,
            read=lambda offset, length: bytes(content[offset : offset + length]),
            close=self._close,
        )

    def _close(self) -> None:
        self.closed += 1


class Here:
    """This side's memory: one token is known."""

    def map(self, memory: Memory) -> memoryview:
        if memory != KNOWN:
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, "unknown memory")
        return memoryview(bytearray(memory.size))


@pytest.fixture
def pools() -> Pools:
    return Pools()


@pytest.fixture
def carrier(pools: Pools) -> Carrier:
    here: Any = Here()
    there: Any = pools
    return Carrier(here, there)


def test_copies_of_a_request_are_closed_where_a_later_one_cannot_be_made(carrier: Carrier, pools: Pools) -> None:
    request = Request(inputs=(), outputs=(), pools=(RequestMemoryPool(KNOWN), RequestMemoryPool(UNKNOWN)))
    with pytest.raises(ServiceError), carrier.request(request):
        pass
    assert (pools.made, pools.closed) == (1, 1)


def test_copies_of_a_model_are_closed_where_a_later_one_cannot_be_made(carrier: Carrier, pools: Pools) -> None:
    model = Model(main=Subgraph((), (), (), ()), pools=(KNOWN, UNKNOWN))
    with pytest.raises(ServiceError), carrier.model(model):
        pass
    assert (pools.made, pools.closed) == (1, 1)
