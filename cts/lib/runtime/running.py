"""A computation that is under way for as long as a case wants, and what ends it.

A scripted driver that blocks holds it, where the runtime can be steered. Otherwise it is a WHILE without an end, which
its timeout ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript, Misbehaviour, RuntimeControl
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription
from npu_conformance.specs.versions import Version

_BLOCKER = "npu-blocker"
_LOOP_NS = 1_000_000_000
_FLOAT = OperandDescription(OperandType.TENSOR_FLOAT32, 1, (1,))
_TRUTH = OperandDescription(OperandType.TENSOR_BOOL8, 1, (1,))


@dataclass
class Running:
    """An execution that is under way. succeeds: whether it ends well. end: has it end, and waits for that."""

    app: RuntimeApp
    execution: int
    compilation: int
    succeeds: bool
    end: Callable[[], None]


class Blocker:
    """A driver of the runtime that holds every execution until `release`. NotApplicable without a runtime_control.

    first: the first execution that it holds, counted from 1.
    """

    def __init__(self, context: CaseContext, *, first: int = 1) -> None:
        self.control: RuntimeControl = context.present(context.subject.interfaces.runtime_control, "runtime_control")
        context.close_later(self)
        self.control.set_drivers(
            (DriverScript(_BLOCKER, misbehaviours=(Misbehaviour("execute", "blocks", first=first),)),)
        )

    def close(self) -> None:
        """Give the runtime its drivers back."""
        self.control.release(_BLOCKER)
        self.control.reset()

    def device(self, app: RuntimeApp) -> int:
        """The driver's device."""
        names = {app.succeed("device_get_name", each, True).value: each for each in app.devices()}
        return names[_BLOCKER]

    def release(self) -> None:
        """Let it end what it holds, and hold nothing from here on."""
        self.control.release(_BLOCKER)


@contextmanager
def running(context: CaseContext, *, reusable: bool = False) -> Iterator[Running]:
    """Start a computation; it is ended behind the block where the block has not done so."""
    if context.subject.interfaces.runtime_control is not None:
        started = _held(context, reusable)
    else:
        started = _looping(context, reusable)
    yield from _lasting(context, started)


def _lasting(context: CaseContext, started: Running) -> Iterator[Running]:
    """Give a computation to a block, and end it behind that unless the runtime had to be restarted meanwhile."""
    restarts = context.restarts
    try:
        yield started
    finally:
        if context.restarts == restarts:
            started.end()


@contextmanager
def running_again(context: CaseContext) -> Iterator[Running]:
    """Start the second computation of a reusable execution on one device, whose time is measured.

    NotApplicable without a runtime_control.
    """
    started = _held(context, reusable=True, completed=1)
    yield from _lasting(context, started)


def _held(context: CaseContext, reusable: bool, completed: int = 0) -> Running:
    """completed: so many computations are over before the one that is held; their time is measured."""
    blocker = Blocker(context, first=1 + completed)
    app = RuntimeApp(context)
    compilation = app.finished_compilation(devices=(blocker.device(app),))
    execution = app.ready_execution(compilation)
    if reusable:
        app.succeed("execution_set_reusable", execution, True)
    if completed:
        app.succeed("execution_set_measure_timing", execution, True)
    for _ in range(completed):
        app.computes(execution)
    event = app.started(execution)

    def end() -> None:
        blocker.release()
        app.succeed("event_wait", event)
        app.check_sum(execution)

    return Running(app, execution, compilation, succeeds=True, end=end)


def _looping(context: CaseContext, reusable: bool) -> Running:
    app = RuntimeApp(context)
    if app.level < Version.V1_3:
        raise NotApplicable("without a runtime_control a computation lasts only by a WHILE, since 1.3")
    compilation = app.finished_compilation(_endless(app))
    execution = app.execution(compilation)
    app.succeed("execution_set_input", execution, 0, None, place(app.memory, bytes(4)), 4)
    app.succeed("execution_set_output", execution, 0, None, place(app.memory, bytes(4)), 4)
    app.succeed("execution_set_loop_timeout", execution, _LOOP_NS)
    if reusable:
        app.succeed("execution_set_reusable", execution, True)
    event = app.started(execution)

    def end() -> None:
        missed = (ResultCode.MISSED_DEADLINE_TRANSIENT, ResultCode.MISSED_DEADLINE_PERSISTENT)
        app.expect("event_wait", app.call("event_wait", event), *missed)

    return Running(app, execution, compilation, succeeds=False, end=end)


def _endless(app: RuntimeApp) -> int:
    """A model with a WHILE whose condition is always true: x equals x."""
    condition = _graph(app, OperationType.EQUAL, (0, 0), _TRUTH)
    body = _graph(app, OperationType.RELU, (0,), _FLOAT)
    model = app.empty_model()
    reference = OperandDescription(OperandType.SUBGRAPH)
    for described in (reference, reference, _FLOAT, _FLOAT):
        app.succeed("model_add_operand", model, described)
    for index, graph in enumerate((condition, body)):
        app.succeed("model_set_operand_value_from_model", model, index, graph)
    return _ended(app, model, OperationType.WHILE, (0, 1, 2), (2,), 3)


def _graph(app: RuntimeApp, operation: int, inputs: tuple[int, ...], output: OperandDescription) -> int:
    """A model of one operation on one float."""
    model = app.empty_model()
    app.succeed("model_add_operand", model, _FLOAT)
    app.succeed("model_add_operand", model, output)
    return _ended(app, model, operation, inputs, (0,), 1)


def _ended(
    app: RuntimeApp, model: int, operation: int, inputs: tuple[int, ...], own: tuple[int, ...], output: int
) -> int:
    """Add the operation, identify inputs and output, and finish."""
    app.succeed("model_add_operation", model, operation, inputs, (output,))
    app.succeed("model_identify_inputs_and_outputs", model, own, (output,))
    app.succeed("model_finish", model)
    return model
