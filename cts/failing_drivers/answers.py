"""Output shapes of drivers that cannot be right."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from npu_conformance.cts.lib.runtime.lasting import pending
from npu_conformance.cts.lib.runtime.nets import Net, NetBuilder, net_of
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver, misbehaving
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.failing_drivers.answers", interface="runtime", since=Version.V1_2)

_KINDS = {"contradicting": "shapes", "too_few": "length", "too_many": "excess"}
_HALS = (Version.V1_2, Version.V1_3, Version.FL5, Version.FL8)
_PLACES = {"first": 0, "last": 1}
"""Of which output the answer is wrong."""


def _broken(kind: str, output: int, *operations: str, **fields: Any) -> DriverScript:
    """A driver whose answer about an output is wrong."""
    return driver("broken", *operations, **fields, **misbehaving("execute", kind, output=output))


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
            for place, output in _PLACES.items():
                app = ScriptedApp(context, _broken(kind, output, hal=hal))
                computed = app.compute_net(app.compiled(_two("ADD"), "broken"))
                app.expect(f"execution, {place} output of HAL {hal}", computed.result, ResultCode.OP_FAILED)
                app.close()

    @cases.case(f"{name}.default", "FW-VER-008", "FW-PRT-010")
    def default(context: CaseContext) -> None:
        """The CPU computes instead, with shapes that are right."""
        for place, output in _PLACES.items():
            with context.configuration(place):
                app = ScriptedApp(context, _broken(kind, output, exec_time=FAST))
                app.computes_rightly(app.compiled(_two("ADD")))

    @cases.case(f"{name}.in_memories", "FW-VER-008", "FW-PRT-010", "FW-PRT-011")
    def in_memories(context: CaseContext) -> None:
        """So it is with outputs that lie in memory objects."""
        for place, output in _PLACES.items():
            with context.configuration(place):
                app = ScriptedApp(context, _broken(kind, output, exec_time=FAST))
                named = pending(app, app.compiled(_two("ADD"), "broken"))
                app.expect("execution_compute", app.compute(named.execution), ResultCode.OP_FAILED)
                default = pending(app, app.compiled(_two("ADD")))
                app.expect("execution_compute", app.compute(default.execution))
                default.check()

    @cases.case(f"{name}.in_parts", "FW-VER-008", "FW-PRT-010")
    def in_parts(context: CaseContext) -> None:
        """So it does where the driver has a part in the middle."""
        for place, output in _PLACES.items():
            with context.configuration(place):
                broken = _broken(kind, output, "MUL", exec_time=FAST)
                app = ScriptedApp(context, broken, driver("good", "ADD", exec_time=FAST))
                app.computes_rightly(app.compiled(_two("MUL")))


for _name, _kind in _KINDS.items():
    _declare(_name, _kind)


def _opened(dimensions: tuple[int, ...]) -> Net:
    """A model of two outputs of which it says these dimensions."""
    vector = _two("ADD").vector
    opened = {name: replace(vector.operands[name], dimensions=dimensions) for name in vector.outputs}
    return net_of(replace(vector, operands={**vector.operands, **opened}))


_IMPOSSIBLE = {
    "too_large": ("large", (0, 2), "FW-VER-008", Version.V1_2),
    "without_rank": ("rankless", (), "FW-VER-009", Version.FL5),
    "short_in_success": ("short", (2, 2), "FW-VER-009", Version.FL5),
    "enough_in_failure": ("roomy", (2, 2), "FW-VER-009", Version.FL5),
}
"""Answers that contradict no shape of the model, and cannot be: the kind, what the model says, since when."""


def _declare_impossible(name: str, kind: str, dimensions: tuple[int, ...], requirement: str, since: Version) -> None:
    @cases.case(f"{name}.named", requirement, "FW-PRT-011", since=since)
    def named(context: CaseContext) -> None:
        """An execution whose answer cannot be fails."""
        for hal in _HALS:
            for place, output in _PLACES.items():
                app = ScriptedApp(context, _broken(kind, output, hal=hal))
                computed = app.compute_net(app.compiled(_opened(dimensions), "broken"))
                app.expect(f"execution, {place} output of HAL {hal}", computed.result, ResultCode.OP_FAILED)
                app.close()

    @cases.case(f"{name}.default", requirement, "FW-PRT-010", since=since)
    def default(context: CaseContext) -> None:
        """The CPU computes instead."""
        for place, output in _PLACES.items():
            with context.configuration(place):
                app = ScriptedApp(context, _broken(kind, output, exec_time=FAST))
                app.computes_rightly(app.compiled(_opened(dimensions)))


for _name, _row in _IMPOSSIBLE.items():
    _declare_impossible(_name, *_row)
