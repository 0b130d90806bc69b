"""Writes corpus/vectors from the generators, and witnesses into it: the same bytes each time, a few lines a vector."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec

from npu_conformance.corpus import generators, hazards
from npu_conformance.corpus.vectors import (
    FOLDER,
    Example,
    Graph,
    Vector,
    VectorOperand,
    VectorOperation,
    element_values,
    path_of,
)
from npu_conformance.specs import documents
from npu_conformance.specs.documents import Document
from npu_conformance.specs.versions import NEWEST

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

_OF_GENERATORS = ("closed_form", "oracle")
"""Witnesses that generators name. The others are engines that were found to agree (`vectors witness --record`)."""
_UNSEEN = {"since", "description", "traps", "requirements", "excluded", "witnesses", "taken_by"}
"""What an engine does not see of a vector: where only this changes, the engine still agrees."""


class _Stored(Document, frozen=True):
    operation: str
    vectors: list[dict[str, Any]]


def write_vectors(operation: str, folder: Path = FOLDER) -> Path:
    """Write the file of one operation from its generator; returns its path."""
    path = path_of(operation, folder)
    path.write_text(generated(operation, folder))
    return path


def generated(operation: str, folder: Path = FOLDER) -> str:
    """The file of an operation as its generator makes it, with the engines that are stored for equal vectors."""
    before = {vector["name"]: vector for vector in _stored(operation, folder)}
    made = [document_of(vector) for vector in generators.vectors(operation)]
    for vector in made:
        known = before.get(vector["name"])
        if known is not None and _seen(known) == _seen(vector):
            _set_engines(vector, _engines(known))
            if "taken_by" in known:
                vector["taken_by"] = known["taken_by"]
    return text(operation, made)


def record(
    engine: str,
    agreed: Mapping[str, Collection[str]],
    taken: Mapping[str, Collection[str]] = MappingProxyType({}),
    folder: Path = FOLDER,
) -> None:
    """Write into the files of some operations with which vectors an engine agrees; what is said of others stays.

    taken: those that it executes although they are to be refused. What is recorded of these stays, too: an engine that
    reads what is not there takes such a vector now and then.
    """
    for operation, names in agreed.items():
        vectors = _stored(operation, folder)
        for vector in vectors:
            others = _engines(vector) - {engine}
            _set_engines(vector, others | {engine} if vector["name"] in names else others)
            if vector["name"] in taken.get(operation, ()):
                vector["taken_by"] = sorted({*vector.get("taken_by", ()), engine})
        path_of(operation, folder).write_text(text(operation, vectors))


def _stored(operation: str, folder: Path) -> list[dict[str, Any]]:
    path = path_of(operation, folder)
    return documents.read(path, _Stored).vectors if path.exists() else []


def _seen(vector: Mapping[str, Any]) -> str:
    """What a reader sees of a vector, as text: there 0.0 and -0.0 differ."""
    return json.dumps({key: value for key, value in vector.items() if key not in _UNSEEN}, sort_keys=True)


def _engines(vector: Mapping[str, Any]) -> set[str]:
    return set(vector.get("witnesses", ())) - set(_OF_GENERATORS)


def _set_engines(vector: dict[str, Any], engines: set[str]) -> None:
    ours = [name for name in vector.get("witnesses", ()) if name in _OF_GENERATORS]
    if ours or engines:
        vector["witnesses"] = [*ours, *sorted(engines)]


def text(operation: str, vectors: Iterable[Mapping[str, Any]]) -> str:
    """The file of an operation from the documents of its vectors; raises ValueError where a name occurs twice."""
    written = [(vector["name"], _vector_text(vector)) for vector in vectors]
    names = [name for name, _ in written]
    if len(set(names)) != len(names):
        raise ValueError(f"{operation}: a name occurs twice: {max(names, key=names.count)}")
    body = ",\n".join(part for _, part in written)
    return f'{{"operation": {json.dumps(operation)}, "vectors": [\n{body}\n]}}\n'


def _vector_text(document: Mapping[str, Any]) -> str:
    lines = [["name", "since", "description", "traps", "requirements", "relaxed", "rejected", "taken_by"]]
    lines += [["kind", "multinomial_tolerance"]]
    lines += [
        ["operands"],
        ["operations", "referenced", "inputs", "outputs", "ignored", "excluded"],
        ["examples", "witnesses"],
    ]
    parts = []
    for keys in lines:
        present = [f"{json.dumps(key)}: {json.dumps(document[key])}" for key in keys if key in document]
        if present:
            parts.append(", ".join(present))
    return " {" + ",\n  ".join(parts) + "}"


def document_of(vector: Vector) -> dict[str, Any]:
    """The document of a vector, as plain JSON values; what is as by default is left out.

    Raises DocumentError for a hazard that there is not, and names the vector's generator.
    """
    document: dict[str, Any] = {"name": vector.name, "since": str(vector.since)}
    operands = document["operands"] = _operands(vector.main, vector)
    document["inputs"], document["outputs"] = list(vector.inputs), list(vector.outputs)
    whole = VectorOperation(
        vector.operation, tuple(name for name in vector.operands if name not in vector.outputs), vector.outputs
    )
    if vector.operations != (whole,):
        document["operations"] = [_operation(operation) for operation in vector.operations]
    optional = {
        "description": vector.description,
        "traps": hazards.numbers_of(vector.hazards, f"{vector.operation.lower()}.py", f"vector {vector.name}"),
        "requirements": list(vector.requirements),
        "relaxed": vector.relaxed,
        "kind": "" if vector.kind == "general" else vector.kind,
        "multinomial_tolerance": vector.multinomial_tolerance,
        "ignored": list(vector.ignored),
        "excluded": list(vector.excluded),
        "witnesses": list(vector.witnesses),
        "taken_by": list(vector.taken_by),
        "referenced": [_graph(graph, vector) for graph in vector.referenced],
        "examples": [_example(example, vector, operands) for example in vector.examples],
    }
    document.update({key: value for key, value in optional.items() if value})
    if vector.rejected:
        until = {} if vector.rejected.until is NEWEST else {"until": str(vector.rejected.until)}
        document["rejected"] = {"clause": vector.rejected.clause, "phase": vector.rejected.phase, **until}
    return document


def _graph(graph: Graph, vector: Vector) -> dict[str, Any]:
    return {
        "operands": _operands(graph, vector),
        "operations": [_operation(operation) for operation in graph.operations],
        "inputs": list(graph.inputs),
        "outputs": list(graph.outputs),
    }


def _operation(operation: VectorOperation) -> dict[str, Any]:
    return {"type": operation.type, "inputs": list(operation.inputs), "outputs": list(operation.outputs)}


def _operands(graph: Graph, vector: Vector) -> dict[str, Any]:
    return {name: _operand(name, operand, vector) for name, operand in graph.operands.items()}


def _operand(name: str, operand: VectorOperand, vector: Vector) -> dict[str, Any]:
    document: dict[str, Any] = {"type": operand.type.name}
    if operand.dimensions:
        document["dimensions"] = list(operand.dimensions)
    if operand.scale:
        document["scale"] = _short(operand.scale)
    if operand.zero_point:
        document["zero_point"] = operand.zero_point
    if operand.channel_quant:
        scales = [_short(scale) for scale in operand.channel_quant.scales]
        document["channel_quant"] = {"scales": scales, "channel_dim": operand.channel_quant.channel_dim}
    if operand.value is not None:
        document["value"] = _values(name, operand.value, operand, vector)
    if operand.omitted:
        document["omitted"] = True
    if operand.subgraph is not None:
        document["subgraph"] = operand.subgraph
    if operand.extension is not None:
        document["extension"] = operand.extension.hex()
    return document


def _short(scale: float) -> float:
    import numpy

    return float(str(numpy.float32(scale)))


def _values(name: str, array: Array, operand: VectorOperand, vector: Vector) -> Any:
    """The numbers of an operand; how they are made where that makes these: a variation changes types and layouts."""
    made_by = vector.generators.get(name)
    if made_by is not None:
        made = element_values.generate(made_by, operand.type, array.shape)
        if made.tobytes() == array.tobytes():
            return {"generate": msgspec.to_builtins(made_by)}
    return element_values.to_list(array)


def _example(example: Example, vector: Vector, operands: Mapping[str, Any]) -> dict[str, Any]:
    """The document of an example. The outputs are left out where a reader finds them by the oracle."""
    inputs = {name: _values(name, array, vector.operands[name], vector) for name, array in example.inputs.items()}
    document: dict[str, Any] = {"inputs": inputs}
    values = [*inputs.values(), *(operand.get("value") for operand in operands.values())]
    is_generated = any(isinstance(value, dict) for value in values)
    if example.outputs and not is_generated and vector.kind != "multinomial":
        document["outputs"] = {name: element_values.to_list(array) for name, array in example.outputs.items()}
    open_shapes = {
        name: list(array.shape)
        for name, array in (*example.inputs.items(), *example.outputs.items())
        if array.shape != vector.operands[name].dimensions
    }
    if open_shapes:
        document["dimensions"] = open_shapes
    return document
