"""Drivers whose process dies, in a call or while a callback is outstanding, and comes back or not."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import cast

from npu_conformance.cts.lib.runtime.lasting import pass_turns
from npu_conformance.cts.lib.runtime.memories import Role, described
from npu_conformance.cts.lib.runtime.nets import add, chain
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver, misbehaving
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript, Misbehaviour
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.failing_drivers.death", interface="runtime", since=Version.V1_2)

_HALS = (Version.V1_0, Version.V1_2, Version.V1_3, Version.FL8)
_DEAD_IN_EXECUTION = (ResultCode.DEAD_OBJECT, ResultCode.OP_FAILED)
"""Before feature level 5 a death in an execution is no code of its own."""


def _mortal(method: str, *, count: int = 1, restarts: bool = False, hal: Version = Version.FL8) -> DriverScript:
    return driver("mortal", hal=hal, exec_time=FAST, restarts=restarts, **misbehaving(method, "dies", count=count))


@cases.case("preparation.comes_back", "FW-VER-003", scope=Scope.SMOKE)
def preparation_comes_back(context: CaseContext) -> None:
    """A driver that dies while it prepares, and is back at once, is asked once more, and prepares."""
    for hal in _HALS:
        app = ScriptedApp(context, _mortal("prepare_model", restarts=True, hal=hal))
        app.computes_rightly(app.compiled(add(), "mortal"))
        checks.equal(len(app.calls("mortal", "prepare_model")), 2, f"preparations by a driver of {hal}")
        app.close()


@cases.case("preparation.dies_again", "FW-VER-003", "FW-PRT-011")
def preparation_dies_again(context: CaseContext) -> None:
    """A driver that dies a second time is not asked a third time: DEAD_OBJECT."""
    for hal in _HALS:
        app = ScriptedApp(context, _mortal("prepare_model", count=2, restarts=True, hal=hal))
        app.expect("compilation_finish", app.compile(add(), "mortal").result, ResultCode.DEAD_OBJECT)
        checks.equal(len(app.calls("mortal", "prepare_model")), 2, f"preparations by a driver of {hal}")
        app.close()


@cases.case("preparation.stays_dead", "FW-VER-003", "FW-PRT-011")
def preparation_stays_dead(context: CaseContext) -> None:
    """A driver that does not come back is a DEAD_OBJECT, and nothing waits for it."""
    app = ScriptedApp(context, _mortal("prepare_model"))
    app.expect("compilation_finish", app.compile(add(), "mortal").result, ResultCode.DEAD_OBJECT)


@cases.case("preparation.default", "FW-PRT-009", "FW-VER-003")
def preparation_default(context: CaseContext) -> None:
    """In a default compilation the CPU stands in for a driver that has died."""
    for restarts, count in ((False, 1), (True, 2)):
        app = ScriptedApp(context, _mortal("prepare_model", count=count, restarts=restarts))
        app.computes_rightly(app.compiled(add()))
        app.close()


@cases.case("preparation.default_in_parts", "FW-PRT-009", "FW-VER-003")
def preparation_default_in_parts(context: CaseContext) -> None:
    """So it does where the driver that dies had parts of the model, the first of which it may have prepared."""
    for restarts, first in ((False, 1), (False, 2), (True, 1), (True, 2)):
        fields = misbehaving("prepare_model", "dies", first=first, count=2)
        app = ScriptedApp(context, driver("mortal", "MUL", exec_time=FAST, restarts=restarts, **fields))
        app.computes_rightly(app.compiled(chain("MUL", "ADD", "MUL")))
        app.close()


@cases.case("query.comes_back", "FW-VER-003")
def query_comes_back(context: CaseContext) -> None:
    """A driver that dies when it is asked what it supports, and is back at once, is asked once more."""
    app = ScriptedApp(context, _mortal("get_supported_operations", restarts=True))
    checks.equal(app.supported(app.model(add()), "mortal"), (True,), "operations that the driver supports")


@cases.case("query.stays_dead", "FW-VER-003", "FW-PRT-007")
def query_stays_dead(context: CaseContext) -> None:
    """A driver that is dead supports nothing; the CPU does the work."""
    app = ScriptedApp(context, _mortal("get_supported_operations"))
    checks.equal(app.supported(app.model(add()), "mortal"), (False,), "operations that the dead driver supports")
    app.computes_rightly(app.compiled(add()))
    app.gets(mortal=())


@cases.case("query.dies_later_on", "FW-VER-003", "FW-PRT-007")
def query_dies_later_on(context: CaseContext) -> None:
    """A driver that is dead supports nothing, whatever it said while it lived."""
    answered = _calls_of_a_question(context)
    script = driver("mortal", exec_time=FAST, **misbehaving("get_supported_operations", "dies", first=answered + 1))
    app = ScriptedApp(context, script)
    model = app.model(add())
    for expected in (True, False, False):
        checks.equal(app.supported(model, "mortal"), (expected,), "operations that the driver supports")
    app.expect("compilation_finish", app.compile(add(), "mortal").result, ResultCode.BAD_DATA)
    app.computes_rightly(app.compiled(add()))


def _calls_of_a_question(context: CaseContext) -> int:
    """How often the runtime asks a driver what it supports, where the app asks once: no document says."""
    app = ScriptedApp(context, driver("mortal", exec_time=FAST))
    app.supported(app.model(add()), "mortal")
    calls = len(app.calls("mortal", "get_supported_operations"))
    app.close()
    return calls


@cases.case("execution.named", "FW-VER-006", "FW-VER-004", "FW-PRT-011")
def execution_named(context: CaseContext) -> None:
    """A driver that dies in an execution ends it with an error; nobody waits for its callback for ever."""
    for hal in _HALS:
        app = ScriptedApp(context, _mortal("execute", hal=hal))
        compiled = app.compiled(add(), "mortal")
        app.expect("execution_compute", app.compute_net(compiled).result, *_DEAD_IN_EXECUTION)
        app.close()


@cases.case("execution.default", "FW-PRT-010", "FW-VER-004")
def execution_default(context: CaseContext) -> None:
    """In a default compilation the CPU computes instead, now and for the next execution."""
    for hal in _HALS:
        app = ScriptedApp(context, _mortal("execute", hal=hal))
        compiled = app.compiled(add())
        for _ in range(2):
            app.computes_rightly(compiled)
        app.close()


@cases.case("execution.in_parts", "FW-PRT-010", "FW-VER-004")
def execution_in_parts(context: CaseContext) -> None:
    """So it does where the driver had a part of the model, by every way of executing."""
    for way in ("compute", "asynchronous", "burst"):
        script = driver("mortal", "MUL", exec_time=FAST, **misbehaving("execute", "dies", count=1))
        app = ScriptedApp(context, script)
        app.computes_rightly(app.compiled(chain("ADD", "MUL", "ADD")), way)
        app.close()


@cases.case("preparation.dies_after_launch", "FW-VER-004", "FW-PRT-009")
def preparation_dies_after_launch(context: CaseContext) -> None:
    """A driver that dies before it calls back: who waits for the callback is released, with an error."""
    for hal in _HALS:
        script = driver("mortal", hal=hal, exec_time=FAST, **misbehaving("prepare_model", "dies_later"))
        app = ScriptedApp(context, script)
        app.expect("compilation_finish", app.compile(add(), "mortal").result, *_DEAD_IN_EXECUTION)
        app.close()
        app = ScriptedApp(context, script)
        app.computes_rightly(app.compiled(add()))
        app.close()


@cases.case("execution.dies_after_launch", "FW-VER-004", "FW-VER-006", "FW-PRT-010")
def execution_dies_after_launch(context: CaseContext) -> None:
    """So it is with executions that are launched and never called back."""
    for hal in (Version.V1_0, Version.V1_1, Version.V1_3):
        script = driver("mortal", hal=hal, exec_time=FAST, **misbehaving("execute", "dies_later"))
        for devices in (("mortal",), ()):
            app = ScriptedApp(context, script)
            app.control.set_property("debug.nn.syncexec-hal", "0")
            compiled = app.compiled(add(), *devices)
            if devices:
                app.expect("execution_compute", app.compute_net(compiled).result, *_DEAD_IN_EXECUTION)
            else:
                app.computes_rightly(compiled)
            app.close()


@cases.case("execution.many_outstanding", "FW-VER-004", "FW-VER-006")
def many_outstanding(context: CaseContext) -> None:
    """The death of a driver releases everybody who waits for one of its callbacks, and not the first one alone."""
    count = 4
    silent = Misbehaviour("execute", "silent", count=count - 1)
    last = Misbehaviour("execute", "dies_later", first=count, count=1)
    for hal in (Version.V1_0, Version.V1_3):
        app = ScriptedApp(context, driver("mortal", hal=hal, misbehaviours=(silent, last)))
        app.control.set_property("debug.nn.syncexec-hal", "0")
        compiled = app.compiled(add(), "mortal")
        executions = [app.prepared_execution(compiled).handle for _ in range(count)]
        for result in context.run_concurrently([partial(app.compute, each) for each in executions]):
            app.expect("execution_compute", cast(int, result), *_DEAD_IN_EXECUTION)
        app.close()


@cases.case("execution.other_is_outstanding", "FW-VER-004", "FW-VER-006")
def other_is_outstanding(context: CaseContext) -> None:
    """The death of one driver does not end the wait for a callback of another."""
    app = ScriptedApp(context, _mortal("execute"), driver("late", hal=Version.V1_0, **misbehaving("execute", "late")))
    dying, awaited = (app.compiled(add(), name) for name in ("mortal", "late"))

    def death() -> int:
        pass_turns(app, "late")
        result = app.compute_net(dying).result
        app.control.release("late")
        return result

    computed = app.prepared_execution(awaited)
    calls: list[Callable[[], int | None]] = [death, partial(app.finish, awaited, computed, "compute")]
    died, _ = context.run_concurrently(calls)
    app.expect("execution by the driver that dies", cast(int, died), *_DEAD_IN_EXECUTION)
    app.expect("execution by the other driver", computed.result)
    app.judge(awaited.net, computed.outputs, awaited.net.expected())


@cases.case("execution.silent_in_each_life", "FW-VER-004", "FW-VER-006")
def silent_in_each_life(context: CaseContext) -> None:
    """Each death of a driver releases who waits for its callback, not the first one alone."""
    fields = misbehaving("execute", "dies_later")
    for hal in (Version.V1_0, Version.V1_3):
        app = ScriptedApp(context, driver("mortal", hal=hal, restarts=True, **fields))
        app.control.set_property("debug.nn.syncexec-hal", "0")
        for _ in range(3):
            app.expect("execution", app.compute_net(app.compiled(add(), "mortal")).result, *_DEAD_IN_EXECUTION)
        app.close()


@cases.case("execution.fenced", "FW-VER-006", "FW-PRT-010", since=Version.V1_3)
def fenced(context: CaseContext) -> None:
    """A driver that dies as an execution with dependencies is launched: the CPU computes, or the app is told so."""
    for hal in (Version.V1_3, Version.FL8):
        app = ScriptedApp(context, _mortal("execute", hal=hal))
        result = app.compute_net(app.compiled(add(), "mortal"), way="fenced").result
        app.expect("execution (fenced)", result, *_DEAD_IN_EXECUTION)
        app.control.revive("mortal")
        app.computes_rightly(app.compiled(add()), "fenced")
        app.close()


@cases.case("burst", "FW-VER-006", "FW-PRT-010")
def burst(context: CaseContext) -> None:
    """A burst can be opened over a driver that has died or dies then; its computations fail, or are the CPU's."""
    for hal in (Version.V1_2, Version.V1_3, Version.FL8):
        for method in ("execute", "configure_execution_burst", "configure_execution_burst_on_queues"):
            app = ScriptedApp(context, _mortal(method, hal=hal))
            named, default = app.compiled(add(), "mortal"), app.compiled(add())
            app.compute_net(named)
            result = app.compute_net(named, way="burst").result
            app.expect("execution (burst)", result, *_DEAD_IN_EXECUTION, *(() if method == "execute" else (0,)))
            app.computes_rightly(default, "burst")
            app.close()


