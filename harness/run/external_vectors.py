"""Vectors from outside: `run --vectors PATH` takes our own form, JSON Lines collections and AOSP's specifications."""

from __future__ import annotations

import errno
import functools
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from npu_conformance.corpus import vectors
from npu_conformance.corpus.importers import jsonl_vectors
from npu_conformance.corpus.vectors import Vector, VectorHeader
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.vector_cases import attach, vector_from
from npu_conformance.specs import documents
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.failures import PROMOTED
from npu_conformance.specs.manifest import InterfaceName

if TYPE_CHECKING:
    from npu_conformance.harness.run.context import CaseContext

_OF_AOSP = "aosp"
"""The witness of collections that were made of AOSP's specifications."""
_SPECIFICATION = ".mod.py"

_ONE_MODEL = (
    "it is a model without expected values, not a file of vectors; `npu-conformance models add MODEL.tflite` adds "
    "a LiteRT model to mlts"
)

MakeCase = Callable[[VectorHeader, Callable[[], Vector], str], Case]
"""Makes the case of a vector: its header, what loads it, and the case's id."""


class External(msgspec.Struct, frozen=True):
    """One external vector. name: of its case, behind the area. problem: why a file or line gives none."""

    name: str
    header: VectorHeader | None = None
    load: Callable[[], Vector] | None = None
    problem: DocumentError | None = None


def cases_from(path: Path, area: str, make_case: MakeCase, interface: InterfaceName = "device") -> Iterator[Case]:
    """A case for each external vector, in any of the three forms. area: in which the cases are, such as vts.external.

    interface: of the cases that say why a file or line gives no vectors.
    """
    for one in found(path):
        if one.header is None or one.load is None:
            assert one.problem is not None
            yield _unreadable(one.problem, f"{area}.{one.name}", interface)
            continue
        yield checked(make_case(one.header, one.load, f"{area}.{one.name}"), one.load)


def checked_again(payload: Any, case_from: Callable[[Any], Case]) -> Case:
    """The case of a failure file, which is as wrong there. case_from: makes that of a vector of any origin."""
    return checked(case_from(payload), lambda: vector_from(payload))


def found(path: Path) -> Iterator[External]:
    """Every vector of a file or folder, in any of the three forms. Raises DocumentError."""
    if not path.exists():
        raise DocumentError(str(path), "", os.strerror(errno.ENOENT))
    if _has_findings(path):
        return
    if path.suffix == ".tflite":
        raise DocumentError(str(path), "", _ONE_MODEL)
    if _is_own_form(path):
        yield from _own_form(path)
        return
    if _has_specifications(path):
        yield from _specifications(path)
        return
    for collection in jsonl_vectors.collections(path):
        yield from _neutral_form(collection)
        for number, problem in collection.problems().items():
            yield External(f"{_source(collection)}.line{number}", problem=problem)


def _is_own_form(path: Path) -> bool:
    return path.suffix == ".json" or (path.is_dir() and any(path.glob("[!.]*.json")))


def checked(case: Case, load: Callable[[], Vector]) -> Case:
    """The case of a vector from outside: an error of the run where the oracles contradict what is expected.

    No driver is blamed for that. AOSP's own vectors are as they are.
    """

    def run(context: CaseContext) -> None:
        from npu_conformance.corpus import contradicted

        vector = load()
        if _OF_AOSP not in vector.witnesses:
            attach(context, vector)
            for problem in contradicted.by_the_oracles(vector):
                raise DocumentError("", "", problem)
        case.run(context)

    return msgspec.structs.replace(case, run=run)


def _has_findings(path: Path) -> bool:
    """True for a promoted finding, or a folder of them, from which the fuzzers make cases. Raises DocumentError."""
    found = list(path.glob("[!.]*.json*")) if path.is_dir() else [path]
    others = [one for one in found if not one.name.endswith(PROMOTED)]
    if found and others and len(others) < len(found):
        raise DocumentError(str(path), "", f"it holds findings and vectors, such as {others[0].name}: keep them apart")
    return bool(found) and not others


def _neutral_form(collection: jsonl_vectors.Collection) -> Iterator[External]:
    for header in collection.headers():
        load = functools.partial(collection.load, header.name)
        yield External(f"{_source(collection)}.{_safe(header.name)}", header, load)


def _source(collection: jsonl_vectors.Collection) -> str:
    return _safe(collection.path.name.removesuffix(jsonl_vectors.SUFFIX))


def _has_specifications(path: Path) -> bool:
    return path.name.endswith(_SPECIFICATION) or next(path.rglob(f"*{_SPECIFICATION}"), None) is not None


def _specifications(path: Path) -> Iterator[External]:
    """AOSP's specification files, run in confined children; one that gives no tests says why."""
    from npu_conformance.corpus.importers.aosp import importing

    loaded = list(importing.load(importing.files(path)))
    for collection in importing.collections(loaded):
        yield from _neutral_form(collection)
    for one in loaded:
        if one.problem is not None:
            folder, name = one.path.absolute().parent.name, one.path.name.removesuffix(_SPECIFICATION)
            problem = DocumentError(f"{one.path}:{one.problem.line}", "", one.problem.what)
            yield External(f"{_safe(folder)}.{_safe(name)}", problem=problem)


def _unreadable(problem: DocumentError, beginning: str, interface: InterfaceName) -> Case:
    """The case of a file or line that gives no vector. beginning: of its id."""

    def run(context: CaseContext) -> None:
        raise problem

    description = "Vectors that cannot be read are an error of the run, not of the implementation."
    return Case(f"{beginning}.unreadable", run, ("FW-GEN-001",), description, interface)


def _safe(name: str) -> str:
    """The name as a part of a case id."""
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def _own_form(path: Path) -> Iterator[External]:
    folder = path if path.is_dir() else path.parent
    names = vectors.operations(folder) if path.is_dir() else (path.stem.upper(),)
    for operation in names:
        file = vectors.path_of(operation, folder)
        if not file.exists():
            raise DocumentError(str(path), "", f"expected {file.name}: the operation's name in small letters")
        for header in _headers(operation, folder, file):
            vectors.load(operation, header.name, folder)  # bad values are the user's to know before anything runs
            load = functools.partial(vectors.load, operation, header.name, folder)
            yield External(f"{operation}.{header.name}", header, load)


def _headers(operation: str, folder: Path, file: Path) -> tuple[VectorHeader, ...]:
    try:
        return vectors.headers(operation, folder)
    except DocumentError:
        if _is_one_model(file):
            raise DocumentError(str(file), "", _ONE_MODEL) from None
        raise


def _is_one_model(file: Path) -> bool:
    """True for what `vectors import-tflite --out` has written; what is broken is told by those who read it."""
    try:
        found = json.loads(documents.content(file))
    except (DocumentError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and "vectors" not in found and {"operands", "inputs", "outputs"} <= found.keys()
