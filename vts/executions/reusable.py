"""Reusable executions, since feature level 8. For hints see vts/extensions/execution_hints.py."""

from __future__ import annotations

import itertools

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import Execution, ExecutionOptions, config_of, timing_rules
from npu_conformance.harness.run.executing.executors import bind, run_reusable
from npu_conformance.harness.run.executing.reusable import reusable_execution
from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.neuralnetworks.enums import EXHAUSTED, ErrorStatus
from npu_conformance.specs.neuralnetworks.types import NO_DEADLINE
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import Pair
from npu_conformance.vts.lib.deadlines import LATE
from npu_conformance.vts.lib.preparing import prepared_or_unsupported
from npu_conformance.vts.lib.request_edits import EDITS, small_request
from npu_conformance.vts.lib.sums import sum_of, with_dimensions

cases = CaseGroup("vts.executions", group=Group.EXECUTION)

_PASSED = 1
"""A deadline in the past."""

_FORMS = ("reusable", "reusable_fenced")
_VALUES: tuple[Pair, ...] = ((0.25, 4.0), (-3.0, 1.5), (0.0, 0.0), (0.25, 4.0))
_REJECTED = {
    ErrorStatus.GENERAL_FAILURE,
    ErrorStatus.INVALID_ARGUMENT,
    ErrorStatus.DEVICE_UNAVAILABLE,
    *EXHAUSTED,
}


@cases.case("reusable.changed_inputs", "NNHAL-EXECUTE-014", "NNHAL-EXECUTE-018", since=Version.FL8)
def changed_inputs(context: CaseContext) -> None:
    """A reusable execution is run again and again: each run uses what its input memory holds then."""
    chosen = addition.supported(context)
    asked = sum_of(context, chosen)
    for executor, measured in itertools.product(_FORMS, (False, True)):
        with context.configuration(f"{executor}.{'timed' if measured else 'untimed'}"):
            run = bind(context, chosen.prepared(context), asked.request, ExecutionOptions(measure=measured), executor)
            results = []
            for turn, values in enumerate(_VALUES):
                filled, execution = asked.put(values), run()
                filled.check(execution, f"run {turn + 1} of a reusable execution")
                timing_rules(context, execution, measured=measured)
                results.append(filled.result())
            checks.equal(results[-1], results[0], "bytes of the result of the same inputs")


@cases.case("reusable.side_by_side", "NNHAL-EXECUTE-014", since=Version.FL8)
def side_by_side(context: CaseContext) -> None:
    """Two reusable executions of one prepared model, each with a request and results of its own, are run in turn."""
    chosen = addition.supported(context)
    prepared_model = chosen.prepared(context)
    both = [sum_of(context, chosen, values) for values in _VALUES[:2]]
    runs = [bind(context, prepared_model, asked.request, executor="reusable") for asked in both]
    for _ in range(2):
        for asked, run in zip(both, runs, strict=True):
            asked.clear()
            asked.check(run(), "run of one of two reusable executions")


@cases.case("reusable.invalid_request", "NNHAL-EXECUTE-015", "NNHAL-ERROR-009", since=Version.FL8)
def invalid_request(context: CaseContext) -> None:
    """An invalid request is rejected where it is bound, or else each time that it is executed."""
    chosen = addition.supported(context)
    prepared_model, request = chosen.prepared(context), small_request(context)
    for executor, edit in itertools.product(_FORMS, EDITS):
        with context.configuration(f"{executor}.{edit.name}"):
            run = bind(context, prepared_model, edit.apply(request, chosen.elements), executor=executor)
            for turn in ("first", "second"):
                execution = run()
                what = f"{turn} run of a reusable execution whose request is invalid"
                checks.status(execution.status, {ErrorStatus.INVALID_ARGUMENT}, what)


@cases.case("reusable.other_deadlines", "NNHAL-EXECUTE-014", "NNHAL-QOS-002", "NNHAL-QOS-003", since=Version.FL8)
def other_deadlines(context: CaseContext) -> None:
    """Each run of a reusable execution has its own deadline: one that has passed says nothing of the next run."""
    chosen = addition.supported(context)
    asked, prepared_model = sum_of(context, chosen), chosen.prepared(context)
    for executor in _FORMS:
        with context.configuration(executor):
            reusable = reusable_execution(context, prepared_model, asked.request, config_of(ExecutionOptions()))
            for deadline in (_PASSED, NO_DEADLINE, _PASSED, NO_DEADLINE):
                asked.clear()
                execution = run_reusable(context, reusable, executor, ExecutionOptions(deadline=deadline))
                if deadline == NO_DEADLINE:
                    asked.check(execution, "run without a deadline after one whose deadline had passed")
                    continue
                with checks.about("NNHAL-QOS-003"):
                    checks.status(execution.status, LATE, "run whose deadline has passed")
                if execution.status == ErrorStatus.NONE:
                    with checks.about("NNHAL-QOS-005"):
                        asked.check(execution, "run whose deadline has passed")


@cases.case("reusable.open_outputs", "NNHAL-FENCED-002", "NNHAL-EXECUTE-015", since=Version.FL8)
def open_outputs(context: CaseContext) -> None:
    """A reusable execution whose outputs have no known shape is not run with fences, and runs without them."""
    chosen = addition.supported(context)
    asked = sum_of(context, chosen)
    for name, dimensions in {"size": (0,), "rank": ()}.items():
        with context.configuration(name):
            prepared_model = prepared_or_unsupported(context, with_dimensions(chosen.model(), dimensions))
            reusable = reusable_execution(context, prepared_model, asked.request, config_of(ExecutionOptions()))
            for turn in range(2):
                execution = run_reusable(context, reusable, "reusable_fenced", ExecutionOptions())
                checks.status(execution.status, {ErrorStatus.INVALID_ARGUMENT}, "fenced run with an open output")
                asked.clear()
                execution = run_reusable(context, reusable, "reusable", ExecutionOptions())
                if turn == 0 and execution.status == ErrorStatus.GENERAL_FAILURE:
                    raise NotSupported("the device does not execute with outputs that are not fully specified")
                with checks.about("NNHAL-EXECUTE-001"):
                    asked.check(execution, "run without fences")


@cases.case("reusable.one_in_flight", "NNHAL-EXECUTE-016", since=Version.FL8)
def one_in_flight(context: CaseContext) -> None:
    """Two concurrent runs of one object, which no client may ask for, are right or rejected; it works on."""
    chosen = addition.supported(context)
    asked = sum_of(context, chosen)
    run = bind(context, chosen.prepared(context), asked.request, executor="reusable")
    executions = context.run_concurrently([run, run])
    for execution in executions:
        if isinstance(execution, InterfaceError):
            raise execution
        checks.status(execution.status, {ErrorStatus.NONE, *_REJECTED}, "run of an object while another one goes on")
    if any(isinstance(one, Execution) and one.status == ErrorStatus.NONE for one in executions):
        chosen.check(asked.result(), asked.expected, "sum of runs at once")
    asked.clear()
    asked.check(run(), "run of the object afterwards")
