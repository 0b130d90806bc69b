"""Reads external collections of vectors (`.jsonl.gz`): AOSP's specifications as plain JSON, one document on each line.

A broken line is a DocumentError, `file:line: path: rule`, and costs that line only.
"""

from __future__ import annotations

import base64
import binascii
import functools
import gzip
import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from npu_conformance.corpus.importers import jsonl_documents
from npu_conformance.corpus.vectors import (
    ChannelQuant,
    Example,
    Graph,
    HeaderOperand,
    Rejected,
    Vector,
    VectorHeader,
    VectorOperand,
    VectorOperation,
    completeness,
)
from npu_conformance.specs import documents
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.combinations import combination_since
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.extension_codes import AnyOperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.versions import NEWEST, Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

LARGEST = 1 << 30
"""Bytes of a collection when unpacked: a few MB can hold zeros without end."""
SUFFIX = ".jsonl.gz"
_AIDL = {1: Version.FL5, 2: Version.FL6, 3: Version.FL7, 4: Version.FL8}
_VERSION_FOLDER = re.compile(r"(V\d|AIDL_V)")
_ROLES = {
    "SUBGRAPH_INPUT": "input",
    "SUBGRAPH_OUTPUT": "output",
    "CONSTANT_COPY": "constant",
    "CONSTANT_REFERENCE": "constant",
    "NO_VALUE": "omitted",
}


class Collection:
    """One file of vectors. Its lines are read when first needed and kept; each is decoded when asked for."""

    def __init__(self, path: Path, lines: list[bytes] | None = None) -> None:
        """lines: those of a collection that is in no file; path then only names it."""
        self.path = path
        self._given = lines

    def headers(self) -> tuple[VectorHeader, ...]:
        """A header for each line that can be read, in order. Raises DocumentError where none of the lines can."""
        found = tuple(header for header in self._index.values() if isinstance(header, VectorHeader))
        if not found and self._index:
            raise next(iter(self.problems().values()))
        return found

    def problems(self) -> dict[int, DocumentError]:
        """What is wrong with the other lines, by their numbers from 1."""
        return {number: one for number, one in self._index.items() if isinstance(one, DocumentError)}

    def load(self, name: str) -> Vector:
        """The vector of a name; raises KeyError where there is none."""
        if name not in self._numbers:
            raise KeyError(f"{self.path} has no vector {name!r}")
        number, header = self._numbers[name]
        where = f"{self.path}:{number}"
        document = documents.decode(self._lines[number - 1], jsonl_documents.Document, where)
        return _vector(document, header, where)

    @functools.cached_property
    def _numbers(self) -> dict[str, tuple[int, VectorHeader]]:
        """Line and header of the first vector of each name."""
        readable = [(number, one) for number, one in self._index.items() if isinstance(one, VectorHeader)]
        return {header.name: (number, header) for number, header in reversed(readable)}

    @functools.cached_property
    def _lines(self) -> list[bytes]:
        if self._given is not None:
            return self._given
        try:
            with gzip.open(self.path) as file:
                content = documents.at_most(file, LARGEST)
        except gzip.BadGzipFile:
            raise DocumentError(str(self.path), "", f"expected gzipped JSON lines, a {SUFFIX} file") from None
        except (OSError, EOFError, zlib.error) as error:
            raise DocumentError(str(self.path), "", f"cannot be read: {error}") from None
        if content is None:
            raise DocumentError(str(self.path), "", f"it unpacks to more than {LARGEST >> 20} MiB: split it")
        return content.splitlines()

    @functools.cached_property
    def _index(self) -> dict[int, VectorHeader | DocumentError]:
        numbered = enumerate(self._lines, start=1)
        return {number: _header_or_problem(line, f"{self.path}:{number}") for number, line in numbered}


def collections(path: Path) -> tuple[Collection, ...]:
    """The collections of a directory, or the one in a file; raises DocumentError where there is none."""
    files = sorted(path.glob(f"[!.]*{SUFFIX}")) if path.is_dir() else [path]
    if not files or not files[0].exists():
        raise DocumentError(str(path), "", f"there is no {SUFFIX} file")
    for file in files:
        documents.readable(file, named=file == path)
    return tuple(Collection(file) for file in files)


def _header_or_problem(line: bytes, where: str) -> VectorHeader | DocumentError:
    try:
        document = documents.decode(line, jsonl_documents.HeaderDocument, where)
        since = _since(document, where)
        header = _header(document, since or NEWEST, where)
        return header if since else msgspec.structs.replace(header, since=_found_out(line, header, where))
    except DocumentError as problem:
        return problem


def _found_out(line: bytes, header: VectorHeader, where: str) -> Version:
    """The version in which the model becomes legal, where nothing states one; the newest where none is known to be."""
    from npu_conformance.corpus.wire_model import build_model
    from npu_conformance.specs.neuralnetworks.minimal_version import minimal_version

    try:
        vector = _vector(documents.decode(line, jsonl_documents.Document, where), header, where)
        return minimal_version(build_model(vector, NEWEST).model)
    except (DocumentError, ValueError):  # load says what is wrong, where something is; listing goes on
        return NEWEST


