"""Feature level 8: reusable executions, and executions with a configuration."""

from __future__ import annotations

from collections.abc import Callable

from npu_conformance.harness import checks
from npu_conformance.harness.cases import Behaviours, Group
from npu_conformance.harness.trial import Trial
from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.neuralnetworks.enums import MAXIMUM_LOOP_TIMEOUT_DURATION_NS, ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import (
    ExecutionConfig,
    ExecutionResult,
    ExtensionNameAndPrefix,
    Request,
    TokenValuePair,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts import addition
from npu_conformance.vts.addition import Pair
from npu_conformance.vts.execution import NO_DEADLINE, Execution, Terms, answer_of, config_of, opened, timing_rules
from npu_conformance.vts.executions.sums import sum_of
from npu_conformance.vts.requests import EDITS, small_request

cases = Behaviours("vts.executions", group=Group.EXECUTION)

_VALUES: tuple[Pair, ...] = ((0.25, 4.0), (-3.0, 1.5), (0.0, 0.0), (0.25, 4.0))
_PREFIX = 7
_UNKNOWN = (ExtensionNameAndPrefix("com.example.no_such_extension", _PREFIX),)
_HINTS = {"with_value": b"\x01\x02\x03", "without_value": b""}
_REFUSED = {
    ErrorStatus.GENERAL_FAILURE, ErrorStatus.INVALID_ARGUMENT, ErrorStatus.DEVICE_UNAVAILABLE,
    ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT, ErrorStatus.RESOURCE_EXHAUSTED_PERSISTENT,
}  # fmt: skip


@cases.case("reusable.changed_inputs", "NNHAL-EXECUTE-014", "NNHAL-EXECUTE-018", since=Version.FL8)
def changed_inputs(trial: Trial) -> None:
    """A reusable execution is run again and again: each time with what its input memory holds then."""
    chosen = addition.supported(trial)
    asked = sum_of(trial, chosen)
    for measured in (False, True):
        with trial.configuration("timed" if measured else "untimed"):
            run = opened(trial, chosen.prepared(trial), asked.request, Terms(measure=measured), "reusable")
            results = []
            for turn, values in enumerate(_VALUES):
                filled, execution = asked.put(values), run()
                filled.check(execution, f"run {turn + 1} of a reusable execution")
                timing_rules(trial, execution, measured=measured)
                results.append(filled.result())
            checks.equal(results[-1], results[0], "bytes of the result of the same inputs")


@cases.case("reusable.side_by_side", "NNHAL-EXECUTE-014", since=Version.FL8)
def side_by_side(trial: Trial) -> None:
    """Two reusable executions of one prepared model, each with its own request, are run in turn."""
    chosen = addition.supported(trial)
    prepared_model = chosen.prepared(trial)
    both = [sum_of(trial, chosen, values) for values in _VALUES[:2]]
    runs = [opened(trial, prepared_model, asked.request, executor="reusable") for asked in both]
    for _ in range(2):
        for asked, run in zip(both, runs, strict=True):
            asked.clear()
            asked.check(run(), "run of one of two reusable executions")


@cases.case("reusable.invalid_request", "NNHAL-EXECUTE-015", "NNHAL-ERROR-009", since=Version.FL8)
def invalid_request(trial: Trial) -> None:
    """An invalid request is refused where it is bound, or else each time that it is executed."""
    chosen = addition.supported(trial)
    prepared_model, request = chosen.prepared(trial), small_request(trial)
    for spoiled in EDITS:
        with trial.configuration(spoiled.name):
            run = opened(trial, prepared_model, spoiled.edit(request, chosen.elements), executor="reusable")
            for turn in ("first", "second"):
                execution = run()
                what = f"{turn} run of a reusable execution whose request is invalid"
                checks.status(execution.status, {ErrorStatus.INVALID_ARGUMENT}, what)


@cases.case("reusable.one_in_flight", "NNHAL-EXECUTE-016", since=Version.FL8)
def one_in_flight(trial: Trial) -> None:
    """Two runs of one object at once, which no client may ask for: each is right or refused, and it lives on."""
    chosen = addition.supported(trial)
    asked = sum_of(trial, chosen)
    run = opened(trial, chosen.prepared(trial), asked.request, executor="reusable")
    executions = trial.at_once([run, run])
    for execution in executions:
        if isinstance(execution, InterfaceError):
            raise execution
        checks.status(execution.status, {ErrorStatus.NONE, *_REFUSED}, "run of an object while another one goes on")
    if any(isinstance(one, Execution) and one.status == ErrorStatus.NONE for one in executions):
        chosen.check(asked.result(), asked.expected, "sum of runs at once")
    asked.clear()
    asked.check(run(), "run of the object afterwards")


@cases.case("config.as_without", "NNHAL-EXECUTE-012", since=Version.FL8)
def as_without(trial: Trial) -> None:
    """Without hints, a configuration says the same as the arguments of the older call, also what is wrong."""
    chosen = addition.supported(trial)
    prepared_model, asked = chosen.prepared(trial), sum_of(trial, chosen)
    for name, call in _forms(prepared_model).items():
        with trial.configuration(name):
            asked.clear()
            asked.check(_answer(call, asked.request, config_of(Terms())), f"{name} execution")
            for timeout in (-2, MAXIMUM_LOOP_TIMEOUT_DURATION_NS + 1):
                execution = _answer(call, asked.request, config_of(Terms(loop_timeout=timeout)))
                what = f"{name} execution with a loop timeout of {timeout} ns"
                checks.status(execution.status, {ErrorStatus.INVALID_ARGUMENT}, what)
            for measured in (True, False):
                execution = _answer(call, asked.request, config_of(Terms(measure=measured)))
                timing_rules(trial, execution, measured=measured)


@cases.case("config.hints_of_unknown_extensions", "NNHAL-EXECUTE-013", since=Version.FL8)
def hints_of_unknown_extensions(trial: Trial) -> None:
    """Hints of an extension that the device does not have are ignored."""
    chosen = addition.supported(trial)
    prepared_model, asked = chosen.prepared(trial), sum_of(trial, chosen)
    for name, call in _forms(prepared_model).items():
        for kind, value in _HINTS.items():
            with trial.configuration(f"{name}.{kind}"):
                hints = (TokenValuePair(_PREFIX << 16 | 3, value),)
                config = ExecutionConfig(execution_hints=hints, extension_name_to_prefix=_UNKNOWN)
                asked.clear()
                asked.check(_answer(call, asked.request, config), f"{name} execution with a hint that nobody knows")


_Form = Callable[[Request, ExecutionConfig], ExecutionResult]


def _forms(prepared_model: PreparedModel) -> dict[str, _Form]:
    """The calls that take a configuration, by name."""

    def reusable(request: Request, config: ExecutionConfig) -> ExecutionResult:
        return prepared_model.create_reusable_execution(request, config).execute_synchronously(NO_DEADLINE)

    def direct(request: Request, config: ExecutionConfig) -> ExecutionResult:
        return prepared_model.execute_synchronously_with_config(request, config, NO_DEADLINE)

    return {"synchronous_with_config": direct, "reusable": reusable}


def _answer(call: _Form, request: Request, config: ExecutionConfig) -> Execution:
    return answer_of(lambda: call(request, config))
