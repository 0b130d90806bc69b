"""System properties that say how a runtime partitions: not at all, with fallback, without."""

from __future__ import annotations

from npu_conformance.cts.lib.runtime.nets import chain
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver, failing
from npu_conformance.harness.run.cases import CaseGroup, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.partitioning.modes", interface="runtime", since=Version.V1_2)

_PARTITION, _CPU_ONLY = "debug.nn.partition", "debug.nn.cpuonly"
_NET = ("ADD", "MUL")


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
