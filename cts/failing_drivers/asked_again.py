"""What a driver failed in once is asked of it again: the next time it is asked as if nothing had been.

Each member is a method with a kind of failure, which happens to one call or to two in a row, and what the app does
that asks for it. The failure itself is judged elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from npu_conformance.cts.lib.runtime.described_sums import content_of, execution_between, fill
from npu_conformance.cts.lib.runtime.memories import Role, descriptor
from npu_conformance.cts.lib.runtime.nets import Net, add, chain
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver
from npu_conformance.cts.lib.runtime.sums import TOTAL
from npu_conformance.cts.lib.runtime.ways import compute, ways
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript, Misbehaviour
from npu_conformance.specs.neuralnetworks.runtime.devices import CPU
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.failing_drivers.asked_again", interface="runtime", since=Version.V1_2)

_COUNTS = (1, 2)
"""How many calls in a row fail."""
_HALS = (Version.V1_0, Version.V1_2, Version.V1_3, Version.FL8)
_STATUSES = (ErrorStatus.GENERAL_FAILURE, ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT, ErrorStatus.DEVICE_UNAVAILABLE)
_WHOLE, _IN_PARTS = add, partial(chain, "ADD", "MUL", "ADD")
_NETS: Mapping[str, Callable[[], Net]] = {"whole": _WHOLE, "in_parts": _IN_PARTS}


def _moody(method: str, kind: str, count: int, *, hal: Version = Version.FL8) -> DriverScript:
    """A driver that adds, and fails in some calls of one method."""
    misbehaviour = Misbehaviour(method, kind, count=count)
    return driver("moody", "ADD", hal=hal, exec_time=FAST, misbehaviours=(misbehaviour,))


def _devices(net: Net) -> tuple[str, ...]:
    """What has to be named for it."""
    return ("moody", CPU) if any(one.type != "ADD" for one in net.vector.operations) else ("moody",)


def _asks(app: ScriptedApp, net: Net, model: int) -> None:
    app.supported(model, "moody")


def _compiles_named(app: ScriptedApp, net: Net, model: int) -> None:
    app.compile(net, *_devices(net), model=model)


def _compiles_by_default(app: ScriptedApp, net: Net, model: int) -> None:
    app.compile(net, model=model)


_ASKING: Mapping[str, Callable[[ScriptedApp, Net, int], None]] = {
    "asks": _asks,
    "names": _compiles_named,
    "default": _compiles_by_default,
}
"""What asks a driver for the operations that it supports, or to prepare."""


@cases.case("supported_operations", "FW-PRT-007", "FW-PRT-001", "FW-PRT-013")
def supported_operations(context: CaseContext) -> None:
    """A driver that failed to say what it supports is asked for it anew, of the same model and of one that is like it.

    It has its operations then, for who asks and in compilations.
    """
    for hal in _HALS:
        for kind in ("status", "length", "excess"):
            for name, make in _NETS.items():
                for who, ask in _ASKING.items():
                    with context.configuration(f"{hal.name.lower()}.{kind}.{name}.{who}"), context.short_lived():
                        _judge_supported(context, make(), ask, kind, hal)


def _judge_supported(
    context: CaseContext, net: Net, ask: Callable[[ScriptedApp, Net, int], None], kind: str, hal: Version
) -> None:
    for count in _COUNTS:
        for is_same in (True, False):
            app = ScriptedApp(context, _moody("get_supported_operations", kind, count, hal=hal))
            model = app.model(net)
            while len(app.calls("moody", "get_supported_operations")) < count:
                before = len(app.calls("moody", "get_supported_operations"))
                ask(app, net, model)
                asked = len(app.calls("moody", "get_supported_operations"))
                checks.that(asked > before, "getSupportedOperations of a driver that failed: it is asked no more")
            _judge_recovered(app, net, model if is_same else app.model(net))
            app.close()


def _judge_recovered(app: ScriptedApp, net: Net, model: int) -> None:
    """See that the driver has what it adds, for who asks, who names it, and by default."""
    expected = tuple(one.type == "ADD" for one in net.vector.operations)
    checks.equal(app.supported(model, "moody"), expected, "operations that the driver supports")
    for devices in (_devices(net), ()):
        before = len(app.executions("moody"))
        app.computes_rightly(app.compiled(net, *devices, model=model))
        checks.that(len(app.executions("moody")) > before, "executions by the driver: expected some, found none")


@cases.case("preparations", "FW-PRT-009", "FW-PRT-011")
def preparations(context: CaseContext) -> None:
    """A driver that failed to prepare a model, or a part of it, prepares it for the next compilation."""
    for hal in _HALS:
        for kind in ("status", "callback", "null"):
            for name, make in _NETS.items():
                for who in ("names", "default"):
                    with context.configuration(f"{hal.name.lower()}.{kind}.{name}.{who}"), context.short_lived():
                        app = ScriptedApp(context, _moody("prepare_model", kind, 1, hal=hal))
                        net = make()
                        model = app.model(net)
                        _ASKING[who](app, net, model)
                        _judge_recovered(app, net, model)
                        app.close()


@cases.case("allocations", "FW-MEM-015", "FW-MEM-011", since=Version.V1_3)
def allocations(context: CaseContext) -> None:
    """A driver that gave no memory gives it the next time: from the descriptor, another one, or another compilation."""
    for kind in ("status", "null", "token"):
        for count in _COUNTS:
            for who in ("descriptor", "uses", "compilation", "model"):
                with context.configuration(f"{kind}{count}.{who}"), context.short_lived():
                    _judge_allocation(ScriptedApp(context, _moody("allocate", kind, count)), count, who)


def _judge_allocation(app: ScriptedApp, count: int, who: str) -> None:
    """who: what is another one when memory is wanted for the last time, with all that is made of it."""
    model = app.finished_model()
    compilation = app.finished_compilation(model, app.named("moody"))
    wanted = _descriptor(app, compilation)
    for _ in range(count):
        app.refused("memory_create_from_desc", ResultCode.OP_FAILED, wanted, True)
    if not app.calls("moody", "allocate"):
        raise NotApplicable("the runtime asks no driver for memory")
    if who == "model":
        model = app.finished_model()
    if who in ("model", "compilation"):
        compilation = app.finished_compilation(model, app.named("moody"))
    if who != "descriptor":
        wanted = _descriptor(app, compilation)
    first = app.made("memory_create_from_desc", wanted, True)
    output = app.memory_of(wanted)  # of two memories there may be room for one
    fill(app, first)
    app.expect("execution_compute", app.compute(execution_between(app, compilation, first, output)))
    checks.equal(content_of(app, output), TOTAL, "the sum")


def _descriptor(app: ScriptedApp, compilation: int) -> int:
    return descriptor(app, [Role("input", compilation, 0), Role("output", compilation, 0)])


@cases.case("executions", "FW-PRT-011", "FW-PRT-010")
def executions(context: CaseContext) -> None:
    """A driver that failed in an execution computes the next one, of the compilation and of another, in each way."""
    for hal in _HALS:
        for status in _STATUSES:
            with context.configuration(f"{hal.name.lower()}.{status.name.lower()}"), context.short_lived():
                for is_named in (True, False):
                    _judge_executions(context, hal, status, is_named=is_named)


def _judge_executions(context: CaseContext, hal: Version, status: ErrorStatus, *, is_named: bool) -> None:
    for way in ways(context.manifest.feature_level):
        misbehaviour = Misbehaviour("execute", "status", int(status), count=1)
        app = ScriptedApp(context, driver("moody", hal=hal, exec_time=FAST, misbehaviours=(misbehaviour,)))
        net, devices = add(), ("moody",) if is_named else ()
        model = app.model(net)
        compiled = app.compiled(net, *devices, model=model)
        failed = app.prepared_execution(compiled)
        code = compute(app, way, failed.handle, compiled.handle)
        if not is_named:
            app.expect(f"{way}, where the CPU steps in", code)
        for each in (compiled, app.compiled(net, *devices, model=model)):
            before = len(app.executions("moody"))
            app.computes_rightly(each, way)
            if is_named or each is not compiled:
                asked = len(app.executions("moody")) - before
                checks.that(asked > 0, f"{way}: expected that the driver is asked to execute, found that it is not")
        app.close()
