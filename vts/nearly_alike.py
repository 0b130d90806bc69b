"""Models that are nearly alike: two of an operation that differ in one thing alone live beside each other.

A driver that finds what it has compiled by a part of the model executes one of them as the other (NNHAL-PREPARE-013).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.wire_model import build_request
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import judge
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import Case, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import in_pools
from npu_conformance.harness.run.executing.executors import execute
from npu_conformance.harness.run.vector_cases import in_a_word
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.requirements import result_requirement
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.lacking import require_operation
from npu_conformance.vts.lib.loops import longest_timeout
from npu_conformance.vts.lib.preparing import prepared
from npu_conformance.vts.lib.turning import KINDS

if TYPE_CHECKING:
    import numpy

    from npu_conformance.corpus.twins import Twins

    Array = numpy.ndarray[Any, Any]

AREA = "vts.nearly_alike"
_WITHOUT = {"RANDOM_MULTINOMIAL"}
"""Operations whose results are drawn."""
_FAR = {"QUANTIZED_16BIT_LSTM", "QUANTIZED_LSTM"}
"""Operations whose results may be far from the exact ones but for chosen numbers: which model's are nearer counts."""
_STEPS_APART = {1: 8, 2: 256}
"""So many steps lie between what two such models give at the places that count, by the bytes of an element."""
_OF_SHAPES = {"executed": "sizes", "same_size": "order_of_sizes"}
"""Kinds of vectors whose requests differ in shapes alone, with what models for one request each differ in."""


def cases() -> Iterator[Case]:
    """A case for each operation."""
    for operation in vectors.operations():
        yield from cases_under(operation)


def cases_under(subject: str) -> Iterator[Case]:
    """The case of one operation."""
    if subject not in vectors.operations() or subject in _WITHOUT:
        return
    yield Case(
        f"{AREA}.{subject}.prepared",
        functools.partial(_run, subject),
        (result_requirement(subject), "NNHAL-PREPARE-013", "NNHAL-EXECUTE-001"),
        "Two models of the operation that differ in one thing alone are prepared, and each is executed as itself.",
        since=min(header.since for header in vectors.headers(subject) if header.rejected is None),
        group=Group.EXECUTION,
        operations=(subject,),
    )


def _run(operation: str, context: CaseContext) -> None:
    require_operation(context, operation)
    pairs = list(_pairs(operation, context.version))
    if not pairs:
        raise NotApplicable(f"HAL {context.version} has no two such models of {operation}")
    for name, one, other in pairs:
        if context.wants(name):
            with context.configuration(name), checks.telling(lambda: f"two models that differ in {name}"):  # noqa: B023
                _told_apart(context, one, other)


def _pairs(operation: str, version: Version) -> Iterator[Twins]:
    from npu_conformance.corpus import twins

    found = twins.twins(operation, version)
    yield from (pair for pair in found if operation not in _FAR or any(_apart(pair.one, pair.other)))
    for kind in KINDS if operation not in _FAR else ():
        if kind.name in _OF_SHAPES and kind.has(operation):
            for vector in kind.find(operation, version)[:1]:
                yield from twins.of_two_requests(_OF_SHAPES[kind.name], vector, version)
        if kind.name == "other_parameters" and kind.has(operation):
            for vector in kind.find(operation, version)[:1]:
                yield from twins.of_parameters(vector, version)


def _told_apart(context: CaseContext, one: Vector, other: Vector) -> None:
    """The second one is not executed alone: a relaxed model may have made it less precise by then."""
    first = prepared(context, other)
    found = _executed(context, first, other)
    if other.operation not in _FAR:
        _judge(context, other, found)
    elif not _is_nearer(other, one, found):
        raise NotApplicable("alone, a model's result is too far from the exact one to tell two models apart")
    second = prepared(context, one)
    for vector, rival, prepared_model in ((one, other, second), (other, one, first)):
        found = _executed(context, prepared_model, vector)
        if vector.operation not in _FAR:
            _judge(context, vector, found, _beside)
            continue
        with checks.about("NNHAL-PREPARE-013"):
            what = "at most places the result is nearer to that of the other model than to the model's own"
            checks.that(_is_nearer(vector, rival, found), what)


def _beside(_vector: Vector, _output: str) -> tuple[str, ...]:
    """What is broken where an output is wrong that is right without the other model."""
    return ("NNHAL-PREPARE-013",)


def _executed(context: CaseContext, prepared_model: PreparedModel, vector: Vector) -> Mapping[str, Array]:
    """The outputs of a model for its one example."""
    (example,) = vector.examples
    built = build_request(vector, example, context.version)
    request, outputs = in_pools(context, built)
    with checks.telling(lambda: in_a_word(vector)), checks.about("NNHAL-EXECUTE-001"):
        execution = execute(context, prepared_model, request, measure=False, loop_timeout=longest_timeout(vector))
        checks.status(execution.status, {ErrorStatus.NONE}, "execution")
    return built.read_like(example, outputs.read(0, built.output_size))


def _judge(
    context: CaseContext,
    vector: Vector,
    found: Mapping[str, Array],
    about: Callable[[Vector, str], tuple[str, ...]] | None = None,
) -> None:
    with checks.telling(lambda: in_a_word(vector)):
        judge(context, vector, vector.examples[0], found, about)


def _is_nearer(vector: Vector, rival: Vector, found: Mapping[str, Array]) -> bool:
    """True where most of what the two models give apart is nearer to what the first one should give."""
    nearer = total = 0
    for own, its, name in _apart(vector, rival):
        result = found[name].astype(float)
        is_apart = abs(own - its) > _STEPS_APART[found[name].itemsize]
        nearer += int((abs(result - own) < abs(result - its))[is_apart].sum())
        total += int(is_apart.sum())
    return 2 * nearer > total


def _apart(one: Vector, other: Vector) -> Iterator[tuple[Array, Array, str]]:
    """The outputs of which some elements are far from each other, and their names."""
    mine, its = one.examples[0].outputs, other.examples[0].outputs
    for name, array in mine.items():
        pair = array.astype(float), its[name].astype(float)
        if (abs(pair[0] - pair[1]) > _STEPS_APART[array.itemsize]).any():
            yield *pair, name
