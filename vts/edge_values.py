"""Values at the edges of their types: zeros of both signs, the extremes of quantised types and of zero points.

Every operand of data has them at once, in every combination of types of every operation, as corpus/edge_values.py makes
them of stored vectors.
"""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.corpus import vectors
from npu_conformance.corpus.edge_values import UNSUITABLE, edge_vectors
from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.wire_model import build_request
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import judge
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import Case, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import in_pools
from npu_conformance.harness.run.executing.executors import execute
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.requirements import result_requirement
from npu_conformance.vts.lib.preparing import prepared

_WITHOUT = UNSUITABLE | {
    "FILL", "FLOOR", "IF", "LOGICAL_AND", "LOGICAL_NOT", "LOGICAL_OR", "RANK", "REDUCE_ALL", "REDUCE_ANY",
    "REDUCE_PROD", "WHILE",
}  # fmt: skip
"""Operations without data in floats or quantised codes, or whose results at the edges are all alike."""


def cases() -> Iterator[Case]:
    """A case for each operation that has data."""
    for operation in vectors.operations():
        if operation not in _WITHOUT:
            yield _case(operation)


def cases_under(subject: str) -> Iterator[Case]:
    """The case of one operation."""
    if subject in vectors.operations() and subject not in _WITHOUT:
        yield _case(subject)


def _case(operation: str) -> Case:
    def run(context: CaseContext) -> None:
        found = list(edge_vectors(operation, context.version))
        if not found:
            raise NotApplicable(f"HAL {context.version} has no {operation} whose results at the edges can be judged")
        for vector in found:
            if context.wants(vector.name):
                with context.configuration(vector.name):
                    _execute(context, vector)

    return Case(
        f"vts.edge_values.{operation}.executed",
        run,
        (result_requirement(operation), "NNHAL-EXECUTE-001"),
        "Zeros of both signs, the least and greatest codes, and zero points at both ends are computed like any value.",
        since=min(header.since for header in vectors.headers(operation) if header.rejected is None),
        group=Group.EXECUTION,
        scope=Scope.DEFAULT,
        operations=(operation,),
    )


def _execute(context: CaseContext, vector: Vector) -> None:
    prepared_model = prepared(context, vector)
    (example,) = vector.examples
    built = build_request(vector, example, context.version)
    request, outputs = in_pools(context, built)
    execution = execute(context, prepared_model, request, measure=False)
    checks.status(execution.status, {ErrorStatus.NONE}, "execution")
    judge(context, vector, example, built.read_like(example, outputs.read(0, built.output_size)))
