"""One call after the other fails, of all that a driver gets in one computation of a model with IF and WHILE.

Where devices are named the computation ends with the code of its driver, whichever part it has in whichever round;
where none are the CPU has this part, and the result is the oracles'. The number in the id says which model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.cts.lib.runtime.fixture import CPU
from npu_conformance.cts.lib.runtime.net_app import Compiled
from npu_conformance.cts.lib.runtime.nets import Net
from npu_conformance.cts.lib.runtime.random_flow_nets import FlowNet
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, MIDDLING, driver
from npu_conformance.cts.lib.runtime.seeded import seeded
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.runtime.control import Misbehaviour
from npu_conformance.specs.neuralnetworks.runtime.result_codes import MAXIMUM_LOOP_TIMEOUT_NS, ResultCode

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array

AREA = "cts.failing_drivers.each_call"
_MODELS = (1, 2, 7)
"""Seeds of models with loops and branches of many parts."""
_DEEPEST, _MOST_CALLS, _MOST_DEATHS = 2, 8, 3
_DRIVERS = (
    driver("one", "MUL", "MINIMUM", exec_time=FAST, restarts=True),
    driver("two", "ADD", "SUB", "MAXIMUM", exec_time=MIDDLING, restarts=True),
    driver("conditions", "LESS", exec_time=FAST, restarts=True),
)
_STATUS, _CODE = int(ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT), ResultCode.RESOURCE_EXHAUSTED_TRANSIENT
_DEAD = (ResultCode.DEAD_OBJECT, ResultCode.OP_FAILED)
"""Before feature level 5 a death in an execution is no code of its own."""
_REQUIREMENTS = ("FW-PRT-011", "FW-PRT-010", "FW-VER-006", "FW-PRT-006")


def cases() -> Iterator[Case]:
    """One case for each seed."""
    return seeded(AREA, len(_MODELS), _run, _REQUIREMENTS, what="model")


def _run(context: CaseContext, seed: int) -> None:
    """Count the calls of a computation in which nothing fails, and then let each fail in its turn."""
    each = EachCall(context, _MODELS[seed])
    for name, count in each.counts().items():
        each.fail_named(name, min(count, _MOST_CALLS))
        each.fail_default(name, count)
        each.die(name, min(count, _MOST_DEATHS))


class EachCall:
    """One model, and the computations of it."""

    def __init__(self, context: CaseContext, model: int) -> None:
        self._context, self._net = context, FlowNet(model, _DEEPEST).net()
        self._inputs = _with_truth(self._net, model % 2 == 0)
        self._expected = self._net.expected_of(self._inputs)

    def counts(self) -> dict[str, int]:
        """How many executions each driver is asked for in one computation."""
        app = ScriptedApp(self._context, *_DRIVERS)
        self._compute(app, app.compiled(self._net))
        found = {script.name: len(app.executions(script.name)) for script in _DRIVERS}
        app.close()
        return found

    def fail_named(self, name: str, count: int) -> None:
        """In each computation one call more is well, and then one fails; in the last one none does."""
        app = self._app(name, "status", list(accumulate(range(1, count + 1))))
        compiled = app.compiled(self._net, *app.driver_names, CPU)
        with checks.about("FW-PRT-011"):
            for _ in range(count):
                self._compute(app, compiled, _CODE)
        self._compute(app, compiled, *((0,) if count < _MOST_CALLS else (0, _CODE)))
        app.close()

    def fail_default(self, name: str, count: int) -> None:
        """In each computation another call fails, one of as many as there are in each."""
        turns = range(min(count, _MOST_CALLS))
        app = self._app(name, "status", [turn * count + turn + 1 for turn in turns])
        compiled = app.compiled(self._net)
        with checks.about("FW-PRT-010"):
            for _ in turns:
                self._compute(app, compiled)
        app.close()

    def die(self, name: str, count: int) -> None:
        """The same with deaths, behind each of which the app has to compile again."""
        app = self._app(name, "dies", list(accumulate(range(1, count + 1))))
        model = app.model(self._net)
        with checks.about("FW-VER-006"):
            for _ in range(count):
                self._compute(app, app.compiled(self._net, *app.driver_names, CPU, model=model), *_DEAD)
        app.close()

    def _app(self, name: str, kind: str, numbers: Sequence[int]) -> ScriptedApp:
        """An app whose driver of this name fails in the calls of these numbers."""
        failures = tuple(Misbehaviour("execute", kind, _STATUS, first=number, count=1) for number in numbers)
        scripts = [replace(one, misbehaviours=failures if one.name == name else ()) for one in _DRIVERS]
        return ScriptedApp(self._context, *scripts)

    def _compute(self, app: ScriptedApp, compiled: Compiled, *codes: int) -> None:
        """Compute; with success, unless it has to end with one of these codes."""
        computed = app.prepared_execution(compiled, self._inputs)
        app.succeed("execution_set_loop_timeout", computed.handle, MAXIMUM_LOOP_TIMEOUT_NS)
        app.finish(compiled, computed, "compute")
        app.expect("execution", computed.result, *(codes or (0,)))
        app.judge(self._net, computed.outputs, self._expected)


def _with_truth(net: Net, truth: bool) -> dict[str, Array]:
    """The inputs of a net with this truth value, which is its first one."""
    import numpy

    first = net.vector.inputs[0]
    return {**net.inputs, first: numpy.full_like(net.inputs[first], truth)}
