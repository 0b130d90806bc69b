"""models.json: which models there are, and what the manifest promises about itself. Nothing here imports numpy."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

from npu_conformance.specs import documents
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.zoo import DataSet, Package, StoredFile, ZooEntry, ZooFile

FILE = Path(__file__).parent / "models.json"


@functools.cache
def zoo(path: Path = FILE) -> ZooFile:
    """The manifest. Raises DocumentError where it breaks a rule, also one between its parts."""
    manifest = documents.read(path, ZooFile)
    for where, rule in _violations(manifest):
        raise DocumentError(str(path), where, rule)
    return manifest


def entries() -> tuple[ZooEntry, ...]:
    """All models, in the manifest's order."""
    return zoo(FILE).models


def data_of(entry: ZooEntry) -> DataSet | None:
    """The data set that a model's inputs are made of; None where they are made without one."""
    return None if entry.inputs.data is None else zoo(FILE).data[entry.inputs.data]


def package(name: str) -> Package:
    """A package by its name in the manifest."""
    return zoo(FILE).packages[name]


def files_of(entry: ZooEntry) -> Iterator[tuple[str, str, StoredFile]]:
    """All that a model needs: name in the cache, name of the package, file; first its own file, then its data."""
    if entry.package is not None and entry.file is not None:
        yield entry.name, entry.package, entry.file
    data = data_of(entry)
    if data is not None and entry.inputs.data is not None:
        for file in data.files:
            yield entry.inputs.data, data.package, file


def _violations(manifest: ZooFile) -> Iterator[tuple[str, str]]:
    names = [entry.name for entry in manifest.models]
    for place, entry in enumerate(manifest.models):
        where = f"$.models[{place}]"
        if entry.name in names[:place]:
            yield f"{where}.name", f"the name {entry.name!r} occurs twice"
        if (entry.package is None) != (entry.file is None):
            yield where, "expected both `package` and `file`, or neither"
        if entry.package is not None and entry.package not in manifest.packages:
            yield f"{where}.package", f"there is no package {entry.package!r}"
        yield from _of_inputs(manifest, entry, where)
    for name, data in manifest.data.items():
        if data.package not in manifest.packages:
            yield f"$.data.{name}.package", f"there is no package {data.package!r}"


def _of_inputs(manifest: ZooFile, entry: ZooEntry, where: str) -> Iterator[tuple[str, str]]:
    inputs = entry.inputs
    if inputs.data is not None and inputs.data not in manifest.data:
        yield f"{where}.inputs.data", f"there is no data set {inputs.data!r}"
    if (inputs.data is None) != (inputs.preprocessing in ("uniform", "own")):
        yield (
            f"{where}.inputs",
            f"preprocessing {inputs.preprocessing!r} and a data set: expected one without the other",
        )
    if (inputs.preprocessing == "own") != (entry.package is None):
        yield f"{where}.inputs.preprocessing", "`own` is for the project's own models, and for them alone"
    if not inputs.low < inputs.high:
        yield f"{where}.inputs", f"low {inputs.low:g} is not below high {inputs.high:g}"
    for metric in entry.limits:
        if metric not in entry.metrics:
            yield f"{where}.limits.{metric}", "there is a limit for a metric that the model does not have"
