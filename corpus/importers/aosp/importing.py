"""From specification files and folders to collections of vectors."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from npu_conformance.corpus.importers import jsonl_vectors
from npu_conformance.corpus.importers.aosp.children import SUFFIX, Child, Limits, Loaded, Problem
from npu_conformance.specs.documents import DocumentError


def files(source: Path) -> list[Path]:
    """The specification files of a folder and the folders below it, or the one file; raises DocumentError for none."""
    if not source.exists():
        raise DocumentError(str(source), "", "there is no such file or folder")
    found = sorted(source.rglob(f"*{SUFFIX}")) if source.is_dir() else [source]
    found = [path for path in found if path.is_file() and path.name.endswith(SUFFIX)]
    if not found:
        raise DocumentError(str(source), "", f"there is no {SUFFIX} file")
    return found


def load(paths: Sequence[Path], limits: Limits | None = None, processes: int = 0) -> Iterator[Loaded]:
    """Run files in confined children and yield what became of each, in their order.

    processes: how many children at a time; 0 for as many as there are processors. A name stands for one test in a
    folder: a file that makes a test of a name that an earlier one has taken gives no tests.
    """
    taken: dict[tuple[str, str], Path] = {}
    for one in _run(paths, limits or Limits(), processes):
        folder = one.path.absolute().parent.name
        twice = next((name for name in one.names if (folder, name) in taken), None)
        if twice is None:
            taken.update(dict.fromkeys(((folder, name) for name in one.names), one.path))
            yield one
        else:
            what = f"its test {twice} is already in {taken[folder, twice]}"
            yield Loaded(one.path, problem=Problem(one.path, 1, what))


def _run(paths: Sequence[Path], limits: Limits, processes: int) -> Iterator[Loaded]:
    count = min(processes or len(os.sched_getaffinity(0)), len(paths))
    children: SimpleQueue[Child] = SimpleQueue()
    started = [Child(limits) for _ in range(count)]
    for child in started:
        children.put(child)

    def run(path: Path) -> Loaded:
        child = children.get()
        try:
            return child.load(path)
        finally:
            children.put(child)

    try:
        with ThreadPoolExecutor(count) as pool:
            yield from pool.map(run, paths)
    finally:
        for child in started:
            child.close()


def by_folder(loaded: Sequence[Loaded]) -> dict[str, list[Loaded]]:
    """What was loaded, by the name of its folder: folders of one name are one, as in the ids of cases."""
    folders: dict[str, list[Loaded]] = {}
    for one in loaded:
        folders.setdefault(one.path.absolute().parent.name, []).append(one)
    return folders


def collections(loaded: Sequence[Loaded]) -> tuple[jsonl_vectors.Collection, ...]:
    """A collection for each folder that gave tests, as if it had been written and read again."""
    made = []
    for folder, members in by_folder(loaded).items():
        lines = [line for one in members for line in one.lines]
        if lines:
            made.append(jsonl_vectors.Collection(Path(f"{folder}{jsonl_vectors.SUFFIX}"), lines))
    return tuple(made)


def write(loaded: Sequence[Loaded], folder: Path) -> list[Path]:
    """Write a collection for each folder that gave tests; equal tests make equal bytes. Returns the files.

    Raises OSError where a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, members in by_folder(loaded).items():
        lines = [line + b"\n" for one in members for line in one.lines]
        if lines:
            path = folder / f"{name}{jsonl_vectors.SUFFIX}"
            path.write_bytes(gzip.compress(b"".join(lines), mtime=0))
            written.append(path)
    return written
