"""System properties that say how a runtime partitions: not at all, with fallback, without."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product

from npu_conformance.cts.lib.runtime.control_flow_nets import if_net, while_net
from npu_conformance.cts.lib.runtime.nets import Net, chain, open_chain
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver, failing
from npu_conformance.cts.lib.runtime.ways import ways
from npu_conformance.harness.run.cases import CaseGroup, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.partitioning.modes", interface="runtime", since=Version.V1_2)

_PARTITION, _CPU_ONLY = "debug.nn.partition", "debug.nn.cpuonly"
_NET = ("ADD", "MUL")
_UNAVAILABLE = ErrorStatus.DEVICE_UNAVAILABLE
_IN_PARTS: Mapping[str, Callable[[], Net]] = {
    "first": lambda: chain("MUL", "ADD"),
    "middle": lambda: chain("ADD", "MUL", "ADD"),
    "last": lambda: chain("ADD", "MUL"),
}
"""Models of which a driver that multiplies has a part."""


@cases.case("none", "FW-PRT-016", scope=Scope.SMOKE)
def none(context: CaseContext) -> None:
    """debug.nn.partition 0: a default compilation uses the CPU alone."""
    app = ScriptedApp(context, driver("one", exec_time=FAST))
    app.control.set_property(_PARTITION, "0")
    app.computes_rightly(app.compiled(chain(*_NET)))
    app.gets(one=())


@cases.case("with_fallback", "FW-PRT-016", "FW-PRT-009")
def with_fallback(context: CaseContext) -> None:
    """debug.nn.partition 1 is the default: a driver that fails is replaced by the CPU."""
    for value in ("1", ""):
        app = ScriptedApp(context, driver("one", **failing("prepare_model")))
        app.control.set_property(_PARTITION, value)
        app.computes_rightly(app.compiled(chain(*_NET)))
        app.close()


@cases.case("without_fallback_at_preparation", "FW-PRT-016")
def without_fallback_at_preparation(context: CaseContext) -> None:
    """debug.nn.partition 2: the error of a driver that cannot prepare is the app's."""
    app = ScriptedApp(context, driver("one", **failing("prepare_model")))
    app.control.set_property(_PARTITION, "2")
    app.expect("compilation_finish", app.compile(chain(*_NET)).result, ResultCode.OP_FAILED)


@cases.case("without_fallback_at_execution", "FW-PRT-016")
def without_fallback_at_execution(context: CaseContext) -> None:
    """debug.nn.partition 2: the error of a driver that cannot execute is the app's."""
    app = ScriptedApp(context, driver("one", **failing("execute")))
    app.control.set_property(_PARTITION, "2")
    computed = app.compute_net(app.compiled(chain(*_NET)))
    app.expect("execution_compute", computed.result, ResultCode.OP_FAILED)


@cases.case("without_fallback_in_parts", "FW-PRT-016", "FW-API-006")
def without_fallback_in_parts(context: CaseContext) -> None:
    """debug.nn.partition 2: so is that of a driver that has a part, the first or a later one, by every way."""
    for name, net in _IN_PARTS.items():
        for value in ("2", "1"):
            with context.configuration(f"{name}.mode{value}"):
                _falls_back_by_default(context, value, net())


@cases.case("without_fallback_of_open_sizes", "FW-PRT-016", "FW-PRT-010")
def without_fallback_of_open_sizes(context: CaseContext) -> None:
    """So it is where the model leaves the size of its output open; by default the CPU finds it."""
    for value, operations in product(("2", "1"), (("MUL",), ("ADD", "MUL"), ("MUL", "ADD"))):
        with context.configuration(f"{'_'.join(operations).lower()}.mode{value}"):
            _falls_back_by_default(context, value, open_chain(*operations), finding_shapes=True)


def _falls_back_by_default(context: CaseContext, mode: str, net: Net, *, finding_shapes: bool = False) -> None:
    """A driver of MUL that cannot execute fails the net in mode 2, by every way; in mode 1 the CPU computes it."""
    app = ScriptedApp(context, driver("one", "MUL", exec_time=FAST, **failing("execute", _UNAVAILABLE)))
    app.control.set_property(_PARTITION, mode)
    compiled = app.compiled(net)
    for way in ways(app.level, finding_shapes=finding_shapes):
        if mode == "1":
            app.computes_rightly(compiled, way)
        else:
            result = app.compute_net(compiled, way=way).result
            app.expect(f"execution ({way})", result, ResultCode.UNAVAILABLE_DEVICE)
    app.close()


