"""AOSP's DeadlineTest: a model with each operation is prepared and executed with deadlines, some of which have passed.

No timing is asserted. One vector stands for an operation, in the first type that the device has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import Vector, VectorHeader
from npu_conformance.corpus.wire_model import build_model, build_request
from npu_conformance.harness.judge.outputs import FILL, judge
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.cases import Case, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import in_pools
from npu_conformance.harness.run.executing.executors import execute, executors
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, Priority
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.deadlines import check_execution, deadline, prepare_limited
from npu_conformance.vts.lib.support import supports

_DEADLINES = ("now", "short", "maximum")
_REQUIREMENTS = (
    "NNHAL-QOS-002", "NNHAL-QOS-003", "NNHAL-QOS-004", "NNHAL-QOS-005", "NNHAL-QOS-015", "NNHAL-PREPARE-011",
)  # fmt: skip


def cases() -> Iterator[Case]:
    """A case for each operation with a vector that a device can be expected to execute."""
    for operation in vectors.operations():
        headers = _headers(operation)
        if headers:
            yield _case(operation, headers)


def _headers(operation: str) -> list[VectorHeader]:
    """The first vector of each combination of types whose sizes are all known."""
    first: dict[tuple[str, ...], VectorHeader] = {}
    for header in vectors.headers(operation):
        is_open = any(operand.is_open for operand in header.operands.values())
        if header.rejected is None and not is_open and "infinite" not in header.name:
            first.setdefault(header.types, header)
    return list(first.values())


def _case(operation: str, headers: Sequence[VectorHeader]) -> Case:
    return Case(
        f"vts.quality_of_service.{operation}.deadlines",
        lambda context: _run(context, headers),
        _REQUIREMENTS,
        "Preparation and execution with a deadline of now, in 5 ms and none give the right results, or miss it.",
        since=max(Version.V1_3, min(header.since for header in headers)),
        group=Group.EXECUTION,
        operations=(operation,),
        types=headers[0].types,
    )


def _run(context: CaseContext, headers: Sequence[VectorHeader]) -> None:
    vector = _supported(context, headers)
    for priority in (Priority.LOW, Priority.HIGH):
        with context.configuration(f"prepare.{priority.name.lower()}"):
            _execute(context, vector, _prepare(context, vector, "none", priority), "none")
    for name in _DEADLINES:
        with context.configuration(f"prepare.{name}"):
            prepared_model = _prepare(context, vector, name)
            if prepared_model is not None:
                _execute(context, vector, prepared_model, "none")
    for executor in executors(context.version):
        for name in _DEADLINES:
            with context.configuration(f"{executor}.{name}"):
                _execute(context, vector, _prepare(context, vector, "none"), name, executor)


def _supported(context: CaseContext, headers: Sequence[VectorHeader]) -> Vector:
    for header in headers:
        if header.since <= context.version:
            vector = vectors.load(header.operation, header.name)
            if supports(context, vector):
                return vector
    raise NotSupported(f"not supported: {headers[0].operation}")


def _prepare(context: CaseContext, vector: Vector, name: str, priority: int = Priority.MEDIUM) -> PreparedModel | None:
    """Prepare with a deadline; None where it was missed."""
    return prepare_limited(context, build_model(vector, context.version).model, name, priority).prepared_model


def _execute(
    context: CaseContext, vector: Vector, prepared_model: PreparedModel | None, name: str, executor: str = ""
) -> None:
    """Execute with a deadline; whatever is called a success must be right and complete."""
    assert prepared_model is not None
    example = vector.examples[0]
    built = build_request(vector, example, context.version)
    request, outputs = in_pools(context, built)
    outputs.write(0, bytes([FILL]) * built.output_size)
    execution = execute(
        context, prepared_model, request, measure=True, executor=executor, deadline=deadline(name, context.version)
    )
    check_execution(context, execution, name)
    if execution.status != ErrorStatus.NONE:
        return
    judge(context, vector, example, built.read_like(example, outputs.read(0, built.output_size)))
