"""The reference's cache files: what they keep, what they are bound to, and that each is read once."""

from __future__ import annotations

import math

import pytest
from msgspec.structs import replace

from npu_conformance.reference.hal.cache import CacheFiles, CompilationCache, Compiled, files_needed
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import (
    CacheHandle,
    Memory,
    Model,
    NumberOfCacheFiles,
    Operand,
    Operation,
    Subgraph,
)

OPERANDS = (Operand(3, (2,), math.inf), Operand(3, (2,), 0.5, 3))
POOLS = (memoryview(b"pool of weights"), memoryview(b""), memoryview(b"another one"))
MODEL = Model(
    main=Subgraph(OPERANDS, (Operation(19, (0,), (1,)),), (0,), (1,)),
    operand_values=bytes(range(40)),
    pools=tuple(Memory("ashmem", len(pool), 7 + at) for at, pool in enumerate(POOLS)),
)
COMPILED = Compiled(MODEL, POOLS, preference=2, priority=1)
COUNTS = ["1+0", "1+1", "2+2", "3+1", "32+32"]


class MemoryFile:
    """A file in memory that counts how often it is read."""

    def __init__(self) -> None:
        self.content, self.reads, self.position, self.writable = b"before", 0, 3, True

    def is_readable(self) -> bool:
        return True

    def is_writable(self) -> bool:
        return self.writable

    def size(self) -> int:
        return len(self.content)

    def read(self, offset: int, length: int) -> bytes:
        self.reads += 1
        return self.content[offset : offset + length]

    def write(self, offset: int, data: bytes) -> None:
        self.content = self.content[:offset].ljust(offset, b"\0") + data + self.content[offset + len(data) :]

    def truncate(self, size: int) -> None:
        self.content = self.content[:size].ljust(size, b"\0")

    def close(self) -> None:
        pass


class Folder:
    """Files by token: 1, 2, ... of the model cache, 101, 102, ... of the data cache."""

    def __init__(self, option: str) -> None:
        self.wanted = files_needed(option)
        model = [1 + at for at in range(self.wanted.num_model_cache)]
        data = [101 + at for at in range(self.wanted.num_data_cache)]
        self.files = {token: MemoryFile() for token in (*model, *data)}
        self.cache = CompilationCache(self, self.wanted)
        self.model, self.data = (tuple(CacheHandle((token,)) for token in tokens) for tokens in (model, data))

    def open(self, token: int) -> MemoryFile:
        if token not in self.files:
            raise OSError(f"no file {token}")
        return self.files[token]

    def given(self, owner: bytes = b"owner") -> CacheFiles:
        return CacheFiles(self.model, self.data, owner)

    def refusal(self, given: CacheFiles | None = None) -> int:
        with pytest.raises(ServiceError) as caught:
            self.cache.load(given or self.given())
        return caught.value.status


def saved(option: str = "2+2") -> Folder:
    folder = Folder(option)
    folder.cache.save(folder.given(), COMPILED)
    return folder


@pytest.mark.parametrize("option", COUNTS)
def test_what_was_saved_comes_back(option: str) -> None:
    found = saved(option).cache.load(saved_given(option))
    assert (found.preference, found.priority, found.pools) == (2, 1, POOLS)
    assert found.model == replace(MODEL, pools=tuple(replace(pool, token=0) for pool in MODEL.pools))


def saved_given(option: str) -> CacheFiles:
    return Folder(option).given()


def test_each_file_is_read_once() -> None:
    folder = saved()
    folder.cache.load(folder.given())
    assert [file.reads for file in folder.files.values()] == [1] * 4


def test_constants_are_in_the_data_cache_alone() -> None:
    folder = saved()
    holding = [token for token, file in folder.files.items() if b"of weights" in file.content]
    assert holding
    assert min(holding) > 100


@pytest.mark.parametrize("option", ["1+0", "2+2"])
def test_every_bit_is_protected(option: str) -> None:
    folder = saved(option)
    for file in folder.files.values():
        content = file.content
        for place in range(len(content)):
            file.content = content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :]
            assert folder.refusal() == ErrorStatus.GENERAL_FAILURE
        for changed in (b"", content[:-1], content + b"\0"):
            file.content = changed
            assert folder.refusal() == ErrorStatus.GENERAL_FAILURE
        file.content = content
    folder.cache.load(folder.given())


def test_files_of_another_owner_number_or_order_are_refused() -> None:
    folder = saved()
    assert folder.refusal(folder.given(b"Owner")) == ErrorStatus.GENERAL_FAILURE
    assert folder.refusal(CacheFiles(folder.model[::-1], folder.data, b"owner")) == ErrorStatus.GENERAL_FAILURE
    assert folder.refusal(CacheFiles(folder.model[:1], folder.data, b"owner")) == ErrorStatus.INVALID_ARGUMENT
    for tokens in ((), (1, 2)):
        handles = (CacheHandle(tokens), folder.model[1])
        assert folder.refusal(CacheFiles(handles, folder.data, b"owner")) == ErrorStatus.INVALID_ARGUMENT


def test_files_of_two_savings_are_refused() -> None:
    folder, other = saved(), saved()
    folder.files[1].content = other.files[1].content
    assert folder.refusal() == ErrorStatus.GENERAL_FAILURE


def test_nothing_is_written_where_anything_is_wrong() -> None:
    folder = Folder("2+2")
    folder.files[102].writable = False
    folder.cache.save(folder.given(), COMPILED)
    folder.cache.save(CacheFiles(folder.model, (), b"owner"), COMPILED)
    folder.cache.save(CacheFiles(folder.model, (folder.data[0], CacheHandle((9,))), b"owner"), COMPILED)
    assert {file.content for file in folder.files.values()} == {b"before"}


def test_a_device_that_wants_no_files_restores_nothing() -> None:
    assert Folder("0+0").refusal() == ErrorStatus.GENERAL_FAILURE


def test_a_file_too_long_is_not_read() -> None:
    folder = saved()
    folder.files[1].size = lambda: 1 << 40  # type: ignore[method-assign]
    assert folder.refusal() == ErrorStatus.GENERAL_FAILURE
    assert folder.files[1].reads == 0


def test_numbers_of_files() -> None:
    assert files_needed("3+2") == NumberOfCacheFiles(3, 2)
    for wrong in ("33+0", "1+33", "0+1", "-1+0", "1", "a+b"):
        with pytest.raises(ValueError, match=r"."):
            files_needed(wrong)
