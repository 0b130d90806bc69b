"""One prepared model, several shapes: an operation is executed with one shape, a larger one, and the first again.

So it is with shapes of as many elements, with tensors that are empty every now and then, with parameters, and with
inputs that only some requests give. The sizes that change are unknown to the model and come with the requests
(NNHAL-PREPARE-014). A device may support such models or not; one that prepares them computes every shape.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from npu_conformance.corpus import turns, vectors
from npu_conformance.corpus.other_parameters import other_parameters
from npu_conformance.corpus.several_shapes import several_shapes
from npu_conformance.corpus.vectors import Example, Vector
from npu_conformance.corpus.wire_model import build_request
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import judge
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.run.cases import Case, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import Execution, in_pools
from npu_conformance.harness.run.executing.executors import bind, executors
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.requirements import result_requirement
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.preparing import prepared

_WITHOUT = {
    "BOX_WITH_NMS_LIMIT", "CHANNEL_SHUFFLE", "DETECTION_POSTPROCESSING", "FILL", "GATHER", "GENERATE_PROPOSALS", "IF",
    "PAD", "PAD_V2", "RANDOM_MULTINOMIAL", "RESHAPE", "SLICE", "SPACE_TO_BATCH_ND", "SQUEEZE", "STRIDED_SLICE", "TILE",
    "TRANSPOSE", "WHILE",
}  # fmt: skip
"""Operations whose vectors differ in more than shapes, and that do not work on each batch by itself."""


_OF_FIXED_SIZE = {
    "AXIS_ALIGNED_BBOX_TRANSFORM", "BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_RNN",
    "BOX_WITH_NMS_LIMIT", "DETECTION_POSTPROCESSING", "EMBEDDING_LOOKUP", "FILL", "GENERATE_PROPOSALS",
    "HASHTABLE_LOOKUP", "HEATMAP_MAX_KEYPOINT", "IF", "LSH_PROJECTION", "LSTM", "QUANTIZED_16BIT_LSTM",
    "QUANTIZED_LSTM", "RANDOM_MULTINOMIAL", "RNN", "ROI_ALIGN", "ROI_POOLING", "SVDF",
    "UNIDIRECTIONAL_SEQUENCE_LSTM", "UNIDIRECTIONAL_SEQUENCE_RNN", "WHILE",
}  # fmt: skip
"""Operations of whose inputs no other shape of as many elements is known, or is as good."""

_EMPTIED = {
    "ADD", "AVERAGE_POOL_2D", "CONCATENATION", "CONV_2D", "DEPTHWISE_CONV_2D", "DEQUANTIZE", "FULLY_CONNECTED",
    "HARD_SWISH", "L2_POOL_2D", "LOGISTIC", "MAX_POOL_2D", "MUL", "QUANTIZE", "RELU", "RELU1", "RELU6",
    "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "SLICE", "SOFTMAX", "TANH", "TRANSPOSE", "TRANSPOSE_CONV_2D",
}  # fmt: skip
"""Operations that are given tensors without elements."""

_OF_SEVERAL_TENSORS = {
    "ADD", "BATCH_MATMUL", "BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_RNN", "CONCATENATION", "CONV_2D",
    "DEPTHWISE_CONV_2D", "DIV", "EQUAL", "FULLY_CONNECTED", "GREATER", "GREATER_EQUAL", "GROUPED_CONV_2D", "LESS",
    "LESS_EQUAL", "LOGICAL_AND", "LOGICAL_OR", "LSTM", "MAXIMUM", "MINIMUM", "MUL", "NOT_EQUAL", "PACK", "POW", "PRELU",
    "RNN", "SELECT", "SUB", "SVDF", "TRANSPOSE_CONV_2D", "UNIDIRECTIONAL_SEQUENCE_LSTM", "UNIDIRECTIONAL_SEQUENCE_RNN",
}  # fmt: skip
"""Operations of two tensors of data or more, of which any elements are legal and far from every limit."""

_WITHOUT_PARAMETERS = {
    "ABS", "BOX_WITH_NMS_LIMIT", "CAST", "DEQUANTIZE", "EQUAL", "EXP", "FLOOR", "GENERATE_PROPOSALS", "GREATER",
    "GREATER_EQUAL", "HARD_SWISH", "IF", "LESS", "LESS_EQUAL", "LOG", "LOGICAL_AND", "LOGICAL_NOT", "LOGICAL_OR",
    "LOGISTIC", "LSTM", "MAXIMUM", "MINIMUM", "NEG", "NOT_EQUAL", "POW", "PRELU", "QUANTIZE", "QUANTIZED_16BIT_LSTM",
    "QUANTIZED_LSTM", "RANDOM_MULTINOMIAL", "RANK", "RELU", "RELU1", "RELU6", "RSQRT", "SELECT", "SIN", "SQRT", "TANH",
    "WHILE",
}  # fmt: skip
"""Operations that have no parameters or none that are legal beside each other; of QUANTIZED_LSTM they are scales, with
which devices that compute in fixed point are as far off as they may be."""

_WITH_OPTIONAL = {
    "BIDIRECTIONAL_SEQUENCE_LSTM",
    "BIDIRECTIONAL_SEQUENCE_RNN",
    "LSTM",
    "SQUEEZE",
    "SVDF",
    "UNIDIRECTIONAL_SEQUENCE_LSTM",
}
"""Operations with inputs that a request may leave out."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """What differs from one execution to the next. requirements: beside those of every kind."""

    name: str
    find: Callable[[str, Version], list[Vector]]
    has: Callable[[str], bool]
    requirements: tuple[str, ...]
    description: str
    since: Version = Version.V1_2


_SHAPES = ("NNHAL-PREPARE-014", "NNHAL-SHAPE-002")
_KINDS = (
    _Kind(
        "executed",
        several_shapes,
        lambda operation: operation not in _WITHOUT,
        _SHAPES,
        "A model whose sizes come with the requests computes one shape, another one, and the first one again.",
    ),
    _Kind(
        "same_size",
        turns.same_size,
        lambda operation: operation not in _OF_FIXED_SIZE,
        _SHAPES,
        "A model computes several shapes of as many elements, one after the other, each as if it was the only one.",
    ),
    _Kind(
        "emptied",
        turns.emptied,
        lambda operation: operation in _EMPTIED,
        (*_SHAPES, "NNHAL-SHAPE-010", "NNHAL-ACCURACY-008"),
        "Tensors of a model are empty in one execution and not in the next; a further output is there in each.",
    ),
    _Kind(
        "other_data",
        turns.other_data,
        lambda operation: operation in _OF_SEVERAL_TENSORS,
        ("NNHAL-EXECUTE-018",),
        "Weights and other tensors that come with the request count anew in each: what an earlier one gave is gone.",
        Version.V1_0,
    ),
    _Kind(
        "other_parameters",
        other_parameters,
        lambda operation: operation not in _WITHOUT_PARAMETERS,
        (*_SHAPES, "NNHAL-EXECUTE-018"),
        "Scalars and tensors of parameters that come with the request count anew in each, as do the shapes they give.",
    ),
    _Kind(
        "omitted",
        turns.omitted,
        lambda operation: operation in _WITH_OPTIONAL,
        ("NNHAL-REQUEST-003", "NNHAL-EXECUTE-018"),
        "An optional input that a request leaves out has no value, whatever an earlier request gave it.",
        Version.V1_0,
    ),
)


def cases() -> Iterator[Case]:
    """The cases of every operation that has examples of several shapes."""
    for operation in vectors.operations():
        yield from _cases_of(operation)


def cases_under(subject: str) -> Iterator[Case]:
    """The cases of one operation."""
    return _cases_of(subject) if subject in vectors.operations() else iter(())


def _cases_of(operation: str) -> Iterator[Case]:
    return (_case(operation, kind) for kind in _KINDS if kind.has(operation))


def _case(operation: str, kind: _Kind) -> Case:
    since = min(header.since for header in vectors.headers(operation) if header.rejected is None)
    return Case(
        f"vts.several_shapes.{operation}.{kind.name}",
        functools.partial(_run, operation, kind),
        (result_requirement(operation), "NNHAL-EXECUTE-001", *kind.requirements),
        kind.description,
        since=max(since, kind.since),
        group=Group.EXECUTION,
        scope=Scope.DEFAULT,
        operations=(operation,),
    )


def _run(operation: str, kind: _Kind, context: CaseContext) -> None:
    found = kind.find(operation, context.version)
    if not found:
        raise NotApplicable(f"HAL {context.version} has no such model of {operation}")
    for number, vector in enumerate(found):
        _by_two_executors(context, vector, number)


def _by_two_executors(context: CaseContext, vector: Vector, number: int) -> None:
    """Execute in the usual way and in one of the others, which take turns."""
    is_open = any(operand.is_open for operand in vector.operands.values())
    names = executors(context.version, finding_shapes=is_open)
    for executor in dict.fromkeys((names[0], names[number % len(names)])):
        name = f"{vector.name}.{executor}"
        if context.wants(name):
            with context.configuration(name):
                prepared_model = prepared(context, vector)
                for turn, example in enumerate((*vector.examples, vector.examples[0])):
                    _execute(context, prepared_model, vector, example, executor, turn)


def _execute(
    context: CaseContext, prepared_model: PreparedModel, vector: Vector, example: Example, executor: str, turn: int
) -> None:
    built = build_request(vector, example, context.version)
    request, outputs = in_pools(context, built)
    execution = bind(context, prepared_model, request, executor=executor)()
    is_open = any(operand.is_open for operand in vector.operands.values())
    if turn == 0 and is_open and execution.status == ErrorStatus.GENERAL_FAILURE:
        raise NotSupported("the device does not execute with sizes that come with the request")
    shapes = " ".join(str(list(array.shape)) for array in example.inputs.values())
    what = f"execution {turn + 1}, with inputs of shape {shapes}"
    with checks.about("NNHAL-PREPARE-014"):
        checks.status(execution.status, {ErrorStatus.NONE}, what)
    _has_shapes(vector, example, execution, what)
    judge(context, vector, example, built.read_like(example, outputs.read(0, built.output_size)))


@checks.about("NNHAL-SHAPE-002")
def _has_shapes(vector: Vector, example: Example, execution: Execution, what: str) -> None:
    """The right shapes are reported; of outputs that the model specifies fully there may be none."""
    if execution.output_shapes or any(vector.operands[name].is_open for name in vector.outputs):
        expected = [example.outputs[name].shape for name in vector.outputs]
        checks.equal([one.dimensions for one in execution.output_shapes], expected, f"shapes of the outputs, {what}")