@cases.case("allocation", "FW-MEM-009", "FW-MEM-008", since=Version.V1_3)
def allocation(context: CaseContext) -> None:
    """A driver that dies as it allocates memory has declined: there is other memory, or OP_FAILED."""
    for restarts in (False, True):
        app = ScriptedApp(context, _mortal("allocate", count=2, restarts=restarts))
        compiled = app.compiled(add())
        made = described(app, (Role("input", compiled.handle, 0),))
        asked = app.calls("mortal", "allocate") if made is not None else []
        for call in asked[-1:]:  # a runtime may ask no driver for memory
            checks.equal(call.status, ErrorStatus.DEVICE_UNAVAILABLE, "the driver's end")
        app.close()


@cases.case("execution.prepared_model_is_lost", "FW-VER-006")
def prepared_model_is_lost(context: CaseContext) -> None:
    """A prepared model does not come back with its driver: the app has to compile again, and then it works."""
    app = ScriptedApp(context, _mortal("execute"))
    compiled = app.compiled(add(), "mortal")
    app.expect("execution_compute", app.compute_net(compiled).result, *_DEAD_IN_EXECUTION)
    app.control.revive("mortal")
    app.expect("execution_compute", app.compute_net(compiled).result, *_DEAD_IN_EXECUTION)
    app.computes_rightly(app.compiled(add(), "mortal"))


