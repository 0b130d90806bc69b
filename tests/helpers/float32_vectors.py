"""The vectors of an operation that are judged in float32, and somebody who listens to what is said of them."""

from __future__ import annotations

import functools

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import Vector
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.specs.neuralnetworks.enums import OperandType


class Listener:
    """Stands in for a CaseContext: keeps the warnings, knows no waivers."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warn_quality(self, message: str) -> None:
        self.warnings.append(message)

    def waived_tolerances(self) -> tuple[()]:
        return ()

    def excuse(self, failure: Failed) -> None:
        raise failure


@functools.cache
def in_float32(operation: str) -> tuple[Vector, ...]:
    """The vectors of an operation that compare a float32 output by the strict tolerance."""
    names = [header.name for header in vectors.headers(operation) if not header.rejected]
    return tuple(vector for name in names if _is_strict(vector := vectors.load(operation, name)))


def _is_strict(vector: Vector) -> bool:
    compared = [name for name in vector.outputs if name not in vector.ignored]
    # A CAST behind the operation is not its own result.
    return (
        not vector.relaxed
        and len(vector.operations) == 1
        and any(vector.operands[name].type is OperandType.TENSOR_FLOAT32 for name in compared)
    )
