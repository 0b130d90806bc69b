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
from npu_conformance.vts.lib.sums import Sum, has_size, of_size, prepared_or_unsupported, sum_of, with_dimensions

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
        if not executor.startswith("burst"):
            options = ExecutionOptions(measure, deadline=deadline)
            return bind(self._context, self._prepared, request, options, executor)()
        self._burst = self._burst or Burst(self._context, self._prepared)
        with_config = executor == "burst_with_config"
        return self._burst.execute(request, measure=measure, deadline=deadline, with_config=with_config)


@cases.case(
    "other_shapes", "NNHAL-EXECUTE-001", "NNHAL-PREPARE-014", "NNHAL-SHAPE-002", "NNHAL-TIMING-001", since=Version.V1_2
)
def other_shapes(context: CaseContext) -> None:
    """A model of open sizes fails with tensors of one size, and executes then with those of another, each way."""
    chosen = addition.supported(context)
    model = with_dimensions(chosen.model(), (0,), inputs=True)
    ways = _Ways(context, prepared_or_unsupported(context, model))
    asked = sum_of(context, chosen)
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
        _fail(ways, of_size(asked, failing), executor, kind)
        for measure in (False, turn == 0):
            filled = asked.put(_VALUES[turn])
            execution = ways.run(executor, of_size(asked, following), measure=measure)
            shape_rules(execution)
            timing_rules(context, execution, measured=measure)
            has_size(filled, execution, following)


def _fail(ways: _Ways, request: Request, executor: str, kind: str) -> None:
    (output,) = request.outputs
    if kind == "refused":
        status = ways.run(executor, replace(request, inputs=request.inputs[1:])).status
        checks.status(status, {ErrorStatus.INVALID_ARGUMENT}, "execution without an input")
    elif kind == "without_room":
        short = replace(output, location=replace(output.location, length=output.location.length - 1))
        status = ways.run(executor, replace(request, outputs=(short,)), measure=True).status
        checks.that(status != ErrorStatus.NONE, "execution with an output too small: found NONE")
    else:
        status = ways.run(executor, request, measure=True, deadline=_PASSED).status
        checks.status(status, LATE, "execution whose deadline has passed")
