"""The validator: what every device must reject, by version. The reference, fuzzers, random graphs and suites use it.

Structure and signatures of models (nothing of it needs a kernel), requests, and the values and shapes of operations.
"""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.specs.neuralnetworks import catalogue, rules
from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.types import Model, Request
from npu_conformance.specs.neuralnetworks.validate_graph import (
    check_extensions,
    check_graph,
    check_pools,
    check_references,
)
from npu_conformance.specs.neuralnetworks.validate_operands import check_operands
from npu_conformance.specs.neuralnetworks.validate_operations import check_operations
from npu_conformance.specs.neuralnetworks.validate_request import check_request
from npu_conformance.specs.neuralnetworks.validate_rules import RULES, StructuralRule
from npu_conformance.specs.neuralnetworks.validate_scope import ModelUnderValidation
from npu_conformance.specs.neuralnetworks.violations import Violation
from npu_conformance.specs.versions import Version


def structural_rules() -> tuple[StructuralRule, ...]:
    """Every rule that `validate_model` and `validate_request` know."""
    return tuple(RULES.values())


def validate_model(model: Model, version: Version, *, text_rules: bool = False) -> list[Violation]:
    """Return what is wrong with the structure and the signatures of a model; empty for a valid one.

    A device rejects it with INVALID_ARGUMENT; `structural_rules` says how late it may detect each broken rule.
    text_rules: report also what only the interface documents ask for. Values and shapes are `check_operation`'s.
    The validator survives any content: huge indexes, negative numbers, NaN, circles.
    """
    scope = ModelUnderValidation(model, version, text_rules)
    if not model.main.operands or not model.main.operations:
        scope.report("MODEL.M1", "the main graph has no operations or no operands")
    for number, graph in enumerate(scope.graphs):
        check_operands(scope, number, graph)
        check_operations(scope, number, graph)
        check_graph(scope, number, graph)
    check_pools(scope)
    check_extensions(scope)
    check_references(scope)
    return scope.violations


def validate_request(
    request: Request,
    model: Model,
    version: Version,
    pool_sizes: Sequence[int] | None = None,
    *,
    fenced: bool = False,
    text_rules: bool = False,
) -> list[Violation]:
    """Return what is wrong with a request for a valid model; empty for a valid one (NNHAL-REQUEST-*).

    pool_sizes: bytes of each pool of the request where they differ from what the request says, 0 for a device buffer.
    fenced: executeFenced does not allow outputs of unknown shape. text_rules: as in `validate_model`.
    """
    return check_request(request, model, version, pool_sizes, fenced, text_rules)


def check_operation(view: OperationView) -> list[Violation]:
    """Return what values, shapes and quantisation of one operation break; empty too for an operation without rules.

    A device rejects it at preparation where the model shows it, and at the latest at execution.
    """
    return rules.check(view)


def reads_data(operation_type: int) -> bool:
    """True where values of data, not shapes and parameters alone, may break a clause of a standard operation.

    Raises LookupError for an operation without rules.
    """
    return rules.reads_data(catalogue.operation(operation_type).name)


def output_shapes(view: OperationView) -> tuple[tuple[int, ...], ...]:
    """Return the shape of each output; 0 for a size and () for a rank that cannot be known yet.

    Raises LookupError for an operation without rules. The operation must not break a clause.
    """
    return rules.output_shapes(view)
