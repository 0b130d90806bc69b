"""Reads the folder of a catalogue overlay and holds it against its rules; nothing is made known to anybody here.

extension.json       name, operand types and operations of the extension
operations/foo.json  table of the operation FOO, in the form of this project's own
rules/foo.py         RULES: its clauses and output shapes (optional)
oracles/foo.py       a function foo: its expected values (optional)
vectors/foo.json     its vectors (optional)
"""

from __future__ import annotations

import functools
import keyword
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from npu_conformance.specs import documents
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.catalogue import ANY, Argument, OperationTable, Signature
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.extension_documents import (
    ExtensionDocument,
    ExtensionOperationDocument,
    OperandTypeDocument,
)
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.rules.clause import Rules
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.oracles.base import Oracle

FILE = "extension.json"
SINCE = Version.V1_2
"""The first version that has extensions."""

_PARTS = {"operations": ".json", "rules": ".py", "oracles": ".py", "vectors": ".json"}


@dataclass(frozen=True)
class OverlayOperation:
    """What the folder has of one operation. has_vectors: whether there is a file of them."""

    table: OperationTable
    rules: Rules | None
    oracle: Oracle | None
    has_vectors: bool


@dataclass(frozen=True)
class Overlay:
    """The content of a folder."""

    folder: Path
    document: ExtensionDocument
    operations: tuple[OverlayOperation, ...]


def read(folder: Path) -> Overlay:
    """Read a folder; raises DocumentError for the first rule that it breaks."""
    overlay, problems = examine(folder)
    if problems:
        raise problems[0]
    assert overlay is not None
    return overlay


def examine(folder: Path) -> tuple[Overlay | None, list[DocumentError]]:
    """Read a folder; every rule that it breaks, and its content where there is none."""
    problems: list[DocumentError] = []
    try:
        document = documents.read(folder / FILE, ExtensionDocument)
    except DocumentError as error:
        return None, [error]
    problems += _document_problems(document, str(folder / FILE))
    problems += _strangers(folder, document)
    operations = []
    for entry in document.operations:
        try:
            operations.append(_operation(folder, document, entry))
        except DocumentError as error:
            problems.append(error)
    return (None if problems else Overlay(folder, document, tuple(operations))), problems


def _document_problems(document: ExtensionDocument, file: str) -> Iterator[DocumentError]:
    in_use = {info.type.name for info in OPERAND_TYPES.values()}
    yield from _entry_problems(document.operand_types, set(OperandType.__members__), in_use, file, "$.operand_types")
    standard, in_use = set(OperationType.__members__), set(catalogue.names())
    yield from _entry_problems(document.operations, standard, in_use, file, "$.operations")
    for index, kind in enumerate(document.operand_types):
        size = int("".join(filter(str.isdigit, kind.dtype))) // 8
        if size != kind.byte_size:
            rule = f"an element of {kind.dtype} has {size} bytes, found {kind.byte_size}"
            yield DocumentError(file, f"$.operand_types[{index}].byte_size", rule)


def _entry_problems(
    entries: Sequence[OperandTypeDocument | ExtensionOperationDocument],
    standard: set[str],
    in_use: set[str],
    file: str,
    path: str,
) -> Iterator[DocumentError]:
    names, ids = [entry.name for entry in entries], [entry.id for entry in entries]
    for index, entry in enumerate(entries):
        if entry.name in standard:
            yield DocumentError(file, f"{path}[{index}].name", f"{entry.name} is a name of the standard")
        elif entry.name in in_use:
            yield DocumentError(file, f"{path}[{index}].name", f"{entry.name} belongs to another extension in use")
        if entry.name in names[:index]:
            yield DocumentError(file, f"{path}[{index}].name", f"the name {entry.name} occurs twice")
        if entry.id in ids[:index]:
            yield DocumentError(file, f"{path}[{index}].id", f"the id {entry.id} occurs twice")


def _strangers(folder: Path, document: ExtensionDocument) -> Iterator[DocumentError]:
    """Files of operations that the extension does not have: a slip in a name would go unnoticed."""
    known = {entry.name.lower() for entry in document.operations}
    for part, suffix in _PARTS.items():
        for path in sorted((folder / part).glob(f"*{suffix}")):
            if path.stem not in known:
                yield DocumentError(str(path), "", f"{FILE} has no operation {path.stem.upper()}")


