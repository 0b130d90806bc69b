"""One prepared model, legal and illegal requests in turn: what has been executed well is refused when it is illegal.

Sizes, parameters and indexes come with the request, so that each request decides anew whether it breaks a rule of the
operation (NNHAL-PREPARE-014). A refusal is any status but NONE (NNHAL-REQUEST-018); the driver lives on, and computes
the next legal request as if nothing had been (NNHAL-ERROR-008).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from npu_conformance.corpus import illegal_turns, vectors
from npu_conformance.corpus.vectors import Example, Rejected, Vector
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.run.cases import Case, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.burst import Burst
from npu_conformance.harness.run.executing.execution import Execution, shape_rules
from npu_conformance.harness.run.executing.executors import bind, executors
from npu_conformance.harness.run.vector_cases import in_a_word
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import Request
from npu_conformance.specs.requirements import result_requirement
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.bound_request import BoundRequest, bound_request
from npu_conformance.vts.lib.preparing import prepared
from npu_conformance.vts.lib.support import supports

Execute = Callable[[Example], tuple[Execution, BoundRequest]]
"""Executes with the inputs of an example; gives the answer, and the request with its memory."""

_OF_ANY_SHAPES = {
    "ABS", "ARGMAX", "ARGMIN", "AVERAGE_POOL_2D", "BIDIRECTIONAL_SEQUENCE_LSTM", "CAST", "DEQUANTIZE", "ELU", "EXP",
    "EXPAND_DIMS", "FILL", "FLOOR", "GATHER", "HARD_SWISH", "HASHTABLE_LOOKUP", "IF", "INSTANCE_NORMALIZATION",
    "L2_NORMALIZATION", "L2_POOL_2D", "LOCAL_RESPONSE_NORMALIZATION", "LOG", "LOGICAL_NOT", "LOGISTIC",
    "LOG_SOFTMAX", "LSTM", "MAX_POOL_2D", "MEAN", "NEG", "QUANTIZE", "RANDOM_MULTINOMIAL", "RANK", "REDUCE_ALL",
    "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "REDUCE_SUM", "RELU", "RELU1", "RELU6",
    "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "RSQRT", "SIN", "SOFTMAX", "SQRT", "TANH", "TILE", "TOPK_V2",
    "WHILE",
}  # fmt: skip
"""Operations whose inputs may each have another size alone, or of which AOSP's driver takes what they may not have."""

_WITH_VALUES = {
    "ADD", "ARGMAX", "ARGMIN", "AVERAGE_POOL_2D", "AXIS_ALIGNED_BBOX_TRANSFORM", "BATCH_TO_SPACE_ND",
    "BOX_WITH_NMS_LIMIT", "CHANNEL_SHUFFLE", "CONCATENATION", "CONV_2D", "DEPTHWISE_CONV_2D", "DEPTH_TO_SPACE",
    "DETECTION_POSTPROCESSING", "EMBEDDING_LOOKUP", "EXPAND_DIMS", "FILL", "GATHER", "GROUPED_CONV_2D",
    "L2_POOL_2D", "LOG_SOFTMAX", "LSH_PROJECTION", "MAX_POOL_2D", "MIRROR_PAD", "PACK", "PAD", "PAD_V2",
    "REDUCE_ALL", "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "REDUCE_SUM", "RESHAPE",
    "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "REVERSE", "ROI_ALIGN", "ROI_POOLING", "SLICE",
    "SPACE_TO_BATCH_ND", "SPACE_TO_DEPTH", "SPLIT", "SQUEEZE", "STRIDED_SLICE", "SVDF", "TOPK_V2", "TRANSPOSE",
    "TRANSPOSE_CONV_2D", "UNIDIRECTIONAL_SEQUENCE_RNN",
}  # fmt: skip
"""Operations with parameters or indexes of which some are illegal."""

_OF_NO_SIMPLE_MODEL = {"IF", "RANDOM_MULTINOMIAL", "WHILE"}
"""Operations that have graphs, or whose results only chance decides."""


class Kind(Struct, frozen=True):
    """What is illegal in some requests. find: the models; has: whether an operation has such models."""

    name: str
    find: Callable[[str, Version], list[Vector]]
    has: Callable[[str], bool]
    description: str


KINDS = (
    Kind(
        "shapes",
        illegal_turns.illegal_shapes,
        lambda operation: operation not in _OF_ANY_SHAPES,
        "A model that computes legal shapes refuses illegal ones of any input, and computes the legal ones again.",
    ),
    Kind(
        "values",
        illegal_turns.illegal_values,
        lambda operation: operation in _WITH_VALUES,
        "A model that computes refuses parameters and indexes out of their ranges, and computes legal ones again.",
    ),
    Kind(
        "left_out",
        illegal_turns.left_out,
        lambda operation: operation not in _OF_NO_SIMPLE_MODEL,
        "A model that computes refuses a request that leaves out a required tensor, and computes the whole one again.",
    ),
)


def cases() -> Iterator[Case]:
    """The cases of every operation that such a request is made of."""
    for operation in vectors.operations():
        yield from cases_under(operation)


def cases_under(subject: str) -> Iterator[Case]:
    """The cases of one operation."""
    if subject in vectors.operations():
        yield from (_case(subject, kind) for kind in KINDS if kind.has(subject))