def _header(document: jsonl_documents.HeaderDocument, since: Version, where: str) -> VectorHeader:
    if not document.subgraphs:
        raise DocumentError(where, "$.subgraphs", "expected a main graph")
    main = document.subgraphs[0]
    names = _names(main.operands, where, "$.subgraphs[0].operands")
    operations = tuple(operation.type for operation in main.operations)
    if not operations:
        raise DocumentError(where, "$.subgraphs[0].operations", "expected at least one operation")
    boundary = [index for index in (*main.inputs, *main.outputs) if 0 <= index < len(main.operands)]
    return VectorHeader(
        operation=_under_test(operations),
        name=document.name,
        since=since,
        operations=operations,
        arguments=_pick(names, main.operations[0].inputs, where, "$.subgraphs[0].operations[0].inputs"),
        operands={name: _header_operand(part) for name, part in zip(names, main.operands, strict=True)},
        relaxed=document.is_relaxed,
        rejected=_rejected(document),
        description=document.spec_file,
        types=tuple(dict.fromkeys(main.operands[index].type for index in boundary)),
    )


def _header_operand(operand: jsonl_documents.HeaderOperand) -> HeaderOperand:
    role = "omitted" if operand.omitted else _ROLES.get(operand.lifetime, "temporary")
    return HeaderOperand(operand.type, operand.dimensions, role)


def _under_test(operations: tuple[str, ...]) -> str:
    """The last operation that is not ADD, which these collections use to make operands internal; else ADD."""
    return next((name for name in reversed(operations) if name != "ADD"), operations[-1])


def _since(document: jsonl_documents.HeaderDocument, where: str) -> Version | None:
    """The stated version, or a later one that an argument needs; None where none is stated.

    Versions are stated for a runtime, which strips arguments off the end that are equal to their defaults; a device
    sees them all.
    """
    stated = _stated(document, where)
    if stated is None:
        return None
    versions = [stated]
    for main in document.subgraphs[:1]:
        kinds = {index: operand.type for index, operand in enumerate(main.operands)}
        for operation in main.operations:
            inputs, outputs = (tuple(kinds.get(i, "") for i in part) for part in (operation.inputs, operation.outputs))
            versions.append(_needed(operation.type, inputs, outputs) or stated)
    return max(versions)


