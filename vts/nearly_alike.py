"""Models that are nearly alike: two of an operation that differ in one thing alone live beside each other.

A driver that finds what it has compiled by a part of the model executes one of them as the other (NNHAL-PREPARE-013).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

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
from npu_conformance.vts.lib.loops import longest_timeout
from npu_conformance.vts.lib.preparing import prepared
from npu_conformance.vts.lib.turning import KINDS

if TYPE_CHECKING:
    from npu_conformance.corpus.twins import Twins

AREA = "vts.nearly_alike"
_WITHOUT = {"QUANTIZED_16BIT_LSTM", "QUANTIZED_LSTM", "RANDOM_MULTINOMIAL"}
"""Operations whose results are drawn, or may be far from the exact ones but for chosen numbers."""
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
    pairs = list(_pairs(operation, context.version))
    if not pairs:
        raise NotApplicable(f"HAL {context.version} has no two such models of {operation}")
    for name, one, other in pairs:
        if context.wants(name):
            with context.configuration(name), checks.telling(lambda: f"two models that differ in {name}"):  # noqa: B023
                _told_apart(context, one, other)


def _pairs(operation: str, version: Version) -> Iterator[Twins]:
    from npu_conformance.corpus import twins

    yield from twins.twins(operation, version)
    for kind in KINDS:
        if kind.name in _OF_SHAPES and kind.has(operation):
            for vector in kind.find(operation, version)[:1]:
                yield from twins.of_two_requests(_OF_SHAPES[kind.name], vector, version)
        if kind.name == "other_parameters" and kind.has(operation):
            for vector in kind.find(operation, version)[:1]:
                yield from twins.of_parameters(vector, version)


def _told_apart(context: CaseContext, one: Vector, other: Vector) -> None:
    """The second one is not executed alone: a relaxed model may have made it less precise by then."""
    first = prepared(context, other)
    _execute(context, first, other)
    second = prepared(context, one)
    for vector, prepared_model in ((one, second), (other, first)):
        _execute(context, prepared_model, vector, _beside)


def _beside(_vector: Vector, _output: str) -> tuple[str, ...]:
    """What is broken where an output is wrong that is right without the other model."""
    return ("NNHAL-PREPARE-013",)


def _execute(
    context: CaseContext,
    prepared_model: PreparedModel,
    vector: Vector,
    about: Callable[[Vector, str], tuple[str, ...]] | None = None,
) -> None:
    (example,) = vector.examples
    built = build_request(vector, example, context.version)
    request, outputs = in_pools(context, built)
    with checks.telling(lambda: in_a_word(vector)):
        execution = execute(context, prepared_model, request, measure=False, loop_timeout=longest_timeout(vector))
        with checks.about("NNHAL-EXECUTE-001"):
            checks.status(execution.status, {ErrorStatus.NONE}, "execution")
        judge(context, vector, example, built.read_like(example, outputs.read(0, built.output_size)), about)
