"""One client's work: prepare a stored vector's model once, execute it again and again, compare every output."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING

from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.wire_model import build_model, build_request
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.compare import check_output
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.judge.tolerance import Circumstances
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import asynchronous, in_pools, synchronous
from npu_conformance.harness.run.preparation import model_of
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandType
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import Request
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array
    from npu_conformance.harness.subject.handle import SubjectHandle


Judge = Callable[[CaseContext, Vector, dict[str, "Array"], int], None]
"""Raises Failed where the outputs of an inference, by name, are wrong; the last argument is its number."""


def infer(
    subject: SubjectHandle, vector: Vector, inferences: int, *, mapped: bool = False, judge: Judge | None = None
) -> Generator[int]:
    """Execute the first example of a vector; yields 0, then the number done. Raises Failed where an output is wrong.

    mapped: the model's constants lie in a file that is mapped. judge: of the outputs, instead of the public tolerance.
    """
    context = CaseContext(Case("mlts.stress.client.inference", lambda context: None, ()), subject)
    prepared_model = _prepared(context, vector, mapped=mapped)
    built = build_request(vector, vector.examples[0], context.version)
    request, outputs = in_pools(context, built)
    correct = b""
    try:
        yield 0
        for number in range(1, inferences + 1):
            outputs.write(0, bytes([FILL]) * built.output_size)
            checks.status(_execute(context, prepared_model, request), {ErrorStatus.NONE}, f"inference {number}")
            content = outputs.read(0, built.output_size)
            if content != correct:
                (judge or _judge)(context, vector, built.read_like(vector.examples[0], content), number)
                correct = content
            yield number
    finally:
        context.close()


def _prepared(context: CaseContext, vector: Vector, *, mapped: bool) -> PreparedModel:
    model = build_model(vector, context.version, create_pool=context.mapped_pool if mapped else None).model
    return model_of(context.prepare(model))


def _execute(context: CaseContext, prepared_model: PreparedModel, request: Request) -> int:
    """Execute synchronously, or with a callback before HAL 1.2; the status."""
    if context.version >= Version.V1_2:
        return synchronous(prepared_model, request, measure=False).status
    return asynchronous(context, prepared_model, request, measure=False).status


def _judge(context: CaseContext, vector: Vector, outputs: Mapping[str, Array], number: int) -> None:
    kinds = {operand.type for operand in vector.operands.values()}
    circumstances = Circumstances(relaxed=vector.relaxed, any_float16=OperandType.TENSOR_FLOAT16 in kinds)
    for name, actual in outputs.items():
        if name not in vector.ignored:
            what = f"inference {number}, output {name}"
            check_output(
                context, what, actual, vector.examples[0].outputs[name], vector.operands[name].type, circumstances
            )
