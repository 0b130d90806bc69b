"""What a failed execution leaves to the next one: no shape, no time, no value, whichever way both go."""

from __future__ import annotations

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.burst import Burst
from npu_conformance.harness.run.executing.execution import Execution, ExecutionOptions, shape_rules, timing_rules
from npu_conformance.harness.run.executing.executors import bind, executors
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import Request
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import Pair
from npu_conformance.vts.lib.deadlines import LATE
from npu_conformance.vts.lib.preparing import prepared_or_unsupported
from npu_conformance.vts.lib.sums import Sum, has_size, of_size, sum_of, twice, with_dimensions

cases = CaseGroup("vts.executions.behind_failures", group=Group.EXECUTION)
_VALUES: tuple[Pair, ...] = ((0.25, 4.0), (-3.0, 1.5), (2.0, -1.0))
_PASSED = 1
"""A deadline in the past."""


class _Ways:
    """Ways to execute requests by one prepared model; a burst that was opened stays open."""

    def __init__(self, context: CaseContext, prepared_model: PreparedModel) -> None:
        self._context, self._prepared = context, prepared_model
        self._burst: Burst | None = None

    def run(self, executor: str, request: Request, *, measure: bool = False, deadline: int = -1) -> Execution:
        """Execute once."""
        options = ExecutionOptions(measure, deadline=deadline)
        if not executor.startswith("burst"):
            return bind(self._context, self._prepared, request, options, executor)()
        self._burst = self._burst or Burst(self._context, self._prepared)
        return self._burst.execute(request, options=options, with_config=executor == "burst_with_config")


@cases.case(
    "other_shapes", "NNHAL-EXECUTE-001", "NNHAL-PREPARE-014", "NNHAL-SHAPE-002", "NNHAL-TIMING-001", since=Version.V1_2
)
def other_shapes(context: CaseContext) -> None:
    """A model of open sizes fails with tensors of one size, and executes then with those of another, each way."""
    chosen = addition.supported(context)
    model = with_dimensions(twice(chosen.model()), (0,), inputs=True)
    ways = _Ways(context, prepared_or_unsupported(context, model))
    asked = sum_of(context, chosen, outputs=2)
    for executor in executors(context.version):
        for kind in _kinds(context, executor):
            with context.configuration(f"{executor}.{kind}"):
                _live(context, ways, asked, executor, kind)


def _kinds(context: CaseContext, executor: str) -> list[str]:
    """The failures that an executor can come to."""
    has_deadlines = context.version >= Version.V1_3 and (context.version.is_aidl or executor != "burst")
    finds_shapes = executor in executors(context.version, finding_shapes=True)
    return ["refused", *(["without_room"] if finds_shapes else []), *(["late"] if has_deadlines else [])]


def _live(context: CaseContext, ways: _Ways, asked: Sum, executor: str, kind: str) -> None:
    whole = asked.chosen.elements
    for turn, (failing, following) in enumerate(((whole, 1), (1, whole), (whole, whole))):
        _fail(context, ways, of_size(asked, failing), executor, kind, turn % 2)
        for measure in (False, turn == 0):
            filled = asked.put(_VALUES[turn])
            execution = ways.run(executor, of_size(asked, following), measure=measure)
            shape_rules(execution)
            timing_rules(context, execution, measured=measure)
            has_size(filled, execution, following)
            checks.equal(asked.result(1), asked.result(0), "the same sum in the second output")
        if kind == "without_room":  # after a success as after a failure the shapes are those of this execution
            _fail(context, ways, of_size(asked, whole + 1 - following), executor, kind, 1 - turn % 2)
            _fail(context, ways, of_size(asked, following), executor, kind, turn % 2)


def _fail(context: CaseContext, ways: _Ways, request: Request, executor: str, kind: str, place: int) -> None:
    """See an execution fail. place: of the output without room."""
    if kind == "refused":
        status = ways.run(executor, replace(request, inputs=request.inputs[1:])).status
        checks.status(status, {ErrorStatus.INVALID_ARGUMENT}, "execution without an input")
    elif kind == "without_room":
        outputs = [replace(one, dimensions=()) for one in request.outputs]
        location = outputs[place].location
        outputs[place] = replace(outputs[place], location=replace(location, length=location.length - 1))
        execution = ways.run(executor, replace(request, outputs=tuple(outputs)), measure=True)
        timing_rules(context, execution, measured=True)
        _tells_shapes(execution, request.inputs[0].dimensions, place)
    else:
        status = ways.run(executor, request, measure=True, deadline=_PASSED).status
        checks.status(status, LATE, "execution whose deadline has passed")


def _tells_shapes(execution: Execution, dimensions: tuple[int, ...], place: int) -> None:
    """See an execution say which of its outputs has no room, and the shapes of those that have."""
    what = f"execution of {dimensions} elements in which output {place} has no room"
    checks.that(execution.status != ErrorStatus.NONE, f"{what}: found NONE")
    shape_rules(execution)
    if execution.status != ErrorStatus.OUTPUT_INSUFFICIENT_SIZE:
        return
    shapes = execution.output_shapes
    with checks.about("NNHAL-SHAPE-005"):
        checks.equal([one.is_sufficient for one in shapes], [at != place for at in range(2)], f"room, {what}")
    for one in shapes:
        with checks.about("NNHAL-SHAPE-006"):
            checks.member(one.dimensions, [dimensions, (0,)], f"dimensions, {what}")
