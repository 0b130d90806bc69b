"""Driver-managed buffers of the reference: lifetimes, owners, open shapes and threads."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy
import pytest

from npu_conformance.reference.hal.buffers import Buffers, Plan, ReferenceBuffer, Role, compatible
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandType
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.plugin import Caller, Context


class LocalMemory:
    """Pools in this process."""

    def __init__(self, *contents: bytes) -> None:
        self.pools = [bytearray(content) for content in contents]

    def memory(self, token: int) -> Memory:
        return Memory("ashmem", len(self.pools[token - 1]), token)

    def map(self, memory: Memory) -> memoryview:
        return memoryview(self.pools[memory.token - 1])


class Model:
    """Stands for a prepared model."""


class BufferFixture:
    """A table of buffers whose caller can change."""

    def __init__(self, *contents: bytes) -> None:
        self.caller, self.memory, self.model = Caller(1, 1), LocalMemory(*contents), Model()
        self.buffers = Buffers(Context(self.memory, lambda: self.caller))
        self.role = Role(weakref.ref(self.model), "input", 0)

    def allocate(self, dimensions: tuple[int, ...]) -> tuple[ReferenceBuffer, int]:
        plan = Plan(OperandType.TENSOR_FLOAT32, dimensions, frozenset({self.role}))
        made = self.buffers.allocate(plan)
        assert isinstance(made.buffer, ReferenceBuffer)
        return made.buffer, made.token


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
def test_a_buffer_is_gone_with_its_last_holder() -> None:
    fixture = BufferFixture()
    buffer, token = fixture.allocate((2,))
    assert fixture.buffers.find(token) is buffer
    del buffer
    with pytest.raises(ServiceError) as caught:
        fixture.buffers.find(token)
    assert caught.value.status == ErrorStatus.INVALID_ARGUMENT


@pytest.mark.usefixtures("no_collector")
def test_a_buffer_keeps_no_model_alive() -> None:
    fixture = BufferFixture()
    buffer, _ = fixture.allocate((2,))
    trace = weakref.ref(fixture.model)
    del fixture.model
    assert trace() is None
    other = Model()
    with pytest.raises(ServiceError, match="not allocated as input 0"):
        buffer.check_use(Role(weakref.ref(other), "input", 0), ())


@pytest.mark.parametrize("other", [Caller(2, 1), Caller(1, 2)])
def test_a_buffer_is_its_owners(other: Caller) -> None:
    fixture = BufferFixture()
    buffer, token = fixture.allocate((2,))
    fixture.caller = other
    with pytest.raises(ServiceError, match="no buffer"):
        fixture.buffers.find(token)
    fixture.caller = buffer.owner
    assert fixture.buffers.find(token) is buffer


def test_an_open_shape_follows_the_content() -> None:
    fixture = BufferFixture(bytes(8), bytes(12))
    buffer, _ = fixture.allocate((0,))
    for token, size in ((1, 2), (2, 3)):
        buffer.copy_from(fixture.memory.memory(token), (size,))
        buffer.check_use(fixture.role, (size,))
        with pytest.raises(ServiceError, match="expected"):
            buffer.check_use(fixture.role, (5 - size,))


def test_reads_and_writes_at_once_never_meet() -> None:
    fixture = BufferFixture(b"\1" * 4096, b"\2" * 4096)
    buffer, _ = fixture.allocate((1024,))
    buffer.copy_from(fixture.memory.memory(1), ())

    def write(number: int) -> None:
        buffer.write(numpy.full(1024, number, numpy.int32))

    def read(_: int) -> int:
        return len(numpy.unique(buffer.read().view(numpy.int32)))

    with ThreadPoolExecutor(4) as threads:
        writes = threads.map(write, range(200))
        assert set(threads.map(read, range(200))) == {1}
        list(writes)


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [((), (2,), True), ((2,), (), True), ((0, 3), (2, 3), True), ((2, 3), (2, 0), True), ((2,), (3,), False),
     ((2,), (2, 1), False)],
)  # fmt: skip
def test_shapes_agree_where_both_are_known(one: tuple[int, ...], other: tuple[int, ...], agree: bool) -> None:
    assert compatible(one, other) == agree
