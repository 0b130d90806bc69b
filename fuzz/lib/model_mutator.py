"""Seeds and mutations of models as JSON: the stored vectors' models, changed field by field and joined in pairs."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from npu_conformance.corpus import vectors
from npu_conformance.corpus.constant_layouts import CONSTANT_ALIGNMENT
from npu_conformance.corpus.vectors import VectorHeader
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.json_edits import Grammar, bytes_edit, edit
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.versions import Version

_LARGEST_SEED = 1 << 14
_TIMES = (1, 1, 1, 2, 4)
"""How often another model is joined."""
_POOL = {"kind": "ashmem", "size": 4096, "token": 1, "prot": 3, "offset": 0, "description": None}
_CHANNEL_QUANT = {"channelQuant": {"scales": [0.5, 0.25], "channelDim": 0}, "extension": None}
_LONG_NAME = "vendor." + "x" * 300
_EMPTY_GRAPH: dict[str, Any] = {"operands": [], "operations": [], "inputIndexes": [], "outputIndexes": []}

_TYPES = (*map(int, OperandType), 20, 0x10001)
_GRAMMAR = Grammar(
    integers={"type": (*_TYPES, *map(int, OperationType)), "lifetime": tuple(range(-1, 8))},
    templates={
        "extraParams": (None, _CHANNEL_QUANT, {"channelQuant": None, "extension": "AAE="}),
        "pools": ([], [_POOL], [_POOL, {**_POOL, "size": 0}]),
        "referenced": ([], [_EMPTY_GRAPH]),
        "extensionNameToPrefix": ([], *([{"name": name, "prefix": 1}] for name in ("vendor.example", _LONG_NAME))),
    },
    encoded=frozenset({"operandValues", "extension"}),
)


def seeds(version: Version, *, one_each: bool = False) -> list[bytes]:
    """Models of stored vectors that are legal in the version and not large, as JSON.

    One for each operation and combination of types; one_each: one for each operation.
    """
    built = (
        msgspec.json.encode(build_model(vectors.load(header.operation, header.name), version).model)
        for header in headers(version, one_each=one_each)
    )
    return [data for data in built if len(data) <= _LARGEST_SEED]


def headers(version: Version, *, one_each: bool) -> Iterator[VectorHeader]:
    """Headers of the vectors whose models are legal in the version; see seeds."""
    for operation in vectors.operations():
        legal = [header for header in vectors.headers(operation) if header.rejected is None]
        legal = [header for header in legal if header.since <= version]
        distinct = list({header.types: header for header in reversed(legal)}.values())
        yield from distinct[-1:] if one_each else distinct


def mutate(data: bytes, choices: Choices, others: Sequence[bytes], max_size: int) -> bytes:
    """A changed model; every eighth is valid where those are that it is made of, since limits show in large ones.

    What is not JSON, or grows beyond max_size bytes, is changed as bytes.
    """
    document = _document(data)
    if document is None:
        return bytes_edit(bytearray(data), choices)[:max_size]
    kind = choices.below(8)
    if others and kind >= 6:
        other = _document(choices.pick(others)) or {}
        for _ in range(choices.pick(_TIMES)):
            document = _joined(document, other)
    for _ in range(0 if kind == 7 else choices.pick((1, 1, 2))):
        edit(document, choices, _GRAMMAR)
    try:
        changed = msgspec.json.encode(document)
    except (OverflowError, RecursionError):
        return data
    return changed if len(changed) <= max_size else bytes_edit(bytearray(data), choices)[:max_size]


def _document(data: bytes) -> dict[str, Any] | None:
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _joined(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Both models side by side in one: valid where both are. The first alone where one is no model any more."""
    try:
        main, referenced = first["main"], first["referenced"]
        values = _aligned(base64.b64decode(first["operandValues"]))
        moved = _moved(second["main"], len(main["operands"]), len(values), len(referenced))
        joined = {name: [*main[name], *moved[name]] for name in _EMPTY_GRAPH}
        referenced = [*referenced, *(_moved(one, 0, len(values), len(referenced)) for one in second["referenced"])]
        values += base64.b64decode(second["operandValues"])
    except (KeyError, TypeError, ValueError):
        return first
    encoded = base64.b64encode(values).decode()
    return {**first, "main": joined, "referenced": referenced, "operandValues": encoded}


def _aligned(data: bytes) -> bytes:
    return data + bytes(-len(data) % CONSTANT_ALIGNMENT)


def _moved(graph: dict[str, Any], operands: int, offset: int, graphs: int) -> dict[str, Any]:
    """A graph in another place.

    operands, graphs: from where its operands, and the graphs that it refers to, are counted there. offset: how many
    bytes further on its constants lie.
    """

    def place(operand: dict[str, Any]) -> dict[str, Any]:
        location = operand["location"]
        further = graphs if operand["type"] == OperandType.SUBGRAPH else offset if location["length"] else 0
        return {**location, "offset": location["offset"] + further}

    def indexes(found: list[int]) -> list[int]:
        return [index + operands for index in found]

    return {
        "operands": [{**operand, "location": place(operand)} for operand in graph["operands"]],
        "operations": [
            {**part, "inputs": indexes(part["inputs"]), "outputs": indexes(part["outputs"])}
            for part in graph["operations"]
        ],
        "inputIndexes": indexes(graph["inputIndexes"]),
        "outputIndexes": indexes(graph["outputIndexes"]),
    }
