"""Models that a user has added: .tflite files of their own, copied into the cache, and the list of them there."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import msgspec

from npu_conformance.corpus.zoo import cache, manifest
from npu_conformance.specs import documents, user_cache
from npu_conformance.specs.documents import storing
from npu_conformance.specs.documents.zoo import Inputs, Limit, MetricName, StoredFile, ZooEntry, ZooFile
from npu_conformance.specs.suggestions import did_you_mean

_METRICS: tuple[MetricName, ...] = ("agreement", "cosine", "mean_squared_error", "largest_error", "error_histogram")
_LIMITS: dict[MetricName, Limit] = {"cosine": Limit(at_least=0.99)}
"""What outputs beside another implementation's have to be: of the nets that are fetched it is the lowest limit, too."""


def entries() -> tuple[ZooEntry, ...]:
    """The models that were added, in order. Raises DocumentError where the list is broken."""
    try:
        path = user_cache.added_models()
    except RuntimeError:  # this user has no home
        return ()
    return documents.read(path, ZooFile).models if path.exists() else ()


def add(path: Path, name: str, inputs: Inputs) -> ZooEntry:
    """Copy a model's file into the cache and list it; one of the same name is replaced.

    Raises TfliteError for a file that is no model or none that NN HAL can express, ValueError for a name that the zoo
    has for a model or data of its own, or one that is none, OSError.
    """
    from npu_conformance.corpus.importers.tflite import importing

    own = manifest.zoo(manifest.FILE)
    if name in own.data or name in {each.name for each in own.models}:  # their files have folders of these names
        kind = "data" if name in own.data else "a model"
        raise ValueError(f"the zoo has {kind} {name!r} of its own: choose another name")
    data = importing.content(path)  # once: what is checked is what is kept
    importing.import_model(data, str(path), path.stem)
    file = StoredFile((path.name,), hashlib.sha256(data).hexdigest(), len(data))
    entry = msgspec.convert(  # which checks the name
        msgspec.to_builtins(ZooEntry(name, f"{path.name}, added.", inputs, _METRICS, _LIMITS, 0, file=file)), ZooEntry
    )
    target = cache.place(name, file)
    shutil.rmtree(cache.folder() / name, ignore_errors=True)  # an earlier file of this name
    target.parent.mkdir(parents=True)
    storing.write_whole(target, data)
    _store([*(one for one in entries() if one.name != name), entry])
    return entry


def remove(name: str) -> None:
    """Forget a model and delete its file. Raises LookupError where none of that name was added, OSError."""
    known = {one.name: one for one in entries()}
    if name not in known:
        raise LookupError(f"no model {name!r} was added{did_you_mean(name, known)}")
    del known[name]
    _store(list(known.values()))
    if (folder := cache.folder() / name).exists():
        shutil.rmtree(folder)


def _store(models: list[ZooEntry]) -> None:
    stored = ZooFile(format=1, packages={}, data={}, models=tuple(models))
    storing.write_whole(user_cache.added_models(), msgspec.json.format(msgspec.json.encode(stored), indent=1) + b"\n")