def _case(operation: str, kind: Kind) -> Case:
    since = min(header.since for header in vectors.headers(operation) if header.rejected is None)
    return Case(
        f"vts.illegal_turns.{operation}.{kind.name}",
        functools.partial(_run, operation, kind),
        (result_requirement(operation), "NNHAL-PREPARE-014", "NNHAL-REQUEST-018", "NNHAL-ERROR-008"),
        kind.description,
        since=max(since, Version.V1_2),
        group=Group.EXECUTION,
        operations=(operation,),
    )


def _run(operation: str, kind: Kind, context: CaseContext) -> None:
    found = kind.find(operation, context.version)
    if not found:
        raise NotApplicable(f"HAL {context.version} has no such model of {operation}")
    usual, *others = executors(context.version, finding_shapes=True)
    turn = vectors.operations().index(operation)
    for number, vector in enumerate(_supported(context, found)):
        for executor in (usual, others[(turn + number) % len(others)]):
            name = f"{vector.name}.{len(vector.inputs)}_inputs.{executor}"
            if context.wants(name):
                with context.configuration(name), checks.telling(lambda: in_a_word(vector)):  # noqa: B023
                    _execute_in_turn(context, vector, _way(context, vector, executor))


def _supported(context: CaseContext, found: list[Vector]) -> list[Vector]:
    """Of the models with as many inputs the first one that the device supports."""
    chosen: dict[int, Vector] = {}
    for vector in found:
        if len(vector.inputs) not in chosen and supports(context, vector):
            chosen[len(vector.inputs)] = vector
    if not chosen:
        raise NotSupported(f"not supported: {found[0].operation} whose sizes and values come with the request")
    return list(chosen.values())


def _way(context: CaseContext, vector: Vector, executor: str) -> Execute:
    """Requests that differ in values alone are bound once; those of a burst go through the same one."""
    prepared_model = prepared(context, vector)
    roomy = replace(vector, rejected=Rejected("", "execution"))  # what is to be refused must not fail for want of room
    legal, *illegal = vector.examples
    if all(_shapes(one) == _shapes(legal) for one in illegal):
        bound = bound_request(context, roomy, legal)
        return _again(context, bound, bind(context, prepared_model, bound.request, executor=executor))
    return _anew(context, roomy, _run_of(context, prepared_model, executor))


def _shapes(example: Example) -> dict[str, tuple[int, ...]]:
    return {name: array.shape for name, array in example.inputs.items()}


def _again(context: CaseContext, bound: BoundRequest, run: Callable[[], Execution]) -> Execute:
    def execute(example: Example) -> tuple[Execution, BoundRequest]:
        bound.put(context, example)
        return run(), bound

    return execute


def _anew(context: CaseContext, vector: Vector, run: Callable[[Request], Execution]) -> Execute:
    def execute(example: Example) -> tuple[Execution, BoundRequest]:
        bound = bound_request(context, vector, example)
        bound.put(context, example)
        return run(bound.request), bound

    return execute


def _run_of(context: CaseContext, prepared_model: PreparedModel, executor: str) -> Callable[[Request], Execution]:
    if not executor.startswith("burst"):
        return lambda request: bind(context, prepared_model, request, executor=executor)()
    burst, names = Burst(context, prepared_model), itertools.count()
    with_config = executor == "burst_with_config"
    return lambda request: burst.execute(request, [next(names) for _ in request.pools], with_config=with_config)


def _execute_in_turn(context: CaseContext, vector: Vector, execute: Execute) -> None:
    legal, *illegal = vector.examples
    _computes(context, vector, execute, legal, 0)
    for turn, example in enumerate(illegal, 1):
        for _ in range(1 + turn % 2):  # every other one follows itself, and is as illegal as before
            _refuses(vector, execute, example)
        _computes(context, vector, execute, legal, turn)


def _computes(context: CaseContext, vector: Vector, execute: Execute, example: Example, turn: int) -> None:
    what = f"legal execution, after {turn} illegal ones"
    execution, bound = execute(example)
    if turn == 0 and execution.status == ErrorStatus.GENERAL_FAILURE:
        raise NotSupported("the device does not execute with sizes or values that come with the request")
    with checks.about("NNHAL-ERROR-008" if turn else result_requirement(vector.operation)):
        checks.status(execution.status, {ErrorStatus.NONE}, what)
    bound.check(context, example, execution, what)


def _refuses(vector: Vector, execute: Execute, example: Example) -> None:
    what = f"execution in which {_difference(vector, example)}"
    execution, _ = execute(example)
    with checks.about("NNHAL-REQUEST-018"):
        checks.that(execution.status != ErrorStatus.NONE, f"{what}: expected a refusal, found NONE")
    shape_rules(execution)


def _difference(vector: Vector, example: Example) -> str:
    """What is another one than in the legal example."""
    legal = vector.examples[0].inputs
    for name, array in legal.items():
        other: Any = example.inputs.get(name)
        if other is None:
            return f"{name} is left out"
        if other.shape != array.shape:
            return f"{name} has the shape {list(other.shape)}, not {list(array.shape)}"
        if other.tobytes() != array.tobytes():
            return f"{name} is {other.tolist()}, not {array.tolist()}"
    raise AssertionError("the example is the legal one")
