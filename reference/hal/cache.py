"""Compilation caching: a prepared model is written to the client's files, and read back from them alone.

The files are the client's, so nothing in them is trusted. Model-cache files hold everything but the constants, each
under an HMAC over what it belongs to: driver, HAL version, token, its place among the files, and the saving it came
from. Data-cache files hold the constants, whose digest is in the model cache. Each file is read once, whole; what is
used is the copy that was verified.

The key is a constant of this driver: it keeps out accidents and an app that does not look for it. A driver of a real
device keeps its key where no app can read it. A cache is not bound to an app: one that another app hands over is as
genuine, and the app that restores it owns the restored model.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

import msgspec
from msgspec.structs import replace

from npu_conformance.specs.decoders import decoder
from npu_conformance.specs.diagnostics import vlog
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import MAX_NUMBER_OF_CACHE_FILES, ErrorStatus
from npu_conformance.specs.neuralnetworks.types import CacheHandle, Model, NumberOfCacheFiles
from npu_conformance.specs.plugin import File, Files
from npu_conformance.specs.wire_types import NonFinite, Wire

_KEY = hashlib.sha256(b"npu-conformance reference driver: key of its compilation caches").digest()
_MAGIC = b"npu-cache-1\n"
_ID_BYTES = 16
_SEAL_AT = len(_MAGIC) + _ID_BYTES
_HEADER_BYTES = _SEAL_AT + hashlib.sha256().digest_size
_MOST_BYTES = 1 << 28
"""The driver has written no file that is longer."""


class CacheFiles(msgspec.Struct, frozen=True):
    """The cache arguments of a preparation. owner: what a cache belongs to, the client's token included."""

    model: tuple[CacheHandle, ...]
    data: tuple[CacheHandle, ...]
    owner: bytes


class Compiled(msgspec.Struct, frozen=True):
    """What a cache keeps: the model as the client gave it, the contents of its pools, and how it was prepared."""

    model: Model
    pools: tuple[memoryview, ...]
    preference: int
    priority: int


class _Body(Wire, frozen=True):
    """Content of the model cache. model: without constants; sizes, digest: of the constants."""

    model: Model
    preference: int
    priority: int
    sizes: tuple[int, ...]
    digest: bytes


def files_needed(option: str) -> NumberOfCacheFiles:
    """Read `MODEL+DATA`, like 1+1. Raises ValueError: not 0 to 32 of a kind, or data files without a model file."""
    model, _, data = option.partition("+")
    wanted = NumberOfCacheFiles(int(model), int(data))
    if not all(0 <= number <= MAX_NUMBER_OF_CACHE_FILES for number in (wanted.num_model_cache, wanted.num_data_cache)):
        raise ValueError(f"cache files {option!r}: expected 0 to {MAX_NUMBER_OF_CACHE_FILES} of a kind")
    if wanted.num_data_cache and not wanted.num_model_cache:
        raise ValueError(f"cache files {option!r}: data files need a model file, which says what belongs in them")
    return wanted


