"""One prepared model, several shapes: an operation is executed with one shape, a larger one, and the first again.

The sizes that change are unknown to the model and come with the requests (NNHAL-PREPARE-014). A device may support such
models or not; one that prepares them computes every shape.
"""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.corpus import vectors
from npu_conformance.corpus.several_shapes import several_shapes
from npu_conformance.corpus.vectors import Example, Vector
from npu_conformance.corpus.wire_model import build_request
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import judge
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.run.cases import Case, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import RequestMemoryPool
from npu_conformance.specs.requirements import result_requirement
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.executors import bind, executors
from npu_conformance.vts.lib.vector_run import prepared

_WITHOUT = {
    "BOX_WITH_NMS_LIMIT", "CHANNEL_SHUFFLE", "DETECTION_POSTPROCESSING", "FILL", "GATHER", "GENERATE_PROPOSALS", "IF",
    "MEAN", "PAD", "PAD_V2", "RANDOM_MULTINOMIAL", "RESHAPE", "SLICE", "SPACE_TO_BATCH_ND", "SQUEEZE", "STRIDED_SLICE",
    "TILE", "TRANSPOSE", "WHILE",
}  # fmt: skip
"""Operations whose vectors differ in more than shapes, and that do not work on each batch by itself."""


def cases() -> Iterator[Case]:
    """A case for each operation that has examples of two shapes."""
    for operation in vectors.operations():
        if operation not in _WITHOUT:
            yield _case(operation)


def cases_under(subject: str) -> Iterator[Case]:
    """The case of one operation."""
    if subject in vectors.operations() and subject not in _WITHOUT:
        yield _case(subject)


def _case(operation: str) -> Case:
    def run(context: CaseContext) -> None:
        found = several_shapes(operation, context.version)
        if not found:
            raise NotApplicable(f"HAL {context.version} has no two shapes of {operation}")
        for number, vector in enumerate(found):
            _by_two_executors(context, vector, number)

    since = min(header.since for header in vectors.headers(operation) if header.rejected is None)
    return Case(
        f"vts.several_shapes.{operation}.executed",
        run,
        (result_requirement(operation), "NNHAL-PREPARE-014", "NNHAL-SHAPE-002", "NNHAL-EXECUTE-001"),
        "A model whose sizes come with the requests computes one shape, another one, and the first one again.",
        since=max(since, Version.V1_2),
        group=Group.EXECUTION,
        scope=Scope.DEFAULT,
        operations=(operation,),
    )


def _by_two_executors(context: CaseContext, vector: Vector, number: int) -> None:
    """Execute in the usual way and in one of the others, which take turns."""
    first, second = vector.examples
    names = executors(context.version, finding_shapes=True)
    for executor in dict.fromkeys((names[0], names[number % len(names)])):
        name = f"{vector.name}.{executor}"
        if context.wants(name):
            with context.configuration(name):
                prepared_model = prepared(context, vector)
                for turn, example in enumerate((first, second, first)):
                    _execute(context, prepared_model, vector, example, executor, turn)


def _execute(
    context: CaseContext, prepared_model: PreparedModel, vector: Vector, example: Example, executor: str, turn: int
) -> None:
    built = build_request(vector, example, context.version)
    inputs, outputs = context.pool(len(built.input_data) or 1), context.pool(built.output_size)
    inputs.write(0, built.input_data)
    request = built.request(RequestMemoryPool(pool=inputs.memory), RequestMemoryPool(pool=outputs.memory))
    execution = bind(context, prepared_model, request, executor=executor)()
    if turn == 0 and execution.status == ErrorStatus.GENERAL_FAILURE:
        raise NotSupported("the device does not execute with sizes that come with the request")
    shapes = " ".join(str(list(array.shape)) for array in example.inputs.values())
    what = f"execution {turn + 1}, with inputs of shape {shapes}"
    with checks.about("NNHAL-PREPARE-014"):
        checks.status(execution.status, {ErrorStatus.NONE}, what)
    expected = [example.outputs[name].shape for name in vector.outputs]
    with checks.about("NNHAL-SHAPE-002"):
        checks.equal([one.dimensions for one in execution.output_shapes], expected, f"shapes of the outputs, {what}")
    content = outputs.read(0, built.output_size)
    found = {name: built.read(name, content, array.shape) for name, array in example.outputs.items()}
    judge(context, vector, example, found)
