"""Vectors from outside: `run --vectors PATH` takes files in the project's own form, and neutral collections."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

from npu_conformance.harness.cases import Case
from npu_conformance.specs import neutral, vectors
from npu_conformance.specs.documents import DocumentError
from npu_conformance.vts.generated import case_from, case_of

__all__ = ["case_from", "cases", "cases_from"]


def cases() -> Iterator[Case]:
    """None: nothing from outside is stored here."""
    return iter(())


def cases_from(path: Path) -> Iterator[Case]:
    """A case for each external vector (`run --vectors PATH`), in the project's own form or in neutral collections."""
    if path.suffix == ".json" or (path.is_dir() and any(path.glob("*.json"))):
        yield from _own_form(path)
        return
    for collection in neutral.collections(path):
        source = collection.path.name.removesuffix(neutral.SUFFIX)
        for header in collection.headers():
            case_id = f"vts.external.{source}.{header.name}"
            yield case_of(header, functools.partial(collection.load, header.name), case_id, None)


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
