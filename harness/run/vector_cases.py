"""What the cases of vectors have in common, whichever interface executes them: payloads, descriptions, scope smoke."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from npu_conformance.corpus.vectors import Vector, VectorHeader
from npu_conformance.corpus.vectors.description import describe
from npu_conformance.corpus.wire_model import extension_names
from npu_conformance.harness.run.cases import Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks import registered_extensions

Loader = Callable[[], Vector]


def attach(context: CaseContext, vector: Vector) -> None:
    """Give the failure file of a case what it needs to run the vector again."""
    from npu_conformance.corpus.vectors.writing import document_of

    context.attach(
        lambda: {
            "id": context.case.id,
            "operation": vector.operation,
            "vector": document_of(vector),
            "extensions": extension_names(vector),
        }
    )


def vector_from(payload: Any) -> Vector:
    """The vector of a failure file. Raises DocumentError where an extension that it needs is not registered."""
    import msgspec

    from npu_conformance.corpus.vectors import loading
    from npu_conformance.specs.documents.vectors import VectorDocument

    if payload.get("extensions"):
        registered_extensions.require(payload["extensions"], payload["id"])
    document = msgspec.convert(payload["vector"], VectorDocument)
    return loading.vector(payload["operation"], document, payload["id"])


def described(vector: Vector) -> str:
    """The description of a vector that is not stored."""
    import msgspec

    from npu_conformance.corpus.vectors.writing import document_of
    from npu_conformance.specs.documents.vectors import VectorDocument

    document = {**document_of(vector), "name": "any"}  # names of other collections may have other characters
    return describe(vector.operation, msgspec.convert(document, VectorDocument))


def in_a_word(vector: Vector) -> str:
    """Which of many models failed: the description of one operation, or the names of several."""
    if len(vector.operations) == 1:
        return described(vector)
    return f"a graph of {' '.join(one.type for one in vector.operations)}"


def scope_of(header: VectorHeader, case_id: str) -> Scope:
    """Scope smoke for the small vectors that run as stored and that look at no hazard, else the default scope.

    They say within seconds whether an implementation computes the operation at all; the hazards are for those that do.
    """
    boundary = [operand for operand in header.operands.values() if operand.role in ("input", "output")]
    is_small = all(math.prod(operand.dimensions) <= 64 for operand in boundary)
    is_smoke = is_small and not header.rejected and "[" not in case_id and not header.hazards
    return Scope.SMOKE if is_smoke else Scope.DEFAULT
