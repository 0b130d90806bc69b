"""Vectors from outside: `run --vectors PATH` takes our own form, JSON Lines collections and AOSP's specifications."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from npu_conformance.corpus import vectors
from npu_conformance.corpus.importers import jsonl_vectors
from npu_conformance.harness.run.cases import Case
from npu_conformance.specs.documents import DocumentError
from npu_conformance.vts.lib.vector_cases import case_from, case_of

if TYPE_CHECKING:
    from npu_conformance.corpus.importers.aosp.children import Problem
    from npu_conformance.harness.run.context import CaseContext

_SPECIFICATION = ".mod.py"

__all__ = ["case_from", "cases", "cases_from"]


def cases() -> Iterator[Case]:
    """No cases: nothing from outside is stored here."""
    return iter(())


def cases_from(path: Path) -> Iterator[Case]:
    """A case for each external vector (`run --vectors PATH`), in any of the three forms."""
    if path.suffix == ".json" or (path.is_dir() and any(path.glob("*.json"))):
        yield from _own_form(path)
        return
    if _has_specifications(path):
        yield from _specifications(path)
        return
    for collection in jsonl_vectors.collections(path):
        yield from _neutral_form(collection)


def _neutral_form(collection: jsonl_vectors.Collection) -> Iterator[Case]:
    source = _safe(collection.path.name.removesuffix(jsonl_vectors.SUFFIX))
    for header in collection.headers():
        case_id = f"vts.external.{source}.{_safe(header.name)}"
        yield case_of(header, functools.partial(collection.load, header.name), case_id, None)


def _has_specifications(path: Path) -> bool:
    return path.name.endswith(_SPECIFICATION) or next(path.rglob(f"*{_SPECIFICATION}"), None) is not None


def _specifications(path: Path) -> Iterator[Case]:
    """AOSP's specification files, run in confined children; one that gives no tests is a case that says why."""
    from npu_conformance.corpus.importers.aosp import importing

    loaded = list(importing.load(importing.files(path)))
    for collection in importing.collections(loaded):
        yield from _neutral_form(collection)
    for one in loaded:
        if one.problem is not None:
            yield _unreadable(one.problem)


def _unreadable(problem: Problem) -> Case:
    def run(context: CaseContext) -> None:
        raise DocumentError(f"{problem.path}:{problem.line}", "", problem.what)

    folder, name = problem.path.absolute().parent.name, problem.path.name.removesuffix(_SPECIFICATION)
    description = "A specification file that cannot be read is an error of the run, not of the implementation."
    return Case(f"vts.external.{_safe(folder)}.{_safe(name)}.unreadable", run, ("FW-GEN-001",), description)


def _safe(name: str) -> str:
    """The name as a part of a case id."""
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def _own_form(path: Path) -> Iterator[Case]:
    folder = path if path.is_dir() else path.parent
    names = vectors.operations(folder) if path.is_dir() else (path.stem.upper(),)
    for operation in names:
        file = vectors.path_of(operation, folder)
        if not file.exists():
            raise DocumentError(str(path), "", f"expected {file.name}: the operation's name in small letters")
        for header in vectors.headers(operation, folder):
            vectors.load(operation, header.name, folder)  # bad values are the user's to know before anything runs
            load = functools.partial(vectors.load, operation, header.name, folder)
            yield case_of(header, load, f"vts.external.{operation}.{header.name}", None)
