"""A vendor's own extension, read from a folder and checked against its rules: the part that a driver knows, too.

extension.json       name, operand types and operations of the extension
operations/foo.json  table of the operation FOO, in the form of this project's own
rules/foo.py         RULES: its clauses and output shapes (optional)
oracles/foo.py       a function foo: its expected values (optional)
vectors/foo.json     its vectors (optional)

Oracles and vectors are the corpus's: see `corpus.extensions`. A bad folder raises DocumentError, `file: path: rule`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from npu_conformance.specs import documents
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.neuralnetworks import catalogue, registered_extensions, rules
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.extension_codes import ExtensionOperandType, registered_code
from npu_conformance.specs.neuralnetworks.extension_documents import (
    ExtensionDocument,
    ExtensionOperationDocument,
    OperandTypeDocument,
)
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, OperandTypeInfo
from npu_conformance.specs.neuralnetworks.operation_tables import ANY, Argument, OperationTable, Signature
from npu_conformance.specs.neuralnetworks.registered_extensions import PARTS, RegisteredExtension
from npu_conformance.specs.neuralnetworks.types import Extension, ExtensionOperandTypeInformation
from npu_conformance.specs.versions import Version

FILE = "extension.json"
SINCE = Version.V1_2
"""The first version that has extensions."""


def register(folder: Path) -> RegisteredExtension:
    """Register the extension of a folder from now on, unless it is registered already. Raises DocumentError."""
    extension = find(folder)
    if extension is None:
        extension = read(folder)
        registered_extensions.register(extension)
    return extension


def find(folder: Path) -> RegisteredExtension | None:
    """The registered extension of a folder."""
    registered = registered_extensions.all_registered()
    return next((extension for extension in registered if extension.folder.resolve() == folder.resolve()), None)


def read(folder: Path) -> RegisteredExtension:
    """Read a folder, for somebody to register it. Raises DocumentError for the first rule that it breaks."""
    extension, problems = examine(folder)
    if extension is None or problems:
        raise problems[0]
    return extension


def examine(folder: Path) -> tuple[RegisteredExtension | None, list[DocumentError]]:
    """Read a folder: its content, None where extension.json cannot be read, and every rule that it breaks."""
    try:
        document = documents.read(folder / FILE, ExtensionDocument)
    except DocumentError as error:
        return None, [error]
    tables, table_problems = _tables(folder, document)
    extension = _extension(folder, document, tables)
    problems = [*_document_problems(document, str(folder / FILE)), *_unknown_files(folder, document), *table_problems]
    return extension, [*problems, *problems_of(extension, rules.of_extension)]


def problems_of(
    extension: RegisteredExtension, read_file: Callable[[RegisteredExtension, str], object]
) -> Iterator[DocumentError]:
    """What is wrong with the files of each operation that `read_file` reads: rules, or oracles."""
    for operation in extension.operations:
        try:
            read_file(extension, operation)
        except DocumentError as error:
            yield error


def _tables(folder: Path, document: ExtensionDocument) -> tuple[list[OperationTable], list[DocumentError]]:
    """The tables that are sound, as they are written, and what is wrong with the others."""
    tables, problems = [], []
    for entry in document.operations:
        path = folder / "operations" / f"{entry.name.lower()}.json"
        try:
            table = documents.read(path, OperationTable)
            _check_table(table, document, entry, str(path))
            tables.append(table)
        except DocumentError as error:
            problems.append(error)
    return tables, problems


def _extension(folder: Path, document: ExtensionDocument, tables: Sequence[OperationTable]) -> RegisteredExtension:
    number = registered_extensions.new_number()
    return RegisteredExtension(
        document.name,
        number,
        folder,
        tuple(_type_info(entry, number) for entry in document.operand_types),
        tuple(replace(table, code=registered_code(number, table.code)) for table in tables),
        Extension(document.name, tuple(_listed(entry) for entry in document.operand_types)),
    )


def _type_info(document: OperandTypeDocument, number: int) -> OperandTypeInfo:
    tolerance = (document.tolerance.atol, document.tolerance.rtol)
    kind = ExtensionOperandType.make(registered_code(number, document.id), document.name, tolerance)
    return OperandTypeInfo(kind, SINCE, document.dtype, document.byte_size, document.is_tensor)


def _listed(document: OperandTypeDocument) -> ExtensionOperandTypeInformation:
    return ExtensionOperandTypeInformation(document.id, document.is_tensor, document.byte_size)


def _document_problems(document: ExtensionDocument, file: str) -> Iterator[DocumentError]:
    types, operations = {info.type.name for info in OPERAND_TYPES.values()}, set(catalogue.names())
    yield from _entry_problems(document.operand_types, set(OperandType.__members__), types, file, "$.operand_types")
    yield from _entry_problems(document.operations, set(OperationType.__members__), operations, file, "$.operations")
    for index, kind in enumerate(document.operand_types):
        size = int("".join(filter(str.isdigit, kind.dtype))) // 8
        if size != kind.byte_size:
            rule = f"an element of {kind.dtype} has {size} bytes, found {kind.byte_size}"
            yield DocumentError(file, f"$.operand_types[{index}].byte_size", rule)
    known = registered_extensions.find(document.name)
    if known is not None:
        yield DocumentError(file, "$.name", f"{known.name} is registered from {known.folder}")


def _entry_problems(
    entries: Sequence[OperandTypeDocument | ExtensionOperationDocument],
    standard: set[str],
    registered: set[str],
    file: str,
    path: str,
) -> Iterator[DocumentError]:
    names, ids = [entry.name for entry in entries], [entry.id for entry in entries]
    for index, entry in enumerate(entries):
        if entry.name in standard:
            yield DocumentError(file, f"{path}[{index}].name", f"{entry.name} is a name of the standard")
        elif entry.name in registered:
            yield DocumentError(file, f"{path}[{index}].name", f"{entry.name} belongs to another registered extension")
        if entry.name in names[:index]:
            yield DocumentError(file, f"{path}[{index}].name", f"the name {entry.name} occurs twice")
        if entry.id in ids[:index]:
            yield DocumentError(file, f"{path}[{index}].id", f"the id {entry.id} occurs twice")


def _unknown_files(folder: Path, document: ExtensionDocument) -> Iterator[DocumentError]:
    """Files that belong to no operation of the extension: without this check a misspelt name would go undetected."""
    known = {entry.name.lower() for entry in document.operations}
    for part, suffix in PARTS.items():
        for path in sorted((folder / part).glob(f"[!.]*{suffix}")):
            if path.stem not in known:
                yield DocumentError(str(path), "", f"{FILE} has no operation {path.stem.upper()}")


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
