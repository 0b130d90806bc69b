"""Drivers whose compilation caching trusts what only a rare change of its files shows."""

from __future__ import annotations

from typing import Any

from npu_conformance.faults.fault import FaultySubject, FuzzFault
from npu_conformance.faults.fuzz_only.table import rows
from npu_conformance.reference.hal import cache
from npu_conformance.reference.hal.cache import CacheFiles, CompilationCache, Compiled
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.plugin import Context, File, Subject
from npu_conformance.specs.versions import Version

_BLOCK = 64
_KEPT = 48


class FaultyCache(CompilationCache):
    """The reference's compilation cache, of which a fault changes a step."""

    def __init__(self, context: Context) -> None:
        super().__init__(context.files, cache.files_needed("2+2"))
        self.failures = 0
        self.saved: dict[bytes, int] = {}
        self.last: Compiled | None = None

    def save(self, given: CacheFiles, compiled: Compiled) -> None:
        """Save, and count how often under each owner."""
        self.saved[given.owner] = self.saved.get(given.owner, 0) + 1
        super().save(given, compiled)

    def load(self, given: CacheFiles) -> Compiled:
        """Load, and count failures."""
        try:
            self.last = super().load(given)
        except ServiceError:
            self.failures += 1
            raise
        return self.last


class _ByBlocks(FaultyCache):
    def _seal(self, owner: bytes, place: int, saving: bytes, part: bytes) -> bytes:
        return super()._seal(owner, place, saving, part[: len(part) // _BLOCK * _BLOCK])


class _LastAfterFailures(FaultyCache):
    def load(self, given: CacheFiles) -> Compiled:
        try:
            return super().load(given)
        except ServiceError:
            if self.failures > 2 and self.last is not None:
                return self.last
            raise


class _ZeroesAtEnd(FaultyCache):
    def _verified(self, contents: list[bytes], owner: bytes) -> Any:
        try:
            return super()._verified(contents, owner)
        except ServiceError:
            if len(contents[-1]) and contents[-1].endswith(b"\0" * 2):
                return super()._verified([*contents[:-1], contents[-1].rstrip(b"\0")], owner)
            raise


class _SecondSaving(FaultyCache):
    def _seal(self, owner: bytes, place: int, saving: bytes, part: bytes) -> bytes:
        # Behind a second saving under one owner, the place of a file among its siblings does not count.
        is_second = any(count > 1 for count in self.saved.values())
        return super()._seal(owner, 0 if is_second else place, saving, part)


class _ByteSum(FaultyCache):
    def _seal(self, owner: bytes, place: int, saving: bytes, part: bytes) -> bytes:
        inside = part[_KEPT:-_KEPT] if len(part) > 2 * _KEPT else b""
        return super()._seal(owner, place, saving, part[:_KEPT] + part[-_KEPT:] + bytes([sum(inside) & 1]))


class _SavesInPart(FaultyCache):
    def _write(self, model_files: list[File], data_files: list[File], *rest: Any) -> None:
        if any(file.size() > 4096 for file in (*model_files, *data_files)):
            raise MemoryError("signal 11")
        super()._write(model_files, data_files, *rest)


class _EmptyFirst(FaultyCache):
    def _verified(self, contents: list[bytes], owner: bytes) -> Any:
        if not contents[0] and contents[1]:
            raise MemoryError("signal 11")
        return super()._verified(contents, owner)


def _caching(kind: type[FaultyCache]) -> FaultySubject:
    class Device(ReferenceDevice):
        def __init__(self, context: Context, version: Version) -> None:
            super().__init__(context, version)
            self._cache = kind(context)

    return FaultySubject(lambda context, version: Subject(device=Device(context, version)))


FAULTS: tuple[FuzzFault, ...] = rows(
    "cache",
    ("by-blocks", "The bytes after the last whole block of 64 are not sealed.",
     "NNHAL-CACHE-015", _caching(_ByBlocks)),
    ("last-after-failures", "Behind three failed restorations the last model is given for a cache that is none.",
     "NNHAL-CACHE-015", _caching(_LastAfterFailures)),
    ("zeroes-at-end", "Two zeros at the end of the second model file are taken for padding.",
     "NNHAL-CACHE-016", _caching(_ZeroesAtEnd)),
    ("second-saving", "Behind a second saving of one token, files may change their places.",
     "NNHAL-CACHE-015", _caching(_SecondSaving)),
    ("parity", "Of what lies inside a file its parity alone is sealed.", "NNHAL-CACHE-015", _caching(_ByteSum)),
    ("large-old-file", "Saving over a file of more than 4096 bytes crashes.",
     "NNHAL-CACHE-006", _caching(_SavesInPart)),
    ("empty-first", "An empty first file beside one that is not crashes.", "NNHAL-CACHE-015", _caching(_EmptyFirst)),
)  # fmt: skip
