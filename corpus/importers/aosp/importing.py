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
    paths = sorted(source.rglob(f"*{SUFFIX}")) if source.is_dir() else [source]
    paths = [path for path in paths if path.is_file() and path.name.endswith(SUFFIX)]
    if not paths:
        raise DocumentError(str(source), "", f"there is no {SUFFIX} file")
    return paths


def load(paths: Sequence[Path], limits: Limits | None = None, processes: int = 0) -> Iterator[Loaded]:
    """Run files in confined children and yield what became of each, in their order.

    processes: how many children at a time; 0 for as many as there are processors. A name stands for one test in a
    folder: a file that makes a test of a name that an earlier one has taken gives no tests. A specification is code:
    what it says of its tests may be anything, and a file with a test that cannot be read gives none, either.
    """
    taken: dict[tuple[str, str], Path] = {}
    for loaded in map(_readable, _run(paths, limits or Limits(), processes)):
        folder = loaded.path.absolute().parent.name
        twice = next((name for name in loaded.names if (folder, name) in taken), None)
        if twice is None:
            taken.update(dict.fromkeys(((folder, name) for name in loaded.names), loaded.path))
            yield loaded
        else:
            problem = f"its test {twice} is already in {taken[folder, twice]}"
            yield Loaded(loaded.path, problem=Problem(loaded.path, 1, problem))


def _readable(loaded: Loaded) -> Loaded:
    problems = jsonl_vectors.Collection(loaded.path, loaded.lines).problems()
    for number, problem in problems.items():
        what = f"its test {loaded.names[number - 1]} cannot be read: {problem.path}: {problem.rule}"
        return Loaded(loaded.path, problem=Problem(loaded.path, 1, what))
    return loaded


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
    for member in loaded:
        folders.setdefault(member.path.absolute().parent.name, []).append(member)
    return folders


def collections(loaded: Sequence[Loaded]) -> tuple[jsonl_vectors.Collection, ...]:
    """A collection for each folder that gave tests, as if it had been written and read again."""
    made = []
    for folder, members in by_folder(loaded).items():
        lines = [line for member in members for line in member.lines]
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
        lines = [line + b"\n" for member in members for line in member.lines]
        if lines:
            path = folder / f"{name}{jsonl_vectors.SUFFIX}"
            path.write_bytes(gzip.compress(b"".join(lines), mtime=0))
            written.append(path)
    return written
