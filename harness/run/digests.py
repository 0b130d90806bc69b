"""Digests of suite, vectors and subject: they say which runs may be compared or resumed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from npu_conformance.specs.documents.results import Digests
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.versions import Version

_ROOT = Path(__file__).parents[2]
_SUITE_FOLDERS = ("specs", "corpus", "harness", "vts", "cts", "fuzz", "mlts")
_VECTORS = "specs/vectors"
"""The folder under whose name a vector counts, wherever its file is: baselines of earlier releases stay comparable."""


def digests(
    manifest: Manifest,
    version: Version,
    options: Mapping[str, str],
    *,
    external_vectors: Path | None = None,
    catalogues: Sequence[Path] = (),
    root: Path = _ROOT,
) -> Digests:
    """Return the digests of a run. root: the folder that holds specs, corpus, harness and the suites.

    What comes from outside counts as vectors: external ones, and the catalogues of extensions.
    """
    sources = (path for folder in _SUITE_FOLDERS for path in sorted((root / folder).rglob("*.py")))
    vectors = [(f"{_VECTORS}/{path.name}", path) for path in sorted((root / "corpus" / "vectors").glob("*.json"))]
    given = [*([external_vectors] if external_vectors else []), *catalogues]
    outside = sorted(file for path in given for file in _files(path) if "__pycache__" not in file.parts)
    return Digests(
        suite=_of_files((path.relative_to(root).as_posix(), path) for path in sources),
        vectors=_of_files([*vectors, *((path.relative_to(path.anchor).as_posix(), path) for path in outside)]),
        subject=_of_subject(manifest, version, options),
    )


def _of_files(files: Iterable[tuple[str, Path]]) -> str:
    """The digest of files, each with the name under which it counts."""
    digest = hashlib.sha256()
    for name, path in files:
        data = path.read_bytes()
        digest.update(f"{name}\0{len(data)}\0".encode())
        digest.update(data)
    return digest.hexdigest()


def _of_subject(manifest: Manifest, version: Version, options: Mapping[str, str]) -> str:
    parts = (manifest, version.value, dict(sorted(options.items())))
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else [inner for inner in path.rglob("*") if inner.is_file()]