@cases.case("without_fallback_at_preparation_of_parts", "FW-PRT-016", "FW-API-006")
def without_fallback_at_preparation_of_parts(context: CaseContext) -> None:
    """debug.nn.partition 2: so is that of a driver that cannot prepare its part, the first or a later one."""
    for name, net in _IN_PARTS.items():
        with context.configuration(name):
            app = ScriptedApp(context, driver("one", "MUL", exec_time=FAST, **failing("prepare_model", _UNAVAILABLE)))
            app.control.set_property(_PARTITION, "2")
            app.expect("compilation_finish", app.compile(net()).result, ResultCode.UNAVAILABLE_DEVICE)
            app.close()


@cases.case("none_in_branches", "FW-PRT-016", since=Version.V1_3)
def none_in_branches(context: CaseContext) -> None:
    """debug.nn.partition 0: the CPU alone has the branches of an IF and the body of a WHILE too."""
    for name, net in (("if", if_net(("ADD",), ("MUL",))), ("while", while_net(("ADD", "MUL")))):
        with context.configuration(name):
            app = ScriptedApp(context, driver("one", exec_time=FAST))
            app.control.set_property(_PARTITION, "0")
            app.computes_rightly(app.compiled(net))
            app.gets(one=())
            app.close()


@cases.case("without_fallback_in_branches", "FW-PRT-016", since=Version.V1_3)
def without_fallback_in_branches(context: CaseContext) -> None:
    """debug.nn.partition 2: the error of a driver that has a part of a branch or body is the app's."""
    for name, net in (("if", if_net(("MUL",), ("MUL",))), ("while", while_net(("ADD", "MUL")))):
        with context.configuration(name):
            app = ScriptedApp(context, driver("one", "MUL", exec_time=FAST, **failing("execute", _UNAVAILABLE)))
            app.control.set_property(_PARTITION, "2")
            compiled = app.compiled(net)
            for way in ways(app.level):
                result = app.compute_net(compiled, way=way).result
                app.expect(f"execution ({way})", result, ResultCode.UNAVAILABLE_DEVICE)
            app.close()


@cases.case("without_fallback_but_partitioned", "FW-PRT-016", "FW-PRT-001")
def without_fallback_but_partitioned(context: CaseContext) -> None:
    """debug.nn.partition 2: what no driver supports is the CPU's all the same."""
    app = ScriptedApp(context, driver("adds", "ADD", exec_time=FAST))
    app.control.set_property(_PARTITION, "2")
    app.computes_rightly(app.compiled(chain(*_NET)))
    app.gets(adds=("ADD",))


@cases.case("named_devices", "FW-PRT-011", "FW-PRT-016")
def named_devices(context: CaseContext) -> None:
    """Where the app names its devices there is no fallback, and no partitioning is no excuse not to use them."""
    app = ScriptedApp(context, driver("one"), driver("broken", **failing("prepare_model")))
    for value in ("0", "1"):
        app.control.set_property(_PARTITION, value)
        app.computes_rightly(app.compiled(chain(*_NET), "one"))
        result = app.compile(chain(*_NET), "broken").result
        app.expect("compilation_finish", result, ResultCode.OP_FAILED)
    app.gets(one=_NET * 2)


@cases.case("cpu_only", "FW-PRT-016")
def cpu_only(context: CaseContext) -> None:
    """debug.nn.cpuonly: the CPU computes what no device was named for."""
    app = ScriptedApp(context, driver("one", exec_time=FAST))
    app.control.set_property(_CPU_ONLY, "1")
    app.computes_rightly(app.compiled(chain(*_NET)))
    app.gets(one=())
    app.control.set_property(_CPU_ONLY, "")
    app.computes_rightly(app.compiled(chain(*_NET)))
    app.gets(one=_NET)