@cases.case("back_after_a_while", "FW-VER-003", "FW-VER-005", since=Version.V1_3)
def back_after_a_while(context: CaseContext) -> None:
    """A driver that was dead and is back works again without anybody's doing; waiting for it returns at once."""
    app = ScriptedApp(context, _mortal("prepare_model"))
    app.expect("compilation_finish", app.compile(add(), "mortal").result, ResultCode.DEAD_OBJECT)
    app.control.revive("mortal")
    (device,) = app.named("mortal")
    app.succeed("device_wait", device)
    app.computes_rightly(app.compiled(add(), "mortal"))


@cases.case("wait", "FW-VER-005", since=Version.V1_3)
def wait(context: CaseContext) -> None:
    """Waiting for a dead driver lasts until it is back, and then succeeds."""
    app = ScriptedApp(context, _mortal("prepare_model"))
    app.expect("compilation_finish", app.compile(add(), "mortal").result, ResultCode.DEAD_OBJECT)
    (device,) = app.named("mortal")
    happened: list[str] = []

    def waiting() -> None:
        app.succeed("device_wait", device)
        happened.append("waited")

    def reviving() -> None:
        for _ in range(20):  # time enough for a wait that does not wait
            app.succeed("get_device_count", True)
        happened.append("reviving")
        app.control.revive("mortal")

    context.run_concurrently([waiting, reviving])
    checks.equal(happened, ["reviving", "waited"], "what happened")


@cases.case("others_live_on", "FW-VER-003", "FW-PRT-009")
def others_live_on(context: CaseContext) -> None:
    """The death of one driver is nothing to the others, nor to what they have prepared."""
    app = ScriptedApp(context, _mortal("prepare_model"), driver("other"))
    before = app.compiled(add(), "other")
    app.expect("compilation_finish", app.compile(add(), "mortal").result, ResultCode.DEAD_OBJECT)
    app.computes_rightly(before)
    app.computes_rightly(app.compiled(add(), "other"))
    app.computes_rightly(app.compiled(add()))