class CompilationCache:
    """Saves and loads. wanted: how many files, both 0 where nothing is cached."""

    def __init__(self, files: Files, wanted: NumberOfCacheFiles) -> None:
        self._files, self.wanted = files, wanted

    def save(self, given: CacheFiles, compiled: Compiled) -> None:
        """Write the files. An error here is no failure of the preparation (NNHAL-CACHE-001, -002)."""
        try:
            self._check_handles(given)
            with self._opened(given.model) as model_files, self._opened(given.data) as data_files:
                self._write(model_files, data_files, given.owner, compiled)
        except (ServiceError, OSError) as error:
            reason = str(error)
            vlog.log("compilation", lambda: f"not cached: {reason}")

    def load(self, given: CacheFiles) -> Compiled:
        """Read the files. Raises INVALID_ARGUMENT for wrong handles, GENERAL_FAILURE for files of another driver."""
        if not self.wanted.num_model_cache:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, "compilation caching is not supported")
        self._check_handles(given)
        try:
            with self._opened(given.model) as model_files, self._opened(given.data) as data_files:
                contents, data = [_content(file) for file in model_files], b"".join(map(_content, data_files))
        except OSError as error:
            raise _not_ours(f"a cache file cannot be read: {error}") from None
        return _compiled(self._verified(contents, given.owner), data)

    def _check_handles(self, given: CacheFiles) -> None:
        """Raise INVALID_ARGUMENT for a wrong number of files or of descriptors (NNHAL-CACHE-011, -012)."""
        counts, wanted = (len(given.model), len(given.data)), (self.wanted.num_model_cache, self.wanted.num_data_cache)
        if counts != wanted:
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, f"{counts} cache files, {wanted} are needed")
        if any(len(handle.descriptors) != 1 for handle in (*given.model, *given.data)):
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, "a cache handle holds one descriptor")

    @contextlib.contextmanager
    def _opened(self, handles: Sequence[CacheHandle]) -> Iterator[list[File]]:
        with contextlib.ExitStack() as stack:
            yield [
                stack.enter_context(contextlib.closing(self._files.open(token)))
                for handle in handles
                for token in handle.descriptors
            ]

    def _write(self, model_files: list[File], data_files: list[File], owner: bytes, compiled: Compiled) -> None:
        if not all(file.is_readable() and file.is_writable() for file in (*model_files, *data_files)):
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, "a cache file cannot be read and written")
        body, data = _packed(compiled, apart=bool(data_files))
        for file, part in zip(data_files, _shares(data, len(data_files)), strict=True):
            _replace(file, part)
        saving, parts = os.urandom(_ID_BYTES), _shares(_ENCODER.encode(body), len(model_files))
        for place, (file, part) in enumerate(zip(model_files, parts, strict=True)):
            _replace(file, _MAGIC + saving + self._seal(owner, place, saving, part) + part)

    def _verified(self, contents: list[bytes], owner: bytes) -> _Body:
        """Return the body of the model cache, or raise GENERAL_FAILURE (NNHAL-CACHE-015 to -018)."""
        if len({content[:_SEAL_AT] for content in contents}) != 1 or not contents[0].startswith(_MAGIC):
            raise _not_ours("the model cache is not of one saving")
        saving = contents[0][len(_MAGIC) : _SEAL_AT]
        parts = [content[_HEADER_BYTES:] for content in contents]
        for place, (content, part) in enumerate(zip(contents, parts, strict=True)):
            seal = content[_SEAL_AT:_HEADER_BYTES]
            if not hmac.compare_digest(seal, self._seal(owner, place, saving, part)):
                raise _not_ours(f"model-cache file {place} was not written for this driver, version and token")
        return _DECODER.decode(b"".join(parts))

    def _seal(self, owner: bytes, place: int, saving: bytes, part: bytes) -> bytes:
        """The HMAC of one model-cache file: SHA-256 over lengths and contents of all that it is bound to."""
        count = self.wanted.num_model_cache
        seal = hmac.new(_KEY, digestmod=hashlib.sha256)
        for piece in (owner, bytes([place, count]), saving, part):
            seal.update(len(piece).to_bytes(8, "little") + piece)
        return seal.digest()


def _spelled(value: object) -> str:
    if isinstance(value, NonFinite):
        return value.spelling
    raise TypeError(f"{type(value).__name__} is not part of a model")


_ENCODER = msgspec.json.Encoder(enc_hook=_spelled)
_DECODER = decoder(_Body)


def _packed(compiled: Compiled, *, apart: bool) -> tuple[_Body, bytes]:
    """The contents of the model cache and the data cache. apart: constants go to the data cache, not to the model's."""
    constants: list[bytes | memoryview] = [compiled.model.operand_values, *compiled.pools]
    joined = b"".join(constants)
    inside, data = (b"", joined) if apart else (joined, b"")
    pools = tuple(replace(pool, token=0) for pool in compiled.model.pools)
    model = replace(compiled.model, operand_values=inside, pools=pools)
    digest = hashlib.sha256(data).digest()
    return _Body(model, compiled.preference, compiled.priority, tuple(map(len, constants)), digest), data


def _compiled(body: _Body, data: bytes) -> Compiled:
    """Put the constants back. Raises GENERAL_FAILURE for others than were saved: they also hold shapes and axes."""
    if not hmac.compare_digest(hashlib.sha256(data).digest(), body.digest):
        raise _not_ours("the data cache is not what was saved")
    constants = body.model.operand_values + data
    values, *pools = (constants[start:end] for start, end in pairwise(accumulate(body.sizes, initial=0)))
    return Compiled(
        replace(body.model, operand_values=values), tuple(map(memoryview, pools)), body.preference, body.priority
    )


def _content(file: File) -> bytes:
    """The whole file, read once (NNHAL-CACHE-021)."""
    size = file.size()
    if size > _MOST_BYTES:
        raise OSError(f"{size} bytes are too many")
    return file.read(0, size)


def _replace(file: File, content: bytes) -> None:
    file.truncate(0)
    file.write(0, content)


def _shares(content: bytes, count: int) -> list[bytes]:
    """Cut content into as many shares as there are files."""
    size = -(-len(content) // count) if count else 0
    return [content[at * size : (at + 1) * size] for at in range(count)]


def _not_ours(message: str) -> ServiceError:
    return ServiceError(ErrorStatus.GENERAL_FAILURE, message)
