"""Checks the vectors of a registered extension against its own tables, rules and oracles: one line for each problem."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from npu_conformance.corpus import oracles, variations, vectors, witnesses
from npu_conformance.corpus.variations import allowed
from npu_conformance.corpus.vectors import Example, Vector, broken_clauses
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.specs.diagnostics.one_line import one_line
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.neuralnetworks import catalogue, rules
from npu_conformance.specs.neuralnetworks.minimal_version import minimal_version
from npu_conformance.specs.neuralnetworks.registered_extensions import RegisteredExtension


@dataclass(frozen=True)
class Counts:
    """What an extension has. witnessed: vectors whose expected values its oracles found too."""

    operations: int
    vectors: int
    rejected: int
    witnessed: int


def problems(extension: RegisteredExtension) -> Iterator[str]:
    """Every problem of a registered extension, as `file: where: rule`."""
    yield from dict.fromkeys(map(one_line, _problems(extension)))  # a bug in the rules shows in each vector


def _problems(extension: RegisteredExtension) -> Iterator[str]:
    for operation in extension.operations:
        file = str(extension.file("vectors", operation))
        if operation not in vectors.registered_operations():
            yield f"{file}: there is no such file: nothing tests {operation}"
            continue
        try:
            yield from _of_operation(operation, file)
        except DocumentError as error:
            yield str(error)


def counts(extension: RegisteredExtension) -> Counts:
    """How much there is of an extension without problems."""
    tested = [name for name in extension.operations if name in vectors.registered_operations()]
    headers = [header for operation in tested for header in vectors.headers(operation)]
    positive = [vectors.load(header.operation, header.name) for header in headers if header.rejected is None]
    agreeing = sum(witnesses.testify(vector, "oracle", witnesses.oracle).agrees for vector in positive)
    return Counts(len(extension.operations), len(headers), len(headers) - len(positive), agreeing)


def _of_operation(operation: str, file: str) -> Iterator[str]:
    broken: set[str] = set()
    for header in vectors.headers(operation):
        try:
            vector = vectors.load(operation, header.name)
            yield from (f"{file}: {header.name}: {problem}" for problem in _of_vector(vector))
        except DocumentError as error:
            yield str(error)
        broken |= {header.rejected.clause} if header.rejected else set()
    for clause in rules.clauses(operation) if rules.has(operation) else ():
        if clause.id not in broken:
            yield f"{file}: no vector is rejected because of {clause.id}: {clause.text}"


def _of_vector(vector: Vector) -> Iterator[str]:
    if not any(operation.type == vector.operation for operation in vector.operations):
        yield f"the vector does not use {vector.operation}"
    yield from broken_clauses.contradictions(vector)
    if vector.rejected is None:
        for example in vector.examples:
            yield from _of_shapes(vector, example)
        yield from _of_values(vector)


def _of_shapes(vector: Vector, example: Example) -> Iterator[str]:
    """The shapes that the rules compute are those of the outputs, as far as they can be known."""
    try:
        model = build_model(vector, vector.since).model
    except ValueError:
        return  # what it breaks was reported before
    seen = broken_clauses.views(vector, example, model, vector.since)
    for operation, view in zip(vector.operations, seen, strict=True):
        if not catalogue.is_registered(operation.type) or not rules.has(operation.type):
            continue
        wanted = [_shape(vector, example, name) for name in operation.outputs]
        try:
            found = [list(shape) for shape in rules.output_shapes(view)]
        except TypeError as error:
            yield f"output_shapes of {operation.type}: expected a shape, or None, for each output: {error}"
            continue
        if len(found) != len(wanted) or not all(map(_may_be, found, wanted)):
            yield f"output_shapes of {operation.type}: expected {_shapes(wanted)}, found {_shapes(found)}"


def _shape(vector: Vector, example: Example, name: str) -> list[int]:
    """The shape of an output of an operation; 0 for a size that is not known."""
    return list(example.outputs[name].shape if name in example.outputs else vector.operands[name].dimensions)


def _may_be(found: list[int], wanted: list[int]) -> bool:
    """True where two shapes are the same as far as both are known; nothing is known of one without sizes."""
    known = len(found) == len(wanted) and all(
        one == other or 0 in (one, other) for one, other in zip(found, wanted, strict=True)
    )
    return not found or not wanted or known


def _shapes(shapes: list[list[int]]) -> str:
    return ", ".join(map(str, shapes)) or "none"


def _of_values(vector: Vector) -> Iterator[str]:
    try:
        minimal = minimal_version(build_model(vector, vector.since).model)
    except ValueError:
        return  # what it breaks was reported before
    if minimal != vector.since:
        yield f"since: expected {minimal}, the first version that has the model, found {vector.since}"
    if vector.operation not in oracles.names() and "oracle" in vector.witnesses:
        yield f"witnesses: names the oracle, but {vector.operation} has none"
    yield from (str(disagreement) for disagreement in witnesses.witness(vector))
    for name in allowed.applicable(allowed.header_of(vector)):
        try:
            variations.apply(name, vector)
        except (ValueError, LookupError) as error:
            yield f"variation {name}: {error} (list it in `excluded` where its data does not allow it)"
