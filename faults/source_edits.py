"""Source edits as data: in a named function, replace a text that occurs exactly once."""

from __future__ import annotations

import ast
import functools
import importlib
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Literal

from npu_conformance.faults.code_swap import (
    Swap,
    SwapError,
    clear_caches,
    code_in,
    file_of,
    function,
    require_names,
    source_of,
    swap,
)
from npu_conformance.specs import documents
from npu_conformance.specs.documents import Document
from npu_conformance.specs.versions import NEWEST, Version

PACKAGE = "npu_conformance"

DetectedAs = Literal["red", "quality-warning"]
"""How cases detect a fault."""


class EditError(Exception):
    """An edit does not fit the source any more."""


class SourceEdit(Document, frozen=True):
    """One replacement. module: below npu_conformance. function: qualified name. find: occurs there exactly once."""

    module: str
    function: str
    find: str
    replace: str

    def __str__(self) -> str:
        return f"{self.module}:{self.function}: {self.find!r} -> {self.replace!r}"


class EditedFault(Document, frozen=True):
    """A fault or a variant by source edits, as the JSON files of this package hold it. See fault.Fault.

    extended: the reference has its extensions.
    """

    id: str
    description: str
    edits: tuple[SourceEdit, ...]
    breaks: tuple[str, ...] = ()
    caught_by: tuple[str, ...] = ()
    hal: Version = NEWEST
    detected_as: DetectedAs = "red"
    hangs: bool = False
    extended: bool = False


class EditedFaultFile(Document, frozen=True):
    """The content of a file of faults."""

    faults: tuple[EditedFault, ...]


def read(path: Path) -> tuple[EditedFault, ...]:
    """Read a file of faults; raises DocumentError."""
    return documents.read(path, EditedFaultFile).faults


def require_text(edits: Iterable[SourceEdit]) -> None:
    """Raise EditError where an edit does not find its text once, or where what it makes of it is no Python.

    It is much quicker than `prepare`, which compiles whole modules.
    """
    sources: dict[str, str] = {}
    for edit in edits:
        source = sources.get(edit.module) or source_of(_imported(edit.module))
        before, changed, behind = _parts(source, edit)
        try:
            ast.parse(textwrap.dedent(changed))
        except SyntaxError as error:
            raise EditError(f"{edit}: {error}") from None
        sources[edit.module] = before + changed + behind


def prepare(edits: Iterable[SourceEdit]) -> list[Swap]:
    """Return each function with the code that the edits give it, applied one after the other. Raises EditError."""
    swaps = []
    by_module: dict[str, list[SourceEdit]] = {}
    for edit in edits:
        by_module.setdefault(edit.module, []).append(edit)
    for group in by_module.values():
        try:
            swaps += _prepare_module(group)
        except (SwapError, SyntaxError, ImportError) as error:
            raise EditError(f"{group[0]}: {error}") from None
    return swaps


def _prepare_module(edits: Sequence[SourceEdit]) -> list[Swap]:
    name = f"{PACKAGE}.{edits[0].module}"
    module = _imported(edits[0].module)
    source = source_of(module)
    for edit in edits:
        source = _edited(source, edit)
    code = compile(source, file_of(module), "exec", dont_inherit=True)
    swaps = [(function(name, each), code_in(code, each)) for each in dict.fromkeys(edit.function for edit in edits)]
    for edited, its_code in swaps:
        require_names(edited, its_code)
    return swaps


def apply(edits: Iterable[SourceEdit]) -> list[Swap]:
    """Apply the edits for good, or until `code_swap.swap` undoes what is returned. Raises EditError."""
    chosen = list(edits)
    undo = swap(prepare(chosen))
    for module in {edit.module for edit in chosen}:
        clear_caches(_imported(module))
    return undo


def _imported(module: str) -> ModuleType:
    return importlib.import_module(f"{PACKAGE}.{module}")


def _edited(source: str, edit: SourceEdit) -> str:
    return "".join(_parts(source, edit))


def _parts(source: str, edit: SourceEdit) -> tuple[str, str, str]:
    """What stands before the function, the function as the edit makes it, and what stands behind."""
    first, last = _lines_of(source, edit)
    lines = source.splitlines(keepends=True)
    body = "".join(lines[first:last])
    count = body.count(edit.find)
    if count != 1:
        raise EditError(f"{edit}: the text occurs {count} times in the function, expected once")
    position = body.index(edit.find)
    indent = _indent(body[:position])
    replacement = textwrap.indent(edit.replace, indent).removeprefix(indent)
    return "".join(lines[:first]), body.replace(edit.find, replacement), "".join(lines[last:])


@functools.lru_cache(maxsize=64)
def _parsed(source: str) -> ast.Module:
    """Most edits are of source that another edit has met before."""
    return ast.parse(source)


def _indent(before: str) -> str:
    line = before.rpartition("\n")[2]
    return line[: len(line) - len(line.lstrip())]


def _lines_of(source: str, edit: SourceEdit) -> tuple[int, int]:
    """The lines of the function, from 0, the last one not included."""
    body: list[ast.stmt] = _parsed(source).body
    found: ast.stmt | None = None
    for part in edit.function.split("."):
        found = next(
            (node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == part), None
        )
        if found is None:
            raise EditError(f"{edit}: there is no such function")
        body = found.body if isinstance(found, ast.FunctionDef | ast.ClassDef) else []
    assert found is not None
    return found.lineno - 1, found.end_lineno or found.lineno
