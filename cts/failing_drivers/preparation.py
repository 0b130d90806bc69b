"""A driver that cannot prepare: the CPU takes the model over, or the app that named its devices gets the code."""

from __future__ import annotations

from npu_conformance.cts.lib.runtime.nets import Net, add, chain
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, MIDDLING, driver, failing, misbehaving
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.runtime.control import Misbehaviour
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode, result_of_status
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.failing_drivers.preparation", interface="runtime", since=Version.V1_2)

_STATUSES = tuple(
    status for status in ErrorStatus if status not in (ErrorStatus.NONE, ErrorStatus.OUTPUT_INSUFFICIENT_SIZE)
)
_CHAIN = ("ADD", "MUL", "ADD")


def _judge_default(app: ScriptedApp, net: Net, status: int) -> None:
    """Check that a default compilation succeeds on the CPU; BAD_DATA may be the app's (FW-PRT-009)."""
    compiled = app.compile(net)
    is_tolerated = result_of_status(status) == ResultCode.BAD_DATA
    tolerated = (ResultCode.BAD_DATA,) if is_tolerated else ()
    app.expect("compilation_finish", compiled.result, ResultCode.NO_ERROR, *tolerated)
    if compiled.result == ResultCode.NO_ERROR:
        app.computes_rightly(compiled)


def _declare_status(status: ErrorStatus, kind: str) -> None:
    name, fields = status.name.lower(), {"misbehaviours": (Misbehaviour("prepare_model", kind, int(status)),)}

    @cases.case(f"{kind}.{name}.named", "FW-PRT-011", "FW-API-006", since=max(status.since, Version.V1_2))
    def named(context: CaseContext) -> None:
        """A driver that the app named and that fails ends the compilation with its code, converted one to one."""
        app = ScriptedApp(context, driver("broken", **fields), driver("good"))
        app.expect("compilation_finish", app.compile(add(), "broken").result, result_of_status(status))
        app.gets(good=())

    @cases.case(f"{kind}.{name}.named_among_others", "FW-PRT-011", "FW-API-006", since=max(status.since, Version.V1_2))
    def named_among_others(context: CaseContext) -> None:
        """So does one of several, even where the CPU is among them."""
        broken = driver("broken", "MUL", exec_time=FAST, **fields)
        app = ScriptedApp(context, broken, driver("good", exec_time=MIDDLING))
        result = app.compile(chain(*_CHAIN), "broken", "good", "nnapi-reference").result
        app.expect("compilation_finish", result, result_of_status(status))

    @cases.case(f"{kind}.{name}.default", "FW-PRT-009", since=max(status.since, Version.V1_2))
    def default(context: CaseContext) -> None:
        """In a default compilation the CPU takes the whole model over."""
        _judge_default(ScriptedApp(context, driver("broken", exec_time=FAST, **fields)), add(), status)

    @cases.case(f"{kind}.{name}.default_in_parts", "FW-PRT-009", since=max(status.since, Version.V1_2))
    def default_in_parts(context: CaseContext) -> None:
        """So it does where the driver has a part of the model."""
        broken = driver("broken", "MUL", exec_time=FAST, **fields)
        app = ScriptedApp(context, broken, driver("good", exec_time=MIDDLING))
        _judge_default(app, chain(*_CHAIN), status)


for _status in _STATUSES:
    for _kind in ("status", "callback"):
        _declare_status(_status, _kind)


@cases.case("null.named", "FW-VER-007", "FW-PRT-011")
def null_named(context: CaseContext) -> None:
    """Success without a prepared model is a failure of the driver: OP_FAILED."""
    app = ScriptedApp(context, driver("broken", **misbehaving("prepare_model", "null")))
    app.expect("compilation_finish", app.compile(add(), "broken").result, ResultCode.OP_FAILED)


@cases.case("null.default", "FW-VER-007", "FW-PRT-009")
def null_default(context: CaseContext) -> None:
    """Success without a prepared model is a failure of the driver, which the CPU stands in for."""
    app = ScriptedApp(context, driver("broken", exec_time=FAST, **misbehaving("prepare_model", "null")))
    app.computes_rightly(app.compiled(add()))


@cases.case("every_version", "FW-PRT-009", "FW-PRT-011", scope=Scope.SMOKE)
def every_version(context: CaseContext) -> None:
    """The rules are the same for drivers of every HAL."""
    for hal in Version:
        app = ScriptedApp(context, driver("broken", hal=hal, exec_time=FAST, **failing("prepare_model")))
        app.expect("compilation_finish", app.compile(add(), "broken").result, ResultCode.OP_FAILED)
        app.computes_rightly(app.compiled(add()))
        app.close()


@cases.case("next_compilation", "FW-PRT-009")
def next_compilation(context: CaseContext) -> None:
    """A driver that failed once is asked again for the next compilation."""
    app = ScriptedApp(context, driver("moody", exec_time=FAST, **failing("prepare_model", count=1)))
    for expected in (0, 1):
        app.computes_rightly(app.compiled(add()))
        checks.equal(len(app.executions("moody")), expected, "executions by the driver so far")


@cases.case("fallback_is_whole", "FW-PRT-009")
def fallback_is_whole(context: CaseContext) -> None:
    """Where one part cannot be prepared the results are right, whichever other parts drivers keep."""
    app = ScriptedApp(
        context,
        driver("good", "ADD", exec_time=FAST),
        driver("broken", "MUL", exec_time=FAST, **failing("prepare_model")),
    )
    app.computes_rightly(app.compiled(chain("ADD", "MUL", "SUB", "ADD", "MUL")))
