"""The validator: what every device must refuse, by version. Used by reference, fuzzers, random graphs and suites.

Structure and signatures of models (nothing of it needs a kernel), requests, and the values and shapes of operations.
"""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.specs.neuralnetworks import rules
from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.types import Model, Request
from npu_conformance.specs.neuralnetworks.violations import Violation
from npu_conformance.specs.versions import Version


def validate_model(model: Model, version: Version) -> list[Violation]:
    """Return what is wrong with the structure and the signatures of a model; empty for a valid one.

    Every violation is refused with INVALID_ARGUMENT (NNHAL-MODEL-*). Values and shapes are `check_operation`'s.
    Any content is survived: huge indexes, negative numbers, NaN, cycles.
    """
    return []


def validate_request(
    request: Request,
    model: Model,
    version: Version,
    pool_sizes: Sequence[int] | None = None,
    *,
    fenced: bool = False,
) -> list[Violation]:
    """Return what is wrong with a request for a valid model; empty for a valid one (NNHAL-REQUEST-*).

    pool_sizes: bytes of each pool of the request where they differ from what the request says, 0 for a device buffer.
    fenced: executeFenced does not allow outputs of unknown shape.
    """
    return []


def check_operation(view: OperationView) -> list[Violation]:
    """Return what values, shapes and quantisation of one operation break; empty too for an operation without rules.

    Refused at preparation where the model shows it, at the latest at execution.
    """
    return rules.check(view)


def output_shapes(view: OperationView) -> tuple[tuple[int, ...], ...]:
    """Return the shape of each output; 0 for a size and () for a rank that can not be known yet.

    Raises LookupError for an operation without rules. The operation must not break a clause.
    """
    return rules.output_shapes(view)