def _operation(folder: Path, document: ExtensionDocument, entry: ExtensionOperationDocument) -> OverlayOperation:
    stem = entry.name.lower()
    path = folder / "operations" / f"{stem}.json"
    table = documents.read(path, OperationTable)
    _check_table(table, document, entry, str(path))
    return OverlayOperation(
        table,
        _rules(folder / "rules" / f"{stem}.py", document.name, entry.name),
        _oracle(folder / "oracles" / f"{stem}.py", document.name, stem),
        (folder / "vectors" / f"{stem}.json").exists(),
    )


def _check_table(
    table: OperationTable, document: ExtensionDocument, entry: ExtensionOperationDocument, file: str
) -> None:
    if table.name != entry.name:
        raise DocumentError(file, "$.name", f"expected {entry.name}, found {table.name}")
    if table.code != entry.id:
        raise DocumentError(file, "$.code", f"expected {entry.id}, the id in {FILE}, found {table.code}")
    if table.since < SINCE:
        raise DocumentError(file, "$.since", f"extensions came with HAL {SINCE}, found {table.since}")
    if not table.signatures:
        raise DocumentError(file, "$.signatures", "expected at least one signature")
    types = {info.type.name for info in OPERAND_TYPES.values()} | {kind.name for kind in document.operand_types}
    for index, signature in enumerate(table.signatures):
        _check_signature(signature, table, types, file, f"$.signatures[{index}]")


def _check_signature(signature: Signature, table: OperationTable, types: set[str], file: str, path: str) -> None:
    if not signature.types:
        raise DocumentError(file, f"{path}.types", "expected the type combinations of at least one version")
    for since, combinations in signature.types.items():
        if since < table.since:
            raise DocumentError(file, f"{path}.types", f"the operation came with HAL {table.since}, found {since}")
        for combination in combinations:
            for kind in combination.values():
                _check_type(kind, types, file, f"{path}.types.{since}")
            _check_arguments(signature.inputs, combination, types, file, f"{path}.inputs")
            _check_arguments(signature.outputs, combination, types, file, f"{path}.outputs")


def _check_arguments(
    arguments: Sequence[Argument], combination: Mapping[str, str], types: set[str], file: str, path: str
) -> None:
    for index, argument in enumerate(arguments):
        _check_type(combination.get(argument.type, argument.type), types, file, f"{path}[{index}].type")


def _check_type(kind: str, types: set[str], file: str, path: str) -> None:
    if kind in types or kind == ANY:
        return
    what = "a type variable that a combination leaves open" if len(kind) == 1 else "no operand type"
    raise DocumentError(file, path, f"{kind!r} is {what}")


def _rules(path: Path, extension: str, operation: str) -> Rules | None:
    if not path.exists():
        return None
    found = _attribute(path, f"{extension}.rules", "RULES")
    if not isinstance(found, Rules):
        raise DocumentError(str(path), "RULES", f"expected rules(...), found a {type(found).__name__}")
    for clause in found.clauses:
        if not clause.id.startswith(f"{operation}."):
            raise DocumentError(str(path), "RULES", f"the clauses are of {operation}, found {clause.id}")
    return found


def _oracle(path: Path, extension: str, stem: str) -> Oracle | None:
    if not path.exists():
        return None
    name = f"{stem}_" if keyword.iskeyword(stem) else stem
    found: Any = _attribute(path, f"{extension}.oracles", name)
    if not callable(found):
        raise DocumentError(str(path), name, f"expected a function, found a {type(found).__name__}")
    return _guarded(found, str(path))


def _guarded(function: Callable[..., Any], file: str) -> Oracle:
    """The oracle, with the user's file named where it fails."""

    @functools.wraps(function)
    def oracle(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except Exception as error:
            raise DocumentError(file, function.__name__, f"{type(error).__name__}: {error}") from error

    return oracle


def _attribute(path: Path, package: str, name: str) -> Any:
    module = _module(path, package)
    if not hasattr(module, name):
        raise DocumentError(str(path), name, "there is no such name in the file")
    return getattr(module, name)


def _module(path: Path, package: str) -> ModuleType:
    """Execute a file as a module of its own name, which no other module has, wherever sys.path leads."""
    name = f"npu_conformance_catalogue.{package}.{path.stem}"
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # dataclasses look up the module of a class there
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise DocumentError(str(path), _line(error, path), f"{type(error).__name__}: {error}") from None
    return module


def _line(error: BaseException, path: Path) -> str:
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}"
    import traceback

    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f"line {lines[-1]}" if lines else ""
