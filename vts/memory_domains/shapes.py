"""Buffers of open shape: what a request may say of them, and how they follow what is written to them.

A device may decline such buffers, and models whose sizes are not known.
"""

from __future__ import annotations

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.neuralnetworks.hal import DeviceBuffer, PreparedModel
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.addition import SUM, A, B, Pair
from npu_conformance.vts.lib.executors import executors
from npu_conformance.vts.lib.memory_domains.fixture import (
    GENERAL,
    INVALID,
    NONE,
    Argument,
    Bench,
    Shape,
    by_each_executor,
)

cases = CaseGroup("vts.memory_domains", group=Group.MEMORY)
_SINCE = Version.V1_3


def _needs_open_outputs(bench: Bench) -> None:
    if bench.executor not in executors(bench.context.version, finding_shapes=True):
        raise NotApplicable("a fenced execution knows the shapes of its outputs beforehand")


def _pool(bench: Bench, values: Pair, factor: int) -> Pool:
    return bench.pool(bench.chosen.packed(values) * factor)


def _adds_into(bench: Bench, model: PreparedModel, target: DeviceBuffer, factor: int) -> int:
    """Execute with `factor` times as many elements as usual; returns the status."""
    shape = (factor * bench.elements,)
    inputs = [Argument(_pool(bench, values, factor), shape) for values in (A, B)]
    return bench.run(model, inputs, (target,)).status


def _holds(bench: Bench, made: DeviceBuffer, factor: int, what: str) -> None:
    size = len(bench.chosen.packed(SUM))
    content = bench.content(made, factor * size)
    for start in range(0, len(content), size):
        bench.chosen.check(content[start : start + size], SUM, what)


@cases.case("shapes.contradicting_request", "NNHAL-MEMDOMAIN-027", since=_SINCE)
@by_each_executor
def contradicting_request(bench: Bench) -> None:
    """Dimensions of a request that the model allows and the buffer does not, of an input and of an output."""
    model, usual, double = bench.prepare(dimensions=(0,)), (bench.elements,), (2 * bench.elements,)
    made = bench.allocate(model, inputs=(0,), outputs=(0,), dimensions=usual)
    bench.fill(made, A)
    big, result = Argument(_pool(bench, B, 2), double), Argument(bench.pool(2 * len(bench.chosen.packed(B))), double)
    bench.fails(model, (Argument(made, double), big), (result,), INVALID, "execution with an input that contradicts")
    bench.holds(made, A, "content after a refused execution")
    bench.fails(model, (big, big), (Argument(made, double),), INVALID, "execution with an output that contradicts")


@cases.case("shapes.contradicting_result", "NNHAL-MEMDOMAIN-028", "NNHAL-MEMDOMAIN-016", since=_SINCE)
@by_each_executor
def contradicting_result(bench: Bench) -> None:
    """A result that the buffer was not allocated for fails the execution, and leaves the buffer without content."""
    _needs_open_outputs(bench)
    model = bench.prepare(dimensions=(0,))
    made = bench.allocate(model, inputs=(0,), outputs=(0,), dimensions=(bench.elements,))
    for factor in (2, 3):
        checks.status(_adds_into(bench, model, made, 1), {NONE}, "execution with a result that fits")
        _holds(bench, made, 1, "result that fits")
        checks.status(_adds_into(bench, model, made, factor), {GENERAL}, "execution with a result that does not fit")
        checks.status(bench.copy_to(made), {GENERAL}, "copyTo after a failed execution")
        one = Argument(made, (bench.elements,))
        other = Argument(bench.pool(), (bench.elements,))
        bench.fails(model, (one, other), (bench.pool(),), GENERAL, "execution on the output of a failed execution")