@functools.cache
def _needed(operation: str, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> Version | None:
    """The version that brought these arguments to an operation; None for what is in no catalogue, or not legal."""
    known = operation in catalogue.names() and {*inputs, *outputs} <= OperandType.__members__.keys()
    return combination_since(operation, inputs, outputs) if known else None


def _stated(document: jsonl_documents.About, where: str) -> Version | None:
    """The stated version; where none is stated (relaxed models), that of the directory; None if that names none."""
    stated = document.hal_version if document.hal_version != "UNKNOWN" else document.spec_dir
    if stated is document.spec_dir and not _VERSION_FOLDER.match(stated):
        return None
    try:
        family, major = stated.split("_")[:2]
        if family == "AIDL":
            return _AIDL[int(major.removeprefix("V"))]
        return Version(f"{family.removeprefix('V')}.{major}")
    except (KeyError, ValueError):
        raise DocumentError(where, "$.hal_version", f"unknown version {stated!r}") from None


def _rejected(document: jsonl_documents.About) -> Rejected | None:
    if not document.expect_failure or document.test_kind == "infinite_loop_timeout":
        return None
    return Rejected("", "execution")


def _names(operands: tuple[jsonl_documents.HeaderOperand, ...], where: str, path: str) -> list[str]:
    """A unique name for each operand, in order of their indexes."""
    names: dict[str, None] = {}
    for position, operand in enumerate(operands):
        if operand.index != position:
            raise DocumentError(where, f"{path}[{position}].index", f"expected {position}, found {operand.index}")
        names[_free(operand.name or f"operand{position}", names, position)] = None
    return list(names)


def _free(name: str, taken: Mapping[str, object], number: int) -> str:
    """The name, or the first that is free of those with this number or a higher one."""
    chosen = name
    while chosen in taken:
        chosen = f"{name}_{number}"
        number += 1
    return chosen


def _pick(names: list[str], indexes: tuple[int, ...], where: str, path: str) -> tuple[str, ...]:
    for position, index in enumerate(indexes):
        if not 0 <= index < len(names):
            raise DocumentError(where, f"{path}[{position}]", f"there is no operand {index}")
    return tuple(names[index] for index in indexes)


def _vector(document: jsonl_documents.Document, header: VectorHeader, where: str) -> Vector:
    graphs = [
        _graph(part, len(document.subgraphs), where, f"$.subgraphs[{position}]")
        for position, part in enumerate(document.subgraphs)
    ]
    main = graphs[0]
    completeness.require_kind(document.test_kind, header.operations, where, "$.test_kind")
    if not header.rejected:
        completeness.require_examples(document.examples, where)
    ignored = [
        name for name, operand in zip(main.operands, document.subgraphs[0].operands, strict=True) if operand.is_ignored
    ]
    examples = tuple(
        _example(example, main, bool(header.rejected), where, f"$.examples[{position}]")
        for position, example in enumerate(document.examples)
    )
    return Vector(
        name=header.name,
        operation=header.operation,
        since=header.since,
        operands=main.operands,
        operations=main.operations,
        inputs=main.inputs,
        outputs=main.outputs,
        examples=examples,
        witnesses=("aosp",),
        rejected=header.rejected,
        relaxed=header.relaxed,
        ignored=tuple(ignored),
        referenced=tuple(graphs[1:]),
        description=header.description,
        kind=document.test_kind,
        multinomial_tolerance=document.expected_multinomial_distribution_tolerance,
    )


def _graph(document: jsonl_documents.Graph, graphs: int, where: str, path: str) -> Graph:
    names = _names(document.operands, where, f"{path}.operands")
    operands = {
        name: _operand(operand, graphs, where, f"{path}.operands[{operand.index}]")
        for name, operand in zip(names, document.operands, strict=True)
    }
    operations = []
    for position, operation in enumerate(document.operations):
        here = f"{path}.operations[{position}]"
        if operation.type not in OperationType.__members__:
            raise DocumentError(where, f"{here}.type", f"unknown operation {operation.type!r}")
        inputs = _pick(names, operation.inputs, where, f"{here}.inputs")
        outputs = _pick(names, operation.outputs, where, f"{here}.outputs")
        operations.append(VectorOperation(operation.type, inputs, outputs))
    inputs = _pick(names, document.inputs, where, f"{path}.inputs")
    return Graph(operands, tuple(operations), inputs, _pick(names, document.outputs, where, f"{path}.outputs"))


def _operand(document: jsonl_documents.Operand, graphs: int, where: str, path: str) -> VectorOperand:
    if document.type not in OperandType.__members__:
        raise DocumentError(where, f"{path}.type", f"unknown operand type {document.type!r}")
    kind, quant, reference = OperandType[document.type], document.channel_quant, document.referenced_index
    if reference is not None and not 0 <= reference < graphs - 1:
        raise DocumentError(where, f"{path}.referenced_index", f"there is no referenced graph {reference}")
    operand = VectorOperand(
        kind,
        document.dimensions,
        _scale(document.scale, where, path),
        document.zero_point,
        ChannelQuant(tuple(_scale(one, where, path) for one in quant.scales), quant.channel_dim) if quant else None,
        omitted=document.omitted or document.lifetime == "NO_VALUE",
        subgraph=reference,
    )
    if _ROLES.get(document.lifetime) != "constant":
        return operand
    return operand.with_value(_fitting(document.data, operand, where, f"{path}.data"))


def _scale(scale: float, where: str, path: str) -> float:
    from npu_conformance.corpus.vectors.element_values import ValueRuleError, float32

    try:
        return float32(scale)
    except ValueRuleError as error:
        raise DocumentError(where, path, str(error)) from None


def _fitting(data: jsonl_documents.Data | None, operand: VectorOperand, where: str, path: str) -> Array:
    array = _array(data, operand.type, where, path)
    completeness.require_fitting(operand, array.shape, where, path)
    return array


def _array(data: jsonl_documents.Data | None, kind: AnyOperandType, where: str, path: str) -> Array:
    import numpy

    if data is None or (data.values is None and data.b64 is None):
        raise DocumentError(where, path, "expected values or b64")
    dtype = numpy.dtype(OPERAND_TYPES[kind].dtype)
    try:
        if data.b64 is not None:
            return numpy.frombuffer(base64.b64decode(data.b64, validate=True), dtype).reshape(data.shape)
        with numpy.errstate(over="raise"):
            return numpy.array(data.values, dtype).reshape(data.shape)
    except FloatingPointError:
        raise DocumentError(where, path, f"there is a number that is too large for {dtype}") from None
    except (ValueError, OverflowError, binascii.Error) as error:
        raise DocumentError(where, path, str(error)) from None


def _example(document: jsonl_documents.Example, main: Graph, rejected: bool, where: str, path: str) -> Example:
    inputs = _arrays(document.inputs, main.operands, where, f"{path}.inputs")
    completeness.require_inputs(inputs, main, where, f"{path}.inputs")
    if rejected:
        return Example(inputs, {})
    outputs = _arrays(document.outputs, main.operands, where, f"{path}.outputs")
    completeness.require_outputs(outputs, main, where, f"{path}.outputs")
    return Example(inputs, outputs)


def _arrays(
    data: Mapping[int, jsonl_documents.Data], operands: Mapping[str, VectorOperand], where: str, path: str
) -> dict[str, Array]:
    names, arrays = list(operands), {}
    for index, part in data.items():
        if not 0 <= index < len(names):
            raise DocumentError(where, f"{path}.{index}", "there is no such operand")
        if not part.omitted:
            name = names[index]
            arrays[name] = _fitting(part, operands[name], where, f"{path}.{index}")
    return arrays
