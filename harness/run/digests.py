"""Digests of suite, vectors and subject: they say which runs may be compared or resumed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from npu_conformance.harness.kept import ROOT, SUITE_FOLDERS, kept
from npu_conformance.specs.documents.results import Digests
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.versions import Version

_VECTORS = "specs/vectors"
"""The folder under whose name a vector counts, wherever its file is: baselines of earlier releases stay comparable."""


def digests(
    manifest: Manifest,
    version: Version,
    options: Mapping[str, str],
    *,
    external_vectors: Path | None = None,
    catalogues: Sequence[Path] = (),
) -> Digests:
    """Return the digests of a run.

    What comes from outside counts as vectors: external ones, and the catalogues of extensions.
    """
    given = [*([external_vectors] if external_vectors else []), *catalogues]
    suite, vectors = kept("digests", tuple[str, str], _of_installation)
    return Digests(
        suite=suite,
        vectors=_of_files([*_stored_vectors(), *_outside(given)]) if given else vectors,
        subject=_of_subject(manifest, version, options),
    )


def of_file(path: Path) -> str:
    """The digest of a document that decides what is excused, such as waivers."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _of_installation() -> tuple[str, str]:
    """The digests of the suite's sources, and of the vectors that are stored with it."""
    sources = (path for folder in SUITE_FOLDERS for path in sorted((ROOT / folder).rglob("*.py")))
    return _of_files((path.relative_to(ROOT).as_posix(), path) for path in sources), _of_files(_stored_vectors())


def _stored_vectors() -> list[tuple[str, Path]]:
    return [(f"{_VECTORS}/{path.name}", path) for path in sorted((ROOT / "corpus" / "vectors").glob("*.json"))]


def _outside(given: Iterable[Path]) -> list[tuple[str, Path]]:
    files = sorted(file for path in given for file in _files(path) if "__pycache__" not in file.parts)
    return [(path.relative_to(path.anchor).as_posix(), path) for path in files]


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
