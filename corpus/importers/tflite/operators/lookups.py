"""EMBEDDING_LOOKUP, HASHTABLE_LOOKUP, LSH_PROJECTION."""

from __future__ import annotations

from npu_conformance.corpus.importers.tflite.errors import Unsupported
from npu_conformance.corpus.importers.tflite.step import Step
from npu_conformance.corpus.vectors import VectorOperand
from npu_conformance.specs.neuralnetworks.enums import OperandType

_PROJECTIONS = {1: 3, 2: 2}
"""NNAPI's projections SPARSE and DENSE by LiteRT's codes; NNAPI's 1 is a sparse one as it was before HAL 1.2."""


def hashtable_lookup(step: Step) -> None:
    """HASHTABLE_LOOKUP; hits are integers, which NNAPI has as a quantised tensor."""
    step.apply("HASHTABLE_LOOKUP", step.names())


def lsh_projection(step: Step) -> None:
    """LSH_PROJECTION."""
    code = _PROJECTIONS.get(step.operator.option("Type"))
    if code is None:
        raise Unsupported(f"there is no projection {step.operator.option('Type')}")
    absent = VectorOperand(OperandType.TENSOR_FLOAT32, (step.operand(1).dimensions[0],))
    weight = step.name(2) if step.has(2) else step.omitted(absent)
    step.apply("LSH_PROJECTION", [step.name(0), step.name(1), weight, step.int32(code)])
