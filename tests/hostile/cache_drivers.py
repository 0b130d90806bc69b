"""Drivers whose compilation caching trusts what it should not. Option `bug` says which bug they have."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from npu_conformance.reference.hal import cache
from npu_conformance.reference.hal.cache import CacheFiles, CompilationCache, Compiled
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModelCallback
from npu_conformance.specs.neuralnetworks.types import CacheHandle
from npu_conformance.specs.plugin import Context, File, Plugin, Subject
from npu_conformance.specs.versions import NEWEST

_TOKEN_BYTES = 32


class _Cache(CompilationCache):
    """A cache with a bug. remembered: what a driver keeps of the models that it has saved."""

    def __init__(self, context: Context) -> None:
        super().__init__(context.files, cache.files_needed(cache_files(context)))
        self.remembered: dict[bytes, Compiled] = {}
        self.sizes: dict[bytes, int] = {}
        self.held: list[File] = []


def cache_files(context: Context) -> str:
    """How many files the driver wants."""
    return context.options.get("cache_files", "2+2")


class _NoSeal(_Cache):
    """What a seal says is not looked at."""

    def _verified(self, contents: list[bytes], owner: bytes) -> Any:
        return _decoded(contents)


def _decoded(contents: Sequence[bytes], end: int | None = None) -> Any:
    return cache._DECODER.decode(b"".join(content[cache._HEADER_BYTES : end] for content in contents))


class _SealOfHead(_Cache):
    """A seal is that of the first bytes of its file."""

    def _seal(self, owner: bytes, place: int, saving: bytes, part: bytes) -> bytes:
        return super()._seal(owner, place, saving, part[:64])


class _ForgetsToken(_Cache):
    """A cache is that of any token."""

    def _seal(self, owner: bytes, place: int, saving: bytes, part: bytes) -> bytes:
        return super()._seal(owner[:-_TOKEN_BYTES], place, saving, part)


class _HalfOfToken(_Cache):
    """A cache is that of all tokens with the same first half."""

    def _seal(self, owner: bytes, place: int, saving: bytes, part: bytes) -> bytes:
        return super()._seal(owner[: -_TOKEN_BYTES // 2], place, saving, part)


class _IgnoresTail(_Cache):
    """What lies past the end of what was saved is not looked at."""

    def _verified(self, contents: list[bytes], owner: bytes) -> Any:
        sizes = [self.sizes.get(content[: cache._HEADER_BYTES], len(content)) for content in contents]
        return super()._verified([content[:size] for content, size in zip(contents, sizes, strict=True)], owner)

    def _write(self, model_files: list[File], *rest: Any) -> None:
        super()._write(model_files, *rest)
        self.sizes.update({file.read(0, cache._HEADER_BYTES): file.size() for file in model_files})


class _ReadsTwice(_Cache):
    """What is used is not what was verified, but read once more."""

    def load(self, given: CacheFiles) -> Compiled:
        super().load(given)
        with self._opened(given.model) as model_files, self._opened(given.data) as data_files:
            contents = [cache._content(file) for file in model_files]
            data = b"".join(map(cache._content, data_files))
        try:
            return cache._compiled(_decoded(contents), data)
        except ValueError as error:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, str(error)) from None


class _NeverTruncates(_Cache):
    """What was longer in a file keeps its end."""

    def _write(self, model_files: list[File], data_files: list[File], *rest: Any) -> None:
        files = [*model_files, *data_files]
        before = [file.read(0, file.size()) for file in files if file.is_readable()]
        super()._write(model_files, data_files, *rest)
        for file, old in zip(files, before, strict=True):
            file.write(file.size(), old[file.size() :])


class _FollowsPosition(_Cache):
    """Files are read from where their descriptors stand."""

    @contextlib.contextmanager
    def _opened(self, handles: Sequence[CacheHandle]) -> Any:
        with super()._opened(handles) as files:
            yield [_FromPosition(file) for file in files]


class _FromPosition:
    def __init__(self, file: File) -> None:
        self._file, self.position = file, 0
        self.start = file.position

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def read(self, offset: int, length: int) -> bytes:
        return self._file.read(self.start + offset, length)


class _CountsLoosely(_Cache):
    """Files behind those that are needed are passed over."""

    def _check_handles(self, given: CacheFiles) -> None:
        super()._check_handles(self._cut(given))

    def load(self, given: CacheFiles) -> Compiled:
        return super().load(self._cut(given))

    def _cut(self, given: CacheFiles) -> CacheFiles:
        model, data = self.wanted.num_model_cache, self.wanted.num_data_cache
        return CacheFiles(given.model[:model], given.data[:data], given.owner)


class _FailsToPrepare(_Cache):
    """A model is not prepared where its files are wrong."""

    def save(self, given: CacheFiles, compiled: Compiled) -> None:
        self._check_handles(given)
        super().save(given, compiled)


class _HoldsRefused(_Cache):
    """Descriptors of files that are refused are never closed."""

    def load(self, given: CacheFiles) -> Compiled:
        try:
            return super().load(given)
        except ServiceError:
            with contextlib.suppress(ServiceError):
                self._check_handles(given)
                self.held += [self._files.open(token) for one in given.model for token in one.descriptors]
            raise


class _TrustsData(_Cache):
    """Constants are taken to be as long as they were saved: the last one is looked at first."""

    last = 0

    def load(self, given: CacheFiles) -> Compiled:
        self._check_handles(given)
        with self._opened(given.model) as model_files, self._opened(given.data) as data_files:
            contents = [cache._content(file) for file in model_files]
            data = b"".join(map(cache._content, data_files))
        whole = sum(self._verified(contents, given.owner).sizes)
        self.last = data[whole - 1] if whole else 0
        return super().load(given)


class _Remembers(_Cache):
    """What was saved under a token is restored without a look at the files."""

    def save(self, given: CacheFiles, compiled: Compiled) -> None:
        super().save(given, compiled)
        self.remembered[given.owner] = self.remembered.get(given.owner, compiled)

    def load(self, given: CacheFiles) -> Compiled:
        found = super().load(given)
        return self.remembered.get(given.owner, found)


class _BindsNoSaving(_Cache):
    """Model-cache files of several savings go together."""

    def _verified(self, contents: list[bytes], owner: bytes) -> Any:
        for place, content in enumerate(contents):
            saving, part = content[len(cache._MAGIC) : cache._SEAL_AT], content[cache._HEADER_BYTES :]
            if content[cache._SEAL_AT : cache._HEADER_BYTES] != self._seal(owner, place, saving, part):
                raise ServiceError(ErrorStatus.GENERAL_FAILURE, "not ours")
        return _decoded(contents)


class _NotifiesTwice(_Cache):
    """A refusal is notified twice."""


class _GivesNothing(_Cache):
    """Data that is not as it was saved gives no model, with status NONE."""


BUGS: dict[str, type[_Cache]] = {
    "no-seal": _NoSeal,
    "seal-of-head": _SealOfHead,
    "forgets-token": _ForgetsToken,
    "half-of-token": _HalfOfToken,
    "ignores-tail": _IgnoresTail,
    "reads-twice": _ReadsTwice,
    "never-truncates": _NeverTruncates,
    "follows-position": _FollowsPosition,
    "counts-loosely": _CountsLoosely,
    "fails-to-prepare": _FailsToPrepare,
    "trusts-data": _TrustsData,
    "remembers": _Remembers,
    "binds-no-saving": _BindsNoSaving,
    "notifies-twice": _NotifiesTwice,
    "gives-nothing": _GivesNothing,
}
LEAKS: dict[str, type[_Cache]] = {"holds-refused": _HoldsRefused}
"""Bugs that no single answer shows."""


class _Device(ReferenceDevice):
    def __init__(self, context: Context, made: _Cache) -> None:
        super().__init__(context, NEWEST)
        self._cache = made

    def prepare_model_from_cache(
        self,
        deadline_ns: int,
        model_cache: tuple[CacheHandle, ...],
        data_cache: tuple[CacheHandle, ...],
        token: bytes,
        callback: PreparedModelCallback | None,
    ) -> None:
        try:
            super().prepare_model_from_cache(deadline_ns, model_cache, data_cache, token, callback)
        except ServiceError as error:
            if isinstance(self._cache, _NotifiesTwice) and callback is not None:
                callback.notify(error.status, None)
            raise


class _GivingDevice(_Device):
    """Notifies NONE without a model where the data cache alone is wrong."""

    def prepare_model_from_cache(self, *arguments: Any) -> None:
        deadline, model_cache, data_cache, token, client = arguments
        callback = _Last()
        try:
            super().prepare_model_from_cache(deadline, model_cache, data_cache, token, callback)
        except ServiceError as error:
            if "data cache" not in str(error):
                client.notify(error.status, None)
                raise
            callback.answer = ErrorStatus.NONE, None
        client.notify(*callback.answer)


class _Last(PreparedModelCallback):
    answer: tuple[int, Any] = (ErrorStatus.GENERAL_FAILURE, None)

    def notify(self, status: int, prepared_model: Any) -> None:
        self.answer = status, prepared_model


def _create(context: Context) -> Subject:
    made = {**BUGS, **LEAKS}[context.options["bug"]](context)
    return Subject(device=(_GivingDevice if isinstance(made, _GivesNothing) else _Device)(context, made))


_OPTIONS = {"bug": f"one of {', '.join((*BUGS, *LEAKS))}", "cache_files": "MODEL+DATA"}
plugin = Plugin(Manifest(name="caches", vendor="tests", version="1", hal_version=NEWEST, options=_OPTIONS), _create)
