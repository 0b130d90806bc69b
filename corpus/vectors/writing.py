"""Writes corpus/vectors/ from the plans: the same bytes each time, a few lines a vector."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

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
from npu_conformance.specs.versions import NEWEST


def write_vectors(operation: str, folder: Path = FOLDER) -> Path:
    """Write the file of one operation from its plan; returns its path."""
    path = path_of(operation, folder)
    path.write_text(text(operation, generators.vectors(operation)))
    return path


def generate(folder: Path = FOLDER) -> list[Path]:
    """Write the files of all operations that have a plan; returns their paths."""
    return [write_vectors(operation, folder) for operation in generators.names()]


def text(operation: str, vectors: Iterable[Vector]) -> str:
    """The file of an operation; raises ValueError where a name occurs twice."""
    written = [(vector.name, _vector_text(vector)) for vector in vectors]
    names = [name for name, _ in written]
    if len(set(names)) != len(names):
        raise ValueError(f"{operation}: a name occurs twice: {max(names, key=names.count)}")
    body = ",\n".join(part for _, part in written)
    return f'{{"operation": {json.dumps(operation)}, "vectors": [\n{body}\n]}}\n'


def _vector_text(vector: Vector) -> str:
    document = document_of(vector)
    lines = [["name", "since", "description", "traps", "requirements", "relaxed", "rejected"]]
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
    """The document of a vector, as plain JSON values; what is as by default is left out."""
    document: dict[str, Any] = {"name": vector.name, "since": str(vector.since)}
    document["operands"] = _operands(vector.main, vector)
    document["inputs"], document["outputs"] = list(vector.inputs), list(vector.outputs)
    whole = VectorOperation(
        vector.operation, tuple(name for name in vector.operands if name not in vector.outputs), vector.outputs
    )
    if vector.operations != (whole,):
        document["operations"] = [_operation(operation) for operation in vector.operations]
    optional = {
        "description": vector.description,
        "traps": hazards.numbers_of(vector.hazards),
        "requirements": list(vector.requirements),
        "relaxed": vector.relaxed,
        "kind": "" if vector.kind == "general" else vector.kind,
        "multinomial_tolerance": vector.multinomial_tolerance,
        "ignored": list(vector.ignored),
        "excluded": list(vector.excluded),
        "witnesses": list(vector.witnesses),
        "referenced": [_graph(graph, vector) for graph in vector.referenced],
        "examples": [_example(example, vector) for example in vector.examples],
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
        document["value"] = _values(name, operand.value, vector)
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


def _values(name: str, array: Any, vector: Vector) -> Any:
    if name in vector.generators:
        return {"generate": msgspec.to_builtins(vector.generators[name])}
    return element_values.to_list(array)


def _example(example: Example, vector: Vector) -> dict[str, Any]:
    document: dict[str, Any] = {
        "inputs": {name: _values(name, array, vector) for name, array in example.inputs.items()}
    }
    if example.outputs and not vector.generators and vector.kind != "multinomial":
        document["outputs"] = {name: element_values.to_list(array) for name, array in example.outputs.items()}
    open_shapes = {
        name: list(array.shape)
        for name, array in (*example.inputs.items(), *example.outputs.items())
        if array.shape != vector.operands[name].dimensions
    }
    if open_shapes:
        document["dimensions"] = open_shapes
    return document
