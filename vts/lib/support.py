"""What a device says that it supports."""

from __future__ import annotations

from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import Model


def supports(context: CaseContext, vector: Vector) -> bool:
    """True where getSupportedOperations says yes to every operation of the vector's model."""
    answers = support(context, build_model(vector, context.version).model)
    return answers is not None and all(answers)


@checks.about("NNHAL-SUPPORT-002")
def support(context: CaseContext, model: Model) -> tuple[bool, ...] | None:
    """What getSupportedOperations says of a valid model.

    None where a graph has no inputs and the device rejects that, as the interface text wants (NNHAL-MODEL-054).
    """
    try:
        return context.supported_operations(model)
    except ServiceError as error:
        graphs = (model.main, *model.referenced)
        if error.status == ErrorStatus.INVALID_ARGUMENT and not all(graph.input_indexes for graph in graphs):
            return None
        raise
