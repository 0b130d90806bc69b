"""What the validators report: one broken rule, where, and why."""

from __future__ import annotations

import msgspec

from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import Model


class Violation(msgspec.Struct, frozen=True):
    """One rule that a model, a request or an operation breaks.

    clause: id of the rule, `MODEL.O4`, `REQUEST.R3` or `CONV_2D.C5`. message: what was found and what was expected.
    subgraph: 0 is the main graph, n + 1 is `referenced[n]`. operation, operand: indexes in that subgraph, None where
    the rule is not about one; of a request, operand is the position of the argument.
    """

    clause: str
    message: str
    subgraph: int = 0
    operation: int | None = None
    operand: int | None = None

    def __str__(self) -> str:
        return f"{self.clause}: {self.message}"


def is_about_vendor(violation: Violation, model: Model) -> bool:
    """Whether it is about an operation or operand of an extension or OEM, whose rules the vendor knows."""
    graph = (model.main, *model.referenced)[violation.subgraph]
    if violation.operation is not None:
        return graph.operations[violation.operation].type >= OperationType.OEM_OPERATION
    return violation.operand is not None and graph.operands[violation.operand].type >= OperandType.OEM
