"""Compilation caching: tokens, names of files, and handles on them (FW-CAC)."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator, Sequence
from typing import Protocol

import msgspec

from npu_conformance.specs.neuralnetworks.types import CacheHandle, NumberOfCacheFiles


class CacheEntry(msgspec.Struct, frozen=True):
    """Where one prepared model is cached. token: the effective one."""

    folder: str
    token: bytes


class Handles(msgspec.Struct, frozen=True):
    """Cache files as drivers get them: as many as they want of each kind, or none (FW-CAC-005)."""

    model: tuple[CacheHandle, ...] = ()
    data: tuple[CacheHandle, ...] = ()


NO_HANDLES = Handles()


class OpenFiles(Protocol):
    """Opens files that devices reach by token."""

    def open_path(self, path: str, *, create: bool) -> int:
        """Open a file for reading and writing; returns its token. Raises OSError."""
        ...

    def close(self, token: int) -> None:
        """Close it."""
        ...


def effective_token(
    token: bytes, device: str, version: str, preference: int, priority: int, operations: Sequence[tuple[int, int]] = ()
) -> bytes:
    """What a driver gets: SHA-256 over all that a prepared model depends on (FW-CAC-004); empty without token.

    operations: of a step the number of the graph and the app's index of each operation, in order; none of a whole
    model.
    """
    if not token:
        return b""
    digest = hashlib.sha256(token)
    for graph, operation in operations:
        digest.update(_number(graph) + _number(operation))
    digest.update(device.encode() + b"\0" + version.encode() + b"\0" + _number(preference) + _number(priority))
    return digest.digest()


def _number(value: int) -> bytes:
    return value.to_bytes(4, "little")


def file_name(token: bytes, kind: str, index: int) -> str:
    """The name of a cache file. kind: "1" of a model cache, "2" of a data cache."""
    letters = "".join(chr(ord("A") + half) for byte in token for half in (byte & 15, byte >> 4))
    return f"{letters}{kind}{index}"


class CacheFolder:
    """Finds and makes the files of entries."""

    def __init__(self, files: OpenFiles) -> None:
        self._files = files

    @contextlib.contextmanager
    def existing(self, entry: CacheEntry, wanted: NumberOfCacheFiles) -> Iterator[Handles | None]:
        """Handles on files that all exist already; None where one is missing (FW-CAC-003)."""
        paths = _paths(entry, wanted)
        if not all(os.path.exists(path) for path in paths):
            yield None
            return
        with self._opened(paths, create=False) as tokens:
            yield _handles(tokens, wanted) if tokens else None

    @contextlib.contextmanager
    def created(self, entry: CacheEntry, wanted: NumberOfCacheFiles) -> Iterator[Handles]:
        """Handles on files that are made where they are missing; none where that is not possible."""
        with self._opened(_paths(entry, wanted), create=True) as tokens:
            yield _handles(tokens, wanted) if tokens else NO_HANDLES

    @contextlib.contextmanager
    def _opened(self, paths: Sequence[str], *, create: bool) -> Iterator[list[int]]:
        """Tokens of the opened files; empty where one cannot be opened."""
        with contextlib.ExitStack() as stack:
            tokens: list[int] = []
            try:
                for path in paths:
                    tokens.append(self._files.open_path(path, create=create))
                    stack.callback(self._files.close, tokens[-1])
            except OSError:
                tokens = []
            yield tokens


def _paths(entry: CacheEntry, wanted: NumberOfCacheFiles) -> list[str]:
    kinds = (("1", wanted.num_model_cache), ("2", wanted.num_data_cache))
    names = [file_name(entry.token, kind, index) for kind, count in kinds for index in range(count)]
    return [os.path.join(entry.folder, name) for name in names]


def _handles(tokens: Sequence[int], wanted: NumberOfCacheFiles) -> Handles:
    handles = tuple(CacheHandle((token,)) for token in tokens)
    return Handles(handles[: wanted.num_model_cache], handles[wanted.num_model_cache :])