@cases.case("shapes.resizing", "NNHAL-MEMDOMAIN-033", "NNHAL-MEMDOMAIN-020", since=_SINCE)
@by_each_executor
def resizing(bench: Bench) -> None:
    """A buffer of open size takes longer and shorter outputs one after the other, and has the size of the last."""
    _needs_open_outputs(bench)
    model, size = bench.prepare(dimensions=(0,)), len(bench.chosen.packed(A))
    made = bench.allocate(model, outputs=(0,))
    for factor in (1, 3, 2, 64, 1):
        checks.status(
            _adds_into(bench, model, made, factor), {NONE}, f"execution of {factor * bench.elements} elements"
        )
        _holds(bench, made, factor, f"result of {factor * bench.elements} elements")
        checks.status(
            bench.copy_to(made, (factor + 1) * size), {INVALID}, "copyTo of another size than the last output"
        )


@cases.case("shapes.of_last_output", "NNHAL-MEMDOMAIN-029", since=_SINCE)
@by_each_executor
def of_last_output(bench: Bench) -> None:
    """As an input a buffer has the shape of the last output, and no other that was there before."""
    _needs_open_outputs(bench)
    model = bench.prepare(dimensions=(0,))
    made = bench.allocate(model, inputs=(0,), outputs=(0,))
    for factor, before in ((1, 2), (2, 1), (1, 2)):
        checks.status(_adds_into(bench, model, made, factor), {NONE}, "execution into the buffer")
        _is_input_of(bench, model, made, factor)
        _is_refused_as(bench, model, made, before)


@cases.case("shapes.of_last_copy", "NNHAL-MEMDOMAIN-029", "NNHAL-MEMDOMAIN-027", since=_SINCE)
@by_each_executor
def of_last_copy(bench: Bench) -> None:
    """As an input a buffer has the shape of the last copy too."""
    model = bench.prepare(dimensions=(0,))
    made = bench.allocate(model, inputs=(0,))
    for factor, before in ((1, 2), (2, 1)):
        data = bench.chosen.packed(SUM) * factor
        copied = bench.copy_from(made, data, (factor * bench.elements,))
        checks.status(copied, {NONE}, f"copyFrom of {len(data)} bytes")
        _is_input_of(bench, model, made, factor)
        _is_refused_as(bench, model, made, before)


def _is_input_of(bench: Bench, model: PreparedModel, made: DeviceBuffer, factor: int) -> None:
    """The buffer holds SUM `factor` times; B is added once more."""
    shape: Shape = (factor * bench.elements,)
    result = _pool(bench, A, factor)
    places = (Argument(made, shape), Argument(_pool(bench, B, factor), shape))
    bench.succeeds(model, places, (Argument(result, shape),), f"execution with the buffer as input of shape {shape}")
    expected = (SUM[0] + B[0], SUM[1] + B[1])
    size = len(bench.chosen.packed(B))
    for start in range(0, factor * size, size):
        bench.chosen.check(bytes(result.read(start, size)), expected, f"sum of shape {shape}")


def _is_refused_as(bench: Bench, model: PreparedModel, made: DeviceBuffer, factor: int) -> None:
    shape: Shape = (factor * bench.elements,)
    places = (Argument(made, shape), Argument(_pool(bench, B, factor), shape))
    result = Argument(_pool(bench, A, factor), shape)
    bench.fails(model, places, (result,), INVALID, f"execution with a shape {shape} that the buffer has not")


@cases.case("shapes.unknown_rank", "NNHAL-MEMDOMAIN-033", "NNHAL-MEMDOMAIN-019", since=_SINCE)
@by_each_executor
def unknown_rank(bench: Bench) -> None:
    """A buffer of which not even the rank is known takes shapes of any rank."""
    model, count = bench.prepare(dimensions=()), bench.elements
    made = bench.allocate(model, inputs=(0,))
    data = bench.chosen.packed(A)
    checks.status(bench.copy_from(made, data), {INVALID}, "copyFrom without dimensions to a buffer of unknown rank")
    for shape in ((count,), (count, 1), (1, count, 1)):
        checks.status(bench.copy_from(made, data, shape), {NONE}, f"copyFrom of shape {shape}")
        result = bench.pool()
        other = Argument(bench.pool(bench.chosen.packed(B)), shape)
        bench.succeeds(model, (Argument(made, shape), other), (Argument(result, shape),), f"execution of shape {shape}")
        bench.chosen.check(bytes(result.read(0, len(data))), SUM, f"sum of shape {shape}")
