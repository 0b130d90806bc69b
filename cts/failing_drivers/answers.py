"""Output shapes of drivers that cannot be right."""

from __future__ import annotations

from npu_conformance.cts.lib.runtime.nets import Net, NetBuilder
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver, misbehaving
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.failing_drivers.answers", interface="runtime", since=Version.V1_2)

_KINDS = {"contradicting": "shapes", "too_few": "length"}
_HALS = (Version.V1_2, Version.V1_3, Version.FL5, Version.FL8)


def _two(operation: str) -> Net:
    """A model of two outputs: a driver that names no shape at all says nothing, as one of 1.1 does."""
    builder = NetBuilder()
    first, second = builder.input(), builder.input()
    middle = builder.binary(operation, builder.binary("ADD", first, second), second)
    return builder.net(middle, builder.binary(operation, first, second))


def _declare(name: str, kind: str) -> None:
    @cases.case(f"{name}.named", "FW-VER-008", "FW-PRT-011")
    def named(context: CaseContext) -> None:
        """An execution whose output shapes contradict the model fails."""
        for hal in _HALS:
            app = ScriptedApp(context, driver("broken", hal=hal, **misbehaving("execute", kind)))
            computed = app.compute_net(app.compiled(_two("ADD"), "broken"))
            app.expect("execution_compute", computed.result, ResultCode.OP_FAILED)
            app.close()

    @cases.case(f"{name}.default", "FW-VER-008", "FW-PRT-010")
    def default(context: CaseContext) -> None:
        """The CPU computes instead, with shapes that are right."""
        app = ScriptedApp(context, driver("broken", exec_time=FAST, **misbehaving("execute", kind)))
        app.computes_rightly(app.compiled(_two("ADD")))

    @cases.case(f"{name}.in_parts", "FW-VER-008", "FW-PRT-010")
    def in_parts(context: CaseContext) -> None:
        """So it does where the driver has a part in the middle."""
        broken = driver("broken", "MUL", exec_time=FAST, **misbehaving("execute", kind))
        app = ScriptedApp(context, broken, driver("good", "ADD", exec_time=FAST))
        app.computes_rightly(app.compiled(_two("MUL")))


for _name, _kind in _KINDS.items():
    _declare(_name, _kind)
