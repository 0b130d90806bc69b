"""Vectors: stored models with examples and expected values, one JSON file per operation in this folder.

Listing (`operations`, `headers`) decodes only what it needs and does not import numpy; `load` gives one whole Vector.
Bad files raise DocumentError: `document: path: rule`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from npu_conformance.corpus import hazards
from npu_conformance.corpus.vector_types import (
    ChannelQuant,
    Example,
    Graph,
    Rejected,
    Vector,
    VectorOperand,
    VectorOperation,
)
from npu_conformance.corpus.vectors.fields import parse_since, rejected_of
from npu_conformance.specs import documents
from npu_conformance.specs.documents.vectors import HeaderDocument, HeaderFile, VectorDocument, VectorFile
from npu_conformance.specs.neuralnetworks.registered_extensions import all_registered, cached_while_registered
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array as Array

__all__ = [
    "FOLDER",
    "ChannelQuant",
    "Example",
    "Graph",
    "HeaderOperand",
    "Rejected",
    "Vector",
    "VectorHeader",
    "VectorOperand",
    "VectorOperation",
    "all_headers",
    "forget",
    "headers",
    "load",
    "operations",
    "path_of",
    "registered_operations",
]

FOLDER = Path(__file__).parent

_KEPT = 8192
"""All stored vectors and more: one area after the other meets them, so that of fewer none would be met again."""


class HeaderOperand(msgspec.Struct, frozen=True):
    """What listing knows of an operand.

    role: input, output, constant, temporary or omitted. scalar: the value of a stored constant scalar, else None.
    """

    type: str
    dimensions: tuple[int, ...]
    role: str
    scalar: float | None = None

    @property
    def is_open(self) -> bool:
        """True for a given tensor whose rank or one of whose sizes the model leaves open."""
        is_given_tensor = self.type.startswith("TENSOR_") and self.role != "omitted"
        return is_given_tensor and (not self.dimensions or 0 in self.dimensions)


class VectorHeader(msgspec.Struct, frozen=True):
    """What listing and choosing need of a vector; operations are the names of all operations of the main graph."""

    operation: str
    name: str
    since: Version
    operations: tuple[str, ...]
    arguments: tuple[str, ...]
    operands: Mapping[str, HeaderOperand]
    relaxed: bool = False
    rejected: Rejected | None = None
    excluded: tuple[str, ...] = ()
    description: str = ""
    hazards: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    """Names of the tensor types of the model's inputs and outputs, each once."""
    taken_by: tuple[str, ...] = ()
    """See Vector."""


def operations(folder: Path = FOLDER) -> tuple[str, ...]:
    """Names of the operations with stored vectors, sorted. Hidden files, such as the locks of editors, are none."""
    return tuple(sorted(path.stem.upper() for path in folder.glob("[!.]*.json")))


def registered_operations() -> tuple[str, ...]:
    """Names of the operations of registered extensions that have vectors."""
    return tuple(_registered())


@cached_while_registered()
def _registered() -> dict[str, Path]:
    """Where the vectors of operations of registered extensions are, by operation."""
    files = {name: extension.file("vectors", name) for extension in all_registered() for name in extension.operations}
    return {name: file.parent for name, file in files.items() if file.exists()}


def headers(operation: str, folder: Path = FOLDER) -> tuple[VectorHeader, ...]:
    """The headers of one operation's vectors in the file's order; raises DocumentError for a bad file."""
    return _headers(operation, _registered().get(operation, folder))


@cached_while_registered()
def _headers(operation: str, folder: Path) -> tuple[VectorHeader, ...]:
    path = path_of(operation, folder)
    document = documents.read(path, HeaderFile)
    return tuple(_header(document.operation, vector, str(path)) for vector in document.vectors)


def all_headers() -> Iterator[VectorHeader]:
    """The headers of all stored vectors, by operation."""
    for operation in operations():
        yield from headers(operation)


@cached_while_registered(maxsize=_KEPT)
def load(operation: str, name: str, folder: Path = FOLDER) -> Vector:
    """One vector by its name; raises KeyError where there is none and DocumentError for a bad file."""
    from npu_conformance.corpus.vectors import loading

    folder = _registered().get(operation, folder)
    where = f"{path_of(operation, folder)}: {name}"
    return loading.vector(operation, load_document(operation, name, folder), where)


def load_document(operation: str, name: str, folder: Path = FOLDER) -> VectorDocument:
    """The document of one vector by its name; raises KeyError where there is none and DocumentError for a bad file."""
    by_name = _file(operation, _registered().get(operation, folder))
    if name not in by_name:
        raise KeyError(f"{operation} has no vector {name!r}")
    return by_name[name]


def forget() -> None:
    """Read files anew when they are asked for again: for those that change while the process runs."""
    for cache in (_headers, _file, load):
        cache.cache_clear()


def path_of(operation: str, folder: Path = FOLDER) -> Path:
    """The file that holds the vectors of an operation."""
    return folder / f"{operation.lower()}.json"


@cached_while_registered()
def _file(operation: str, folder: Path) -> Mapping[str, VectorDocument]:
    path = path_of(operation, folder)
    document = documents.read(path, VectorFile)
    if document.operation != operation:
        raise documents.DocumentError(
            str(path), "$.operation", f"expected {operation}, as the file is called, found {document.operation}"
        )
    by_name = {vector.name: vector for vector in document.vectors}
    if len(by_name) != len(document.vectors):
        names = [vector.name for vector in document.vectors]
        twice = next(name for name in names if names.count(name) > 1)
        raise documents.DocumentError(str(path), "$.vectors", f"the name {twice!r} occurs twice")
    return by_name


def _header(operation: str, vector: HeaderDocument, document: str) -> VectorHeader:
    operands = {
        name: HeaderOperand(operand.type, operand.dimensions, _role(name, operand, vector), _scalar(operand))
        for name, operand in vector.operands.items()
    }
    boundary = (*vector.inputs, *vector.outputs)
    types = dict.fromkeys(operands[name].type for name in boundary if name in operands)
    whole = tuple(name for name in operands if name not in vector.outputs)
    return VectorHeader(
        operation=operation,
        name=vector.name,
        since=parse_since(vector.since, document),
        operations=tuple(part.type for part in vector.operations) or (operation,),
        arguments=vector.operations[0].inputs if vector.operations else whole,
        operands=operands,
        relaxed=vector.relaxed,
        rejected=rejected_of(vector.rejected, document),
        excluded=vector.excluded,
        description=vector.description,
        hazards=hazards.names_of(vector.traps, document),
        requirements=vector.requirements,
        types=tuple(types),
        taken_by=vector.taken_by,
    )


def _scalar(operand: Any) -> float | None:
    value = bytes(operand.value)
    if not value or operand.dimensions:
        return None
    try:
        return float(value[1:-1])  # a scalar is a list of one number
    except ValueError:  # a quoted word for a float that JSON cannot hold tells nothing here; `load` refuses the rest
        return None


def _role(name: str, operand: Any, vector: HeaderDocument) -> str:
    if operand.omitted:
        return "omitted"
    if name in vector.inputs:
        return "input"
    if name in vector.outputs:
        return "output"
    return "constant" if bytes(operand.value) else "temporary"
