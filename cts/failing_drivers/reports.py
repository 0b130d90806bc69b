"""Fenced executions whose fence signals and whose driver reports a failure, whichever part of a model it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from npu_conformance.cts.lib.runtime.control_flow_nets import if_of_computed_condition, while_net
from npu_conformance.cts.lib.runtime.nets import Net, chain
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.runtime.control import FOR_EVER, DriverScript, Misbehaviour
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode, result_of_status
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.failing_drivers.reports", interface="runtime", since=Version.V1_3)

_STATUSES = (ErrorStatus.GENERAL_FAILURE, ErrorStatus.DEVICE_UNAVAILABLE)
_CHAIN = ("ADD", "MUL", "SUB")
_FENCED = ("ADD", "MUL", "LESS")
_IN_FRONT_OF_CPU: Mapping[str, tuple[str, Callable[[], Net]]] = {
    "first_of_two": ("ADD", lambda: chain("ADD", "SUB")),
    "first_of_three": ("ADD", lambda: chain("ADD", "MUL", "SUB")),
    "second_of_three": ("MUL", lambda: chain("ADD", "MUL", "SUB")),
    "condition": ("LESS", lambda: if_of_computed_condition(("ADD",), ("MUL",))),
    "loop": ("LESS", lambda: while_net(("ADD",))),
    "round": ("ADD", lambda: while_net(("ADD",))),
}
"""Which operation is of the driver that reports, and a model in which the runtime itself reads what comes of it."""


def _drivers(
    operations: Sequence[str], reporting: str, status: ErrorStatus, *, count: int = FOR_EVER
) -> tuple[DriverScript, ...]:
    """A driver for each operation, of which one reports."""
    reports = (Misbehaviour("execute", "reports", int(status), count=count),)
    return tuple(
        driver(name.lower(), name, exec_time=FAST, misbehaviours=reports if name == reporting else ())
        for name in operations
    )


@cases.case("in_front_of_cpu", "FW-PRT-010", "FW-PRT-006")
def in_front_of_cpu(context: CaseContext) -> None:
    """By default what the CPU or a condition reads behind such a part is computed on the CPU, or was computed well."""
    for name, (reporting, net) in _IN_FRONT_OF_CPU.items():
        for count in (1, FOR_EVER):
            with context.configuration(f"{name}.{'once' if count == 1 else 'always'}"):
                app = ScriptedApp(context, *_drivers(_FENCED, reporting, ErrorStatus.GENERAL_FAILURE, count=count))
                compiled = app.compiled(net())
                for _ in range(2):
                    app.computes_rightly(compiled, "fenced")
                app.close()


@cases.case("of_each_part", "FW-EXE-013", "FW-PRT-011")
def of_each_part(context: CaseContext) -> None:
    """Named, the last part ends the execution with its code; where an earlier one does not a quality warning tells.

    AOSP's runtime asks the last part alone: a driver that fails has to say so by its fence.
    """
    for number, reporting in enumerate(_CHAIN):
        for status in _STATUSES:
            with context.configuration(f"{('first', 'middle', 'last')[number]}.{status.name.lower()}"):
                app = ScriptedApp(context, *_drivers(_CHAIN, reporting, status))
                result = app.compute_net(app.compiled(chain(*_CHAIN), *map(str.lower, _CHAIN)), way="fenced").result
                _judge(app, reporting, result, status)
                app.close()


def _judge(app: ScriptedApp, reporting: str, result: int, status: ErrorStatus) -> None:
    if {call.method for call in app.executions(reporting.lower())} != {"execute_fenced"}:
        return  # it was not asked for a report
    if result == ResultCode.NO_ERROR and reporting != _CHAIN[-1]:
        app.context.warn_quality(f"the part of {reporting} has reported {status.name}, and the execution NO_ERROR")
    else:
        app.expect("execution (fenced)", result, result_of_status(status))
