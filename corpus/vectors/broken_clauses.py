"""Which clauses a vector breaks: none where it has to run, its own and no other where it has to be rejected."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.corpus.vectors import Example, Vector
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.specs.neuralnetworks import rules
from npu_conformance.specs.neuralnetworks.extension_prefixes import with_registered_codes
from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.versions import Version


def broken_clauses(vector: Vector, example: Example, version: Version) -> set[str]:
    """Ids of what the structure breaks; only where it is sound, of what the operations of the main graph break."""
    model = build_model(vector, version).model
    found = {violation.clause for violation in validate_model(model, version)}
    if found:
        return found
    for view in views(vector, example, model, version):
        found.update(violation.clause for violation in rules.check(view))
    return found


def views(vector: Vector, example: Example, model: Model, version: Version) -> Iterator[OperationView]:
    """The operations of the main graph, in order, as rules see them at an execution. model: that of the vector."""
    graph = with_registered_codes(model).main
    values = {name: operand.value for name, operand in vector.operands.items() if operand.value is not None}
    values.update(example.inputs)
    for operation, wire in zip(vector.operations, graph.operations, strict=True):
        known = {position: values[name] for position, name in enumerate(operation.inputs) if name in values}
        shapes = {position: array.shape for position, array in known.items()}
        inputs = [graph.operands[index] for index in wire.inputs]
        outputs = [graph.operands[index] for index in wire.outputs]
        left_out = frozenset(place for place, name in enumerate(operation.inputs) if vector.operands[name].omitted)
        yield OperationView(wire, version, inputs, outputs, shapes=shapes, values=known, omitted=left_out)
