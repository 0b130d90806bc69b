"""Which clauses a vector breaks: none where it has to run, its own and no other where it has to be rejected."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.corpus.vectors import Example, Rejected, Vector
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.specs.neuralnetworks import rules
from npu_conformance.specs.neuralnetworks.extension_prefixes import with_registered_codes
from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.specs.neuralnetworks.validate import structural_rules, validate_model
from npu_conformance.specs.versions import NEWEST, Version


def broken_clauses(vector: Vector, example: Example, version: Version) -> set[str]:
    """Ids of what the structure breaks; only where it is sound, of what the operations of the main graph break."""
    model = build_model(vector, version).model
    found = {violation.clause for violation in validate_model(model, version)}
    if found:
        return found
    for view in views(vector, example, model, version):
        found.update(violation.clause for violation in rules.check(view))
    return found


def contradictions(vector: Vector) -> Iterator[str]:
    """What a vector breaks and does not say, says and does not break, or says to be found earlier than it may be."""
    rejected = vector.rejected
    expected = {rejected.clause} if rejected else set()
    for version in dict.fromkeys((vector.since, rejected.until if rejected else NEWEST)):
        for example in vector.examples or (Example({}, {}),):
            broken = broken_clauses(vector, example, version)
            if broken != expected:
                whole = _whole_name(rejected, broken)
                yield f"as HAL {version} expected it to break {_spelled(expected)}, it breaks {_spelled(broken)}{whole}"
    if rejected is not None and rejected.phase == "model" and _is_found_late(vector.operation, rejected.clause):
        late = f"{rejected.clause} may be found out at the execution: a device need not reject the model"
        yield f"rejected.phase: expected execution, found model: {late}"


def _whole_name(rejected: Rejected | None, broken: set[str]) -> str:
    """What to write where a clause has the short name that it has among the rules."""
    if rejected is None or not any(name.endswith(f".{rejected.clause}") for name in broken):
        return ""
    return "; a vector names the clause with its operation"


def _is_found_late(operation: str, clause: str) -> bool:
    """True for a clause, or a rule of structure, that a device may find broken when it executes the model."""
    if any(one.id == clause and one.latest == "execution" for one in structural_rules()):
        return True
    own = rules.clauses(operation) if rules.has(operation) else ()
    return any(one.id == clause and one.phase == "execution" for one in own)


def _spelled(clauses: set[str]) -> str:
    return ", ".join(sorted(clauses)) or "nothing"


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
