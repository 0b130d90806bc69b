"""Vectors: stored models with examples and expected values, one JSON file per operation in vectors/.

Listing (`operations`, `headers`) decodes only what it needs and does not import numpy; `load` gives one whole Vector.
Bad files raise DocumentError: `document: path: rule`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from npu_conformance.corpus import hazards
from npu_conformance.specs import documents
from npu_conformance.specs.documents.vectors import (
    GeneratorDocument,
    HeaderDocument,
    HeaderFile,
    Kind,
    Phase,
    RejectedDocument,
    VectorDocument,
    VectorFile,
)
from npu_conformance.specs.neuralnetworks.extension_codes import AnyOperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.versions import NEWEST, Version, parse

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, Any]

FOLDER = Path(__file__).parent

_OWN: dict[str, Path] = {}
"""Where the vectors of operations of extensions in use are, by operation."""


@dataclass(frozen=True, slots=True)
class ChannelQuant:
    """One scale for each index of dimension channel_dim. The scales are exact float32 values."""

    scales: tuple[float, ...]
    channel_dim: int


@dataclass(frozen=True, slots=True, eq=False)
class VectorOperand:
    """One operand of a graph. scale is an exact float32 value; a dimension of 0 is unknown.

    value: the constant's elements, in the type's numpy dtype and the operand's shape, or None.
    omitted: without a value; as a model input it is sent with hasNoValue, elsewhere its lifetime is NO_VALUE.
    subgraph: index into the vector's referenced graphs, for type SUBGRAPH.
    extension: parameters of an operand of an extension's type, or None.
    """

    type: AnyOperandType
    dimensions: tuple[int, ...] = ()
    scale: float = 0.0
    zero_point: int = 0
    channel_quant: ChannelQuant | None = None
    value: Array | None = None
    omitted: bool = False
    subgraph: int | None = None
    extension: bytes | None = None

    @property
    def is_open(self) -> bool:
        """True for a tensor whose rank or one of whose sizes the model leaves open."""
        return OPERAND_TYPES[self.type].is_tensor and (not self.dimensions or 0 in self.dimensions)


@dataclass(frozen=True, slots=True)
class VectorOperation:
    """One operation: the name of its type and of its operands; an argument may occur twice."""

    type: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Operands by name, operations in an order of execution, names of the graph's inputs and outputs."""

    operands: Mapping[str, VectorOperand]
    operations: tuple[VectorOperation, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """Arrays by operand name, in the operand's dtype and shape. Omitted inputs are not listed."""

    inputs: Mapping[str, Array]
    outputs: Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class Rejected:
    """What must be refused, and when: model (at preparation) or execution (there at the latest).

    clause is empty where an external collection does not say why. until: the last version that refuses it.
    """

    clause: str
    phase: Phase
    until: Version = NEWEST


@dataclass(frozen=True, slots=True, eq=False)
class Vector:
    """A model with examples. operation: the one under test; since: the first version in which the model is legal.

    ignored: outputs whose values are not compared. excluded: variations that its data does not allow.
    kind: general, multinomial (samples, of which only the distribution counts: see distributions), or validation and
    infinite_loop_timeout, which only external collections have. multinomial_tolerance: how far a class may be off.
    """

    name: str
    operation: str
    since: Version
    operands: Mapping[str, VectorOperand]
    operations: tuple[VectorOperation, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    examples: tuple[Example, ...] = ()
    witnesses: tuple[str, ...] = ()
    rejected: Rejected | None = None
    relaxed: bool = False
    ignored: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    referenced: tuple[Graph, ...] = ()
    description: str = ""
    hazards: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    kind: Kind = "general"
    multinomial_tolerance: float = 0.0
    generators: Mapping[str, GeneratorDocument] = field(default_factory=dict)
    """Which inputs and constants are made from a seed, so that they can be written as such again."""

    @property
    def main(self) -> Graph:
        """The main graph."""
        return Graph(self.operands, self.operations, self.inputs, self.outputs)

    @property
    def graphs(self) -> tuple[Graph, ...]:
        """The main graph, then the referenced ones."""
        return (self.main, *self.referenced)


class HeaderOperand(msgspec.Struct, frozen=True):
    """What listing knows of an operand.

    role: input, output, constant, temporary or omitted. scalar: the value of a stored constant scalar, else None.
    """

    type: str
    dimensions: tuple[int, ...]
    role: str
    scalar: float | None = None


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


def operations(folder: Path = FOLDER) -> tuple[str, ...]:
    """Names of the operations with stored vectors, sorted."""
    return tuple(sorted(path.stem.upper() for path in folder.glob("*.json")))


def own_operations() -> tuple[str, ...]:
    """Names of the operations of extensions in use that have vectors."""
    return tuple(_OWN)


def add_own(operation: str, folder: Path) -> None:
    """Say where the vectors of an extension's operation are."""
    _OWN[operation] = folder


def remove_own(operation: str) -> None:
    """Forget the vectors of an extension's operation, and every vector that was read."""
    _OWN.pop(operation, None)
    for cached in (_headers, _file, load):
        cached.cache_clear()


def headers(operation: str, folder: Path = FOLDER) -> tuple[VectorHeader, ...]:
    """The headers of one operation's vectors in the file's order; raises DocumentError for a bad file."""
    return _headers(operation, _OWN.get(operation, folder))


@functools.cache
def _headers(operation: str, folder: Path) -> tuple[VectorHeader, ...]:
    path = path_of(operation, folder)
    document = documents.read(path, HeaderFile)
    return tuple(_header(document.operation, vector, str(path)) for vector in document.vectors)


def all_headers(folder: Path = FOLDER) -> Iterator[VectorHeader]:
    """The headers of all stored vectors, by operation."""
    for operation in operations(folder):
        yield from headers(operation, folder)


@functools.lru_cache(maxsize=256)
def load(operation: str, name: str, folder: Path = FOLDER) -> Vector:
    """One vector by its name; raises KeyError where there is none and DocumentError for a bad file."""
    from npu_conformance.corpus.vectors import loading

    where = f"{path_of(operation, _OWN.get(operation, folder))}: {name}"
    return loading.vector(operation, load_document(operation, name, folder), where)


def load_document(operation: str, name: str, folder: Path = FOLDER) -> VectorDocument:
    """The document of one vector by its name; raises KeyError where there is none and DocumentError for a bad file."""
    by_name = _file(operation, _OWN.get(operation, folder))
    if name not in by_name:
        raise KeyError(f"{operation} has no vector {name!r}")
    return by_name[name]


def path_of(operation: str, folder: Path = FOLDER) -> Path:
    """The file that holds the vectors of an operation."""
    return folder / f"{operation.lower()}.json"


def parse_since(text: str, document: str) -> Version:
    """The version spelled `text`; raises DocumentError."""
    try:
        return parse(text)
    except ValueError as error:
        raise documents.DocumentError(document, "$.since", str(error)) from None


def rejected_of(document: RejectedDocument | None, where: str) -> Rejected | None:
    """What the document of a vector says about its refusal; raises DocumentError."""
    if document is None:
        return None
    until = parse_since(document.until, where) if document.until else NEWEST
    return Rejected(document.clause, document.phase, until)


@functools.cache
def _file(operation: str, folder: Path) -> Mapping[str, VectorDocument]:
    path = path_of(operation, folder)
    document = documents.read(path, VectorFile)
    if document.operation != operation:
        raise documents.DocumentError(str(path), "$.operation", f"expected {operation}, found {document.operation}")
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
    )


def _scalar(operand: Any) -> float | None:
    value = bytes(operand.value)
    # A scalar is a list of one number; a float that JSON can not hold, a quoted word, tells nothing here.
    return float(value[1:-1]) if value and not operand.dimensions and value[1:2] != b'"' else None


def _role(name: str, operand: Any, vector: HeaderDocument) -> str:
    if operand.omitted:
        return "omitted"
    if name in vector.inputs:
        return "input"
    if name in vector.outputs:
        return "output"
    return "constant" if bytes(operand.value) else "temporary"
