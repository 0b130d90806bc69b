"""Implementations that cache in other ways than the reference, and conform."""

from __future__ import annotations

import os
import threading
from typing import Any

from msgspec.structs import replace

from npu_conformance.faults.boundary import FaultyDevice
from npu_conformance.faults.caching import made, with_options
from npu_conformance.faults.factories import faulty_device
from npu_conformance.faults.fault import Edited, Variant
from npu_conformance.faults.source_edits import SourceEdit
from npu_conformance.reference.hal.cache import CacheFiles, CompilationCache, Compiled
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, ExecutionPreference
from npu_conformance.specs.plugin import Context, File
from npu_conformance.specs.versions import Version

_GENERAL, _INVALID = ErrorStatus.GENERAL_FAILURE, ErrorStatus.INVALID_ARGUMENT


class _NeverCaches(ReferenceDevice):
    def _save(self, caches: CacheFiles, compiled: Compiled) -> None:
        pass


class _CachesSome(ReferenceDevice):
    """Caches only models of at most three operations."""

    def _save(self, caches: CacheFiles, compiled: Compiled) -> None:
        if len(compiled.model.main.operations) <= 3:
            super()._save(caches, compiled)


class _CachesWhatIsPreferred(ReferenceDevice):
    """Caches no model of LOW_POWER."""

    def _save(self, caches: CacheFiles, compiled: Compiled) -> None:
        if compiled.preference != ExecutionPreference.LOW_POWER:
            super()._save(caches, compiled)


class _CachesWithoutHaste(FaultyDevice):
    """Caches no model whose preparation has a deadline."""

    def prepare_model(self, *arguments: Any) -> None:
        if arguments[3] != types.NO_DEADLINE:
            arguments = (*arguments[:4], (), (), *arguments[6:])
        super().prepare_model(*arguments)


class _Duplicated:
    """Descriptors that were duplicated while the client held its own."""

    def __init__(self, context: Context, caches: CacheFiles) -> None:
        self._open: dict[int, File] = {}
        for token in (token for handle in (*caches.model, *caches.data) for token in handle.descriptors):
            try:
                self._open[token] = context.files.open(token)
            except OSError:
                continue  # opening it fails again when it is needed

    def open(self, token: int) -> File:
        if token not in self._open:
            raise OSError(f"no open file has the token {token}")
        return self._open[token]


class _SavesLater(ReferenceDevice):
    """Saves from a thread of its own, when the preparation has ended."""

    def _save(self, caches: CacheFiles, compiled: Compiled) -> None:
        if not (caches.model or caches.data):
            return
        kept = replace(compiled, pools=tuple(memoryview(bytes(pool)) for pool in compiled.pools))
        later = CompilationCache(_Duplicated(self._context, caches), self._cache.wanted)
        timer = threading.Timer(0.02, later.save, (caches, kept))
        timer.start()


class _BoundToProcess(ReferenceDevice):
    """The key lives as long as the driver: no cache can be used after a restart."""

    def __init__(self, context: Context, version: Version) -> None:
        super().__init__(context, version)
        self._secret = os.urandom(16)

    def _caches(self, *arguments: Any) -> CacheFiles:
        caches = super()._caches(*arguments)
        return replace(caches, owner=caches.owner + self._secret)


class _BoundToApp(ReferenceDevice):
    """A cache belongs to the app that had it saved."""

    def _caches(self, *arguments: Any) -> CacheFiles:
        caches = super()._caches(*arguments)
        return replace(caches, owner=caches.owner + f" {self._context.caller().uid}".encode())


class _FailsFromCache(FaultyDevice):
    """Does not look at the arguments of a preparation from a cache, which fails whatever they are."""

    def prepare_model_from_cache(self, *arguments: Any) -> None:
        callback = arguments[-1]
        if callback is None:
            super().prepare_model_from_cache(*arguments)
            return
        callback.notify(_GENERAL, None)
        raise ServiceError(_GENERAL, "nothing is cached")


class _ChangesRefusals(ReferenceDevice):
    """Answers with the other of two statuses where either is allowed, and refuses files that it cannot write to."""

    def _caches(self, *arguments: Any) -> CacheFiles:
        self._given = super()._caches(*arguments)
        return self._given

    def prepare_model_from_cache(self, *arguments: Any) -> None:
        callback = arguments[-1]
        wrong = self._cache.wanted != types.NumberOfCacheFiles(len(arguments[1]), len(arguments[2]))
        if callback is not None and (wrong or not self._all_open(*arguments[1:3])):
            status = _GENERAL if wrong else _INVALID
            callback.notify(status, None)
            raise ServiceError(status, "the other of two statuses")
        super().prepare_model_from_cache(*arguments)

    def _all_open(self, *lists: tuple[types.CacheHandle, ...]) -> bool:
        tokens = [token for handles in lists for handle in handles for token in handle.descriptors]
        files = [self._context.files.open(token) for token in tokens]
        found = all(file.is_readable() and file.is_writable() for file in files)
        for file in files:
            file.close()
        return found


_CACHE = "reference.hal.cache"
VARIANTS = (
    Variant("no-caching", "No cache files are wanted.", with_options(FaultyDevice, cache_files="0+0")),
    Variant("no-caching-1.3", "No cache files are wanted, HIDL.", with_options(FaultyDevice, cache_files="0+0"),
            Version.V1_3),
    Variant("no-caching-at-all", "No cache files are wanted; preparations from a cache fail, whatever is asked.",
            with_options(_FailsFromCache, cache_files="0+0")),
    Variant("one-cache-file", "One model-cache file is wanted, no data cache.",
            with_options(FaultyDevice, cache_files="1+0")),
    Variant("five-cache-files", "Three model-cache files and two data-cache files are wanted.",
            with_options(FaultyDevice, cache_files="3+2")),
    Variant("never-caches", "Cache files are wanted, and never written.", made(_NeverCaches)),
    Variant("caches-some", "Small models are cached, large ones are not.", made(_CachesSome)),
    Variant("caches-unless-low-power", "A model of LOW_POWER is not cached.", made(_CachesWhatIsPreferred)),
    Variant("caches-without-deadline", "A model is not cached where its preparation has a deadline, HIDL.",
            faulty_device(_CachesWithoutHaste), Version.V1_3),
    Variant("saves-later", "The cache is written behind the notification, by duplicated descriptors.",
            made(_SavesLater)),
    Variant("cache-of-a-process", "A restart of the driver makes caches useless.", made(_BoundToProcess)),
    Variant("cache-of-an-app", "Another app's cache is refused.", made(_BoundToApp)),
    Variant("cache-other-statuses", "GENERAL_FAILURE for wrong numbers, INVALID_ARGUMENT for wrong access modes.",
            made(_ChangesRefusals)),
    Variant("cache-of-wrong-values", "A data cache that was changed gives wrong values.",
            Edited((SourceEdit(_CACHE, "_compiled",
                               "not hmac.compare_digest(hashlib.sha256(data).digest(), body.digest)",
                               "body.sizes[0] > len(data) and not (data := data.ljust(sum(body.sizes), b'\\1'))"),
                    SourceEdit("reference.hal.device", "ReferenceDevice._executor",
                               "is_checked=True", "is_checked=False")))),
)  # fmt: skip
"""Conforming variants of caching."""
