"""Digests of suite, vectors and subject: they say which runs may be compared or resumed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from npu_conformance.harness.kept import ROOT, SUITE_FOLDERS, kept
from npu_conformance.harness.run.folders import RESULTS
from npu_conformance.harness.subject.driver_files import NamedFile, code_of
from npu_conformance.specs import documents
from npu_conformance.specs.documents.results import Digests
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.versions import Version

_MOST_READ = 64 << 20
_VECTORS = "specs/vectors"
"""The folder under whose name a vector counts, wherever its file is: baselines of earlier releases stay comparable."""


def digests(
    manifest: Manifest,
    version: Version,
    options: Mapping[str, str],
    *,
    external_vectors: Sequence[Path] = (),
    catalogues: Sequence[Path] = (),
    plugins: Sequence[str] = (),
) -> Digests:
    """Return the digests of a run.

    What comes from outside counts as vectors: external ones, and the catalogues of extensions. plugins: what names the
    implementations, as --plugin does. Raises DocumentError for a file that cannot be read.
    """
    given = [*external_vectors, *catalogues]
    suite, vectors = kept("digests", tuple[str, str], _of_installation)
    return Digests(
        suite=suite,
        vectors=_of_files([*_stored_vectors(), *_outside(given)]) if given else vectors,
        subject=_of_subject(manifest, version, options),
        driver=_of_code([named for spec in plugins for named in code_of(spec)]),
    )


def of_file(path: Path) -> str:
    """The digest of a document that decides what is excused, such as a baseline. Raises DocumentError."""
    return hashlib.sha256(documents.content(path, named=path.name != RESULTS)).hexdigest()


def of_files(paths: Iterable[Path]) -> str:
    """The digest of several such documents, in whatever order they are given, such as waivers; empty without any.

    Raises DocumentError.
    """
    each = sorted(of_file(path) for path in paths)
    return each[0] if len(each) == 1 else hashlib.sha256(" ".join(each).encode()).hexdigest() if each else ""


def _of_installation() -> tuple[str, str]:
    """The digests of the suite's sources, and of the vectors that are stored with it."""
    sources = (path for folder in SUITE_FOLDERS for path in sorted((ROOT / folder).rglob("*.py")) if path.is_file())
    return _of_files((path.relative_to(ROOT).as_posix(), path) for path in sources), _of_files(_stored_vectors())


def _stored_vectors() -> list[tuple[str, Path]]:
    files = sorted(path for path in (ROOT / "corpus" / "vectors").glob("*.json") if path.is_file())
    return [(f"{_VECTORS}/{path.name}", path) for path in files]


def _outside(given: Iterable[Path]) -> list[tuple[str, Path]]:
    """The files that are given, by names that do not depend on where they lie: each machine may have its own folder."""
    files = [(path, file) for path in given for file in _files(path) if "__pycache__" not in file.parts]
    return sorted((file.name if file == path else file.relative_to(path).as_posix(), file) for path, file in files)


def _of_files(files: Iterable[tuple[str, Path]]) -> str:
    """The digest of files, each with the name under which it counts."""
    digest = hashlib.sha256()
    for name, path in files:
        data = documents.content(path)
        digest.update(f"{name}\0{len(data)}\0".encode(errors="surrogateescape"))
        digest.update(data)
    return digest.hexdigest()


def _of_code(files: Iterable[NamedFile]) -> str:
    """The digest of the files of plug-ins; empty where none is known.

    Behind so many bytes that reading on would delay the start, the size and the time of a file stand for its content.
    """
    digest, known, room = hashlib.sha256(), False, _MOST_READ
    for name, path in files:
        known = True
        try:
            status = path.stat()
            room -= status.st_size
            content = path.read_bytes() if room >= 0 else b"%d" % status.st_mtime_ns
        except OSError:  # gone, or not to be read: whoever loads it says so
            continue
        digest.update(f"{name}\0{status.st_size}\0".encode(errors="surrogateescape"))
        digest.update(content)
    return digest.hexdigest() if known else ""


def _of_subject(manifest: Manifest, version: Version, options: Mapping[str, str]) -> str:
    parts = (manifest, version.value, dict(sorted(options.items())))
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else [inner for inner in path.rglob("*") if inner.is_file()]
