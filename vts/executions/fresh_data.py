"""Data that decides whether an execution is possible at all: what the last execution had says nothing of the next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import Example, Vector
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import judge
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import Execution
from npu_conformance.harness.run.executing.executors import bind, executors
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.bound_request import BoundRequest, bound_request
from npu_conformance.vts.lib.preparing import prepared
from npu_conformance.vts.lib.support import supports

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, Any]

cases = CaseGroup("vts.executions", group=Group.EXECUTION)

_OUTPUT = "output"
_CHOOSING = (("EMBEDDING_LOOKUP", "refused_lookup_3_with_the_request"), ("GATHER", "refused_index_3_with_the_request"))
"""Vectors that choose two of three rows by numbers of the request."""
_CLAUSES = {
    "EMBEDDING_LOOKUP": "NNHAL-OPERATION-EMBEDDING_LOOKUP-C3",
    "GATHER": "NNHAL-OPERATION-GATHER-C2",
    "RESHAPE": "NNHAL-OPERATION-RESHAPE-C3",
}
"""The clauses of which data breaks one that has to be rejected."""
_CHOICES = {(2, 0): True, (2, 3): False, (0, 1): True, (1, -1): False, (1, 2): True}
"""Numbers of rows, one execution after the other, and whether there are such rows."""
_RESHAPES = tuple(f"{kind}_shape_of_unknown_length" for kind in ("float32", "quant8", "float16", "quant8_signed"))
"""Vectors that give twelve elements a shape of the request."""
_SHAPES = {(4, 3): True, (3, 4): True, (5, 2): False, (2, 6): True}
"""Shapes, one execution after the other, and whether twelve elements fit."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """One execution. example: without outputs where it must be rejected."""

    example: Example
    what: str


@cases.case(
    "data.rows_outside",
    "NNHAL-OPERATION-EMBEDDING_LOOKUP-C3",
    "NNHAL-OPERATION-GATHER-C2",
    "NNHAL-EXECUTE-001",
    "NNHAL-ERROR-008",
)
def rows_outside(context: CaseContext) -> None:
    """Numbers of rows that do not exist are rejected, also after executions that succeeded; others choose rows."""
    known = _supported(context, [vectors.load(operation, name) for operation, name in _CHOOSING])
    if not known:
        raise NotSupported("no operation is supported that chooses rows by numbers of the request")
    for vector in known:
        _by_each_executor(context, vector, list(_choosing(vector)))


@cases.case(
    "data.other_shapes",
    "NNHAL-OPERATION-RESHAPE-C3",
    "NNHAL-SHAPE-002",
    "NNHAL-EXECUTE-001",
    "NNHAL-ERROR-008",
    since=Version.V1_2,
)
def other_shapes(context: CaseContext) -> None:
    """A shape that comes with the request holds for one execution; one that does not fit is rejected."""
    known = _supported(context, [_of_two_sizes(vectors.load("RESHAPE", name)) for name in _RESHAPES])
    if not known:
        raise NotSupported("RESHAPE is not supported with a shape of the request")
    _by_each_executor(context, known[0], list(_reshaping(known[0])), unspecified=True)


def _supported(context: CaseContext, stored: list[Vector]) -> list[Vector]:
    return [vector for vector in stored if vector.since <= context.version and supports(context, vector)]


def _of_two_sizes(vector: Vector) -> Vector:
    """The vector whose model says how many sizes the shape has, as more devices want it."""
    shape = replace(vector.operands["shape"], dimensions=(2,))
    return replace(vector, operands={**vector.operands, "shape": shape})


def _choosing(vector: Vector) -> Iterator[_Turn]:
    given = vector.examples[0].inputs
    numbers, rows = sorted(given, key=lambda name: given[name].ndim)
    for chosen, is_possible in _CHOICES.items():
        outputs = {_OUTPUT: given[rows].take(chosen, axis=0)} if is_possible else {}
        yield _turn(given, numbers, chosen, outputs, f"rows {chosen}")


def _reshaping(vector: Vector) -> Iterator[_Turn]:
    given = vector.examples[0].inputs
    for shape, fits in _SHAPES.items():
        outputs = {_OUTPUT: given["input"].reshape(shape)} if fits else {}
        yield _turn(given, "shape", shape, outputs, f"shape {shape}")


def _turn(
    given: Mapping[str, Array], name: str, values: tuple[int, ...], outputs: Mapping[str, Array], what: str
) -> _Turn:
    """The inputs of an example with other values of one of them."""
    changed = given[name].copy()
    changed[:] = values
    return _Turn(Example({**given, name: changed}, outputs), f"execution with {what}")


def _by_each_executor(context: CaseContext, vector: Vector, turns: list[_Turn], *, unspecified: bool = False) -> None:
    """Take all turns by each executor, over one request. unspecified: sizes of the output are unknown to the model."""
    prepared_model = prepared(context, vector, unspecified=unspecified)
    bound = bound_request(context, vector, turns[0].example)
    for executor in executors(context.version, finding_shapes=unspecified):
        with context.configuration(f"{vector.operation}.{executor}"):
            run = bind(context, prepared_model, bound.request, executor=executor)
            for number, turn in enumerate(turns):
                bound.put(context, turn.example)
                execution = run()
                if unspecified and number == 0 and execution.status == ErrorStatus.GENERAL_FAILURE:
                    raise NotSupported("the device does not execute with outputs that are not fully specified")
                _check(context, bound, turn, execution)


def _check(context: CaseContext, bound: BoundRequest, turn: _Turn, execution: Execution) -> None:
    """Fail unless the turn was rejected, or gave its result and its shape."""
    if not turn.example.outputs:
        with checks.about(_CLAUSES[bound.vector.operation]):
            checks.that(execution.status != ErrorStatus.NONE, f"{turn.what}: expected a rejection, found NONE")
        return
    with checks.about("NNHAL-EXECUTE-001"):
        checks.status(execution.status, {ErrorStatus.NONE}, turn.what)
    expected = turn.example.outputs[_OUTPUT]
    with checks.about("NNHAL-SHAPE-002"):
        for shape in execution.output_shapes:
            checks.equal(shape.dimensions, expected.shape, f"dimensions of the output, {turn.what}")
    content = bound.outputs.read(0, bound.built.output_size)
    judge(context, bound.vector, turn.example, {_OUTPUT: bound.built.read(_OUTPUT, content, expected.shape)})
