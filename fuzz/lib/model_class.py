"""What the contract says about a model: to be rejected, valid, or in between, where a device has a choice."""

from __future__ import annotations

from dataclasses import dataclass

from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.neuralnetworks import rules
from npu_conformance.specs.neuralnetworks.catalogue import operation
from npu_conformance.specs.neuralnetworks.enums import OperationType
from npu_conformance.specs.neuralnetworks.operand_types import byte_size
from npu_conformance.specs.neuralnetworks.operation_view import view_of
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.specs.neuralnetworks.validate import check_operation, structural_rules, validate_model
from npu_conformance.specs.neuralnetworks.violations import Violation
from npu_conformance.specs.versions import Version

_CODES = frozenset(int(code) for code in OperationType) - {OperationType.OEM_OPERATION}
_NAMED = 4
_MOST_BYTES = 2**32 - 1
"""Of an operand, by its known dimensions."""
_LATEST = {rule.id: rule.latest for rule in structural_rules()}


@dataclass(frozen=True, slots=True)
class ModelClass:
    """must_reject: INVALID_ARGUMENT is the only legal answer, for `reason`. is_valid: it is never a legal answer.

    clauses: all that the model breaks, in order; the first is that of `reason` where the model is to be rejected.
    """

    must_reject: bool
    is_valid: bool
    reason: str = ""
    clauses: tuple[str, ...] = ()


def classify(model: Model, version: Version, *, pools_are_real: bool = True) -> ModelClass:
    """Judge a model by structure, and a well-formed one by the rules of its operations too.

    A rule that a device may notice later, or that only the text asks for, leaves it the choice; so do values and
    shapes, operations that have no rules here, memory that does not exist, and operands of more bytes than 32 bits
    count, which no runtime passes on (FW-MDL-010, FUZ-005).
    """
    violations = validate_model(model, version, text_rules=True)
    at_once = next((found for found in violations if _LATEST.get(found.clause) == "validation"), None)
    clauses = tuple(dict.fromkeys(found.clause for found in violations))
    if at_once is not None:
        return ModelClass(True, False, _where(at_once), tuple(dict.fromkeys((at_once.clause, *clauses))))
    is_open = bool(violations) or bool(model.pools) or not pools_are_real or _has_uncountable_operand(model)
    return ModelClass(False, not is_open and _operations_are_right(model, version), clauses=clauses)


def in_words(model: Model) -> str:
    """How large a model is, and what of, such as `3 operations (ADD, RELU), 2 graphs`."""
    graphs = (model.main, *model.referenced)
    codes = [part.type for graph in graphs for part in graph.operations]
    names = list(dict.fromkeys(OperationType(code).name if code in _CODES else f"type {code}" for code in codes))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    several = f", {len(graphs)} graphs" if len(graphs) > 1 else ""
    return f"{counted(len(codes), 'operation')} ({', '.join(names[:_NAMED])}{more}){several}"


def _has_uncountable_operand(model: Model) -> bool:
    operands = (operand for graph in (model.main, *model.referenced) for operand in graph.operands)
    return any(byte_size(one.type, tuple(size or 1 for size in one.dimensions)) > _MOST_BYTES for one in operands)


def _where(violation: Violation) -> str:
    graph = "main" if violation.subgraph == 0 else f"referenced[{violation.subgraph - 1}]"
    parts = [graph]
    if violation.operation is not None:
        parts.append(f"operations[{violation.operation}]")
    if violation.operand is not None:
        parts.append(f"operands[{violation.operand}]")
    return f"{violation} (at {'.'.join(parts)})"


def _operations_are_right(model: Model, version: Version) -> bool:
    known = rules.operations()
    for subgraph, graph in enumerate((model.main, *model.referenced)):
        for index, part in enumerate(graph.operations):
            # Operations of extensions and vendors have no table.
            if part.type not in _CODES or operation(part.type).name not in known:
                return False
            if check_operation(view_of(model, index, version, subgraph=subgraph)):
                return False
    return True
