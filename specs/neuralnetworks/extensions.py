"""Catalogue overlays: a vendor's own extension, read from a folder and made known while it is in use.

`in_use` puts operations, operand types, rules, oracles and vectors of an extension beside those of the contract. A bad
folder raises DocumentError, `file: path: rule` in one line, and leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from npu_conformance.corpus import oracles, vectors
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.neuralnetworks import (
    catalogue,
    combinations,
    extension_codes,
    operand_types,
    rules,
    validate_operations,
)
from npu_conformance.specs.neuralnetworks.extension_codes import ExtensionOperandType, own_code
from npu_conformance.specs.neuralnetworks.extension_documents import OperandTypeDocument
from npu_conformance.specs.neuralnetworks.extension_reading import FILE, SINCE, Overlay, OverlayOperation, read
from npu_conformance.specs.neuralnetworks.operand_types import OperandTypeInfo
from npu_conformance.specs.neuralnetworks.types import Extension, ExtensionOperandTypeInformation


@dataclass(frozen=True)
class OwnExtension:
    """An extension in use.

    types: its operand types; operations: names of its operations; listed: as getSupportedExtensions has to say it.
    """

    name: str
    folder: Path
    types: tuple[OperandTypeInfo, ...]
    operations: tuple[str, ...]
    listed: Extension


_IN_USE: dict[str, OwnExtension] = {}


def all_in_use() -> tuple[OwnExtension, ...]:
    """The extensions in use, in the order in which they came."""
    return tuple(_IN_USE.values())


def find(name: str) -> OwnExtension | None:
    """The extension in use with this name."""
    return _IN_USE.get(name)


@contextmanager
def in_use(folders: Iterable[Path]) -> Iterator[tuple[OwnExtension, ...]]:
    """Use the extensions of these folders for a while; one that is in use already stays so afterwards.

    A folder may build on types of those before it. Raises DocumentError.
    """
    added: list[OwnExtension] = []
    try:
        found = []
        for folder in folders:
            before = len(_IN_USE)
            found.append(use(folder))
            added += found[-1:] if len(_IN_USE) > before else []
        yield tuple(found)
    finally:
        for extension in reversed(added):
            _forget(extension)


def use(folder: Path) -> OwnExtension:
    """Use the extension of a folder from now on; the same one where it is in use already. Raises DocumentError."""
    known = next((one for one in _IN_USE.values() if one.folder == folder.resolve()), None)
    return known or _add(read(folder))


def require(names: Iterable[str], what: str) -> None:
    """Raise DocumentError where an extension that something needs is not in use. what: names it in the message."""
    for name in names:
        if name not in _IN_USE:
            raise DocumentError(what, "", f"needs the extension {name}: give its folder with --catalogue DIR")


def _add(overlay: Overlay) -> OwnExtension:
    name = overlay.document.name
    if name in _IN_USE:
        raise DocumentError(str(overlay.folder / FILE), "$.name", f"{name} is in use from {_IN_USE[name].folder}")
    number = extension_codes.add_extension(name)
    types = tuple(_type_info(document, number) for document in overlay.document.operand_types)
    for info in types:
        operand_types.add_own(info)
    for operation in overlay.operations:
        _add_operation(operation, number, overlay.folder)
    _IN_USE[name] = OwnExtension(
        name,
        overlay.folder.resolve(),
        types,
        tuple(operation.table.name for operation in overlay.operations),
        Extension(name, tuple(_listed(document) for document in overlay.document.operand_types)),
    )
    return _IN_USE[name]


def _add_operation(operation: OverlayOperation, number: int, folder: Path) -> None:
    name = operation.table.name
    catalogue.add_own(msgspec.structs.replace(operation.table, code=own_code(number, operation.table.code)))
    if operation.rules is not None:
        rules.add_own(name, operation.rules)
    if operation.oracle is not None:
        oracles.add_own(name, operation.oracle)
    if operation.has_vectors:
        vectors.add_own(name, folder / "vectors")


def _forget(extension: OwnExtension) -> None:
    """Take back what `_add` did, and every answer that was worked out meanwhile."""
    del _IN_USE[extension.name]
    for name in extension.operations:
        catalogue.remove_own(name)
        rules.remove_own(name)
        oracles.remove_own(name)
        vectors.remove_own(name)
    for info in extension.types:
        operand_types.remove_own(info.type)
    extension_codes.remove_extension(extension.name)
    combinations.forget()
    validate_operations.match_types.cache_clear()


def _type_info(document: OperandTypeDocument, number: int) -> OperandTypeInfo:
    tolerance = (document.tolerance.atol, document.tolerance.rtol)
    kind = ExtensionOperandType.make(own_code(number, document.id), document.name, tolerance)
    return OperandTypeInfo(kind, SINCE, document.dtype, document.byte_size, document.is_tensor)


def _listed(document: OperandTypeDocument) -> ExtensionOperandTypeInformation:
    return ExtensionOperandTypeInformation(document.id, document.is_tensor, document.byte_size)
