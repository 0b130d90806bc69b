"""Which of its calls a driver is executed through."""

from __future__ import annotations

from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import driver
from npu_conformance.cts.lib.runtime.sums import execution_of_sum
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.executions.driver_calls", interface="runtime")

_ASYNCHRONOUS, _SYNCHRONOUS = "execute", "execute_synchronously"


def _executed_by(app: ScriptedApp, name: str) -> list[str]:
    """Compute the sum on a driver; returns the calls by which it was executed."""
    compilation = app.finished_compilation(app.finished_model(), app.named(name))
    before = len(app.control.driver_calls(name))
    execution_of_sum(app, compilation).computes()
    calls = app.control.driver_calls(name)[before:]
    return [call.method for call in calls if call.method.startswith("execute")]


def _expected(hal: Version) -> str:
    return _SYNCHRONOUS if hal >= Version.V1_2 else _ASYNCHRONOUS


@cases.case("usual", "FW-EXE-026", since=Version.V1_2)
def usual(context: CaseContext) -> None:
    """A driver of 1.2 or later is executed through its synchronous call, an older one asynchronously."""
    for hal in (Version.V1_0, Version.V1_1, Version.V1_2, Version.V1_3):
        with context.configuration(hal.name):
            app = ScriptedApp(context, driver("one", hal=hal))
            checks.equal(_executed_by(app, "one"), [_expected(hal)], "calls of an execution")


@cases.case("asynchronous", "FW-EXE-027", since=Version.V1_2)
def asynchronous(context: CaseContext) -> None:
    """With debug.nn.syncexec-hal at 0 a driver of a HIDL version is executed through its asynchronous call."""
    for hal in (Version.V1_2, Version.V1_3):
        with context.configuration(hal.name):
            app = ScriptedApp(context, driver("one", hal=hal))
            app.control.set_property("debug.nn.syncexec-hal", "0")
            calls = _executed_by(app, "one")
            if calls != [_ASYNCHRONOUS]:
                context.warn_quality(f"with debug.nn.syncexec-hal at 0 the driver was executed by {' '.join(calls)}")
