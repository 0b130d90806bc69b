"""Where fetched files are kept: <cache>/<name>/<SHA-256>/<file name>. What has its name there is whole."""

from __future__ import annotations

import hashlib
from pathlib import Path, PurePosixPath

from npu_conformance.corpus.zoo import manifest
from npu_conformance.specs import user_cache
from npu_conformance.specs.documents.zoo import StoredFile, ZooEntry

NOT_FETCHED = "the model is not fetched"
"""Begins what cases say that have no model."""


class NotFetched(Exception):
    """A file of a model is not in the cache, or not what the manifest says; the message has the command that helps."""


def folder() -> Path:
    """The cache: $NPU_CONFORMANCE_MODELS, else npu-conformance/models below $XDG_CACHE_HOME or ~/.cache."""
    return user_cache.models()


def place(name: str, file: StoredFile) -> Path:
    """Where a file belongs. name: of the model or the data set."""
    return folder() / name / file.sha256 / PurePosixPath(file.path[-1]).name


def is_present(name: str, file: StoredFile) -> bool:
    """True where the file is there with its size; only `content` looks at the hash."""
    try:
        return place(name, file).stat().st_size == file.bytes
    except OSError:
        return False


def is_fetched(entry: ZooEntry) -> bool:
    """True where all that a model needs is there: always for the project's own."""
    return all(is_present(name, file) for name, _, file in manifest.files_of(entry))


def content(model: str, name: str, file: StoredFile) -> bytes:
    """The bytes of a file. Raises NotFetched, with the command, where it is not there or damaged.

    model: whose command is to be named. name: of the model or the data set.
    """
    path = place(name, file)
    command = f"npu-conformance models fetch {model}"
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise NotFetched(f"{model} is not fetched: {path} is not there; run `{command}`") from None
    except OSError as error:
        raise NotFetched(f"{model}: {path} cannot be read: {error.strerror or error}") from None
    if hashlib.sha256(data).hexdigest() != file.sha256:
        raise NotFetched(f"{model}: {path} is damaged: its SHA-256 is another than the manifest's; run `{command}`")
    return data
