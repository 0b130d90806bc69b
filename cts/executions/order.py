"""What has to be over before what: judged with drivers that compute when somebody waits for them, and not before."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from npu_conformance.cts.lib.runtime.control_flow_nets import if_of_computed_condition
from npu_conformance.cts.lib.runtime.lasting import lazy, pending
from npu_conformance.cts.lib.runtime.nets import add, chain
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import FenceState
from npu_conformance.specs.neuralnetworks.fences import FOR_EVER_NS
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript
from npu_conformance.specs.neuralnetworks.runtime.devices import CPU
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.executions.order", interface="runtime", since=Version.V1_3)

_SECOND: Mapping[str, Callable[[], tuple[DriverScript, ...]]] = {
    "lazy": lambda: (lazy("second", "MUL"),),
    "fences": lambda: (driver("second", "MUL", exec_time=FAST),),
    "v1_2": lambda: (driver("second", "MUL", exec_time=FAST, hal=Version.V1_2),),
    "cpu": lambda: (),
}
"""Who computes what comes behind a lazy driver."""

_READERS = {"fences": "second", "v1_2": "third", "cpu": CPU}
"""Devices with fences and without."""


@cases.case("of_parts", "FW-PRT-006", "FW-EXE-023")
def of_parts(context: CaseContext) -> None:
    """A part is computed once the part in front of it is over, whoever computes it."""
    for kind, second in _SECOND.items():
        with context.configuration(kind):
            app = ScriptedApp(context, lazy("first", "ADD"), *second())
            made = pending(app, app.compiled(chain("ADD", "MUL", "ADD")))
            app.expect("event_wait", made.end(made.start()))
            made.check()


@cases.case("of_parts_behind_a_fence", "FW-PRT-006", "FW-EXE-023")
def of_parts_behind_a_fence(context: CaseContext) -> None:
    """The fences of the app hold back the first part, and that the second: it does not wait for the app's alone."""
    app = ScriptedApp(context, lazy("first", "ADD"), lazy("second", "MUL"))
    made = pending(app, app.compiled(chain("ADD", "MUL")))
    gate = context.fence()
    event = made.start(app.made("event_create_from_sync_fence_fd", gate, 1, True))
    gate.signal()
    app.expect("event_wait", made.end(event))
    made.check()


@cases.case("of_a_condition", "FW-PRT-006")
def of_a_condition(context: CaseContext) -> None:
    """A condition is read once the part that computes it is over."""
    app = ScriptedApp(context, lazy("compares", "LESS"))
    made = pending(app, app.compiled(if_of_computed_condition(("ADD",), ("MUL", "SUB"))))
    app.expect("event_wait", made.end(made.start()))
    made.check()


@cases.case("of_dependencies", "FW-EXE-023")
def of_dependencies(context: CaseContext) -> None:
    """An execution that reads what two others write is computed once both are over, in either order."""
    for kind, device in _READERS.items():
        for order in (1, -1):
            with context.configuration(f"{kind}{'' if order > 0 else '_reversed'}"):
                app = ScriptedApp(context, lazy("first"), driver("second"), driver("third", hal=Version.V1_2))
                addends = [pending(app, app.compiled(add(), "first")) for _ in range(2)]
                events = [each.start() for each in addends]
                product = pending(app, app.compiled(chain("MUL"), device), *(each.output for each in addends))
                app.expect("event_wait", product.end(product.start(*events[::order])))
                product.check(dict.fromkeys(product.net.inputs, *add().expected().values()))


@cases.case("of_a_refused_launch", "FW-EXE-023", "FW-PRT-010")
def of_a_refused_launch(context: CaseContext) -> None:
    """Where a driver refuses an execution with fences, what takes its place computes once they have signalled too."""
    refuses = driver("second", "MUL", exec_time=FAST, has_fences=False)
    app = ScriptedApp(context, lazy("first", "ADD"), refuses)
    addend = pending(app, app.compiled(add(), "first"))
    product = pending(app, app.compiled(chain("MUL")), addend.output)
    app.expect("event_wait", product.end(product.start(addend.start())))
    first, second = product.net.vector.inputs
    product.check({first: next(iter(add().expected().values())), second: product.net.inputs[second]})


@cases.case("of_the_fence_of_an_event", "FW-EXE-024", "FW-EXE-013")
def of_the_fence_of_an_event(context: CaseContext) -> None:
    """The fence of an execution in parts signals once the last part is over."""
    app = ScriptedApp(context, lazy("first", "ADD"), lazy("second", "MUL"))
    made = pending(app, app.compiled(chain("ADD", "MUL")))
    event = made.start()
    answer = app.succeed("event_get_sync_fence_fd", event, True)
    checks.that(answer.fence is not None, "event_get_sync_fence_fd: expected a fence")
    checks.equal(answer.fence.wait(FOR_EVER_NS), FenceState.SIGNALLED, "state of the fence")
    made.check()
    app.expect("event_wait", made.end(event))


@cases.case("of_an_event_without_a_fence", "FW-EXE-024", "FW-EXE-023")
def of_an_event_without_a_fence(context: CaseContext) -> None:
    """Where what comes last has no fence the event has none: not that of a part or an execution before."""
    for kind in ("v1_2", "cpu"):
        for name, operations in (("parts", ("ADD", "MUL")), ("whole", ("MUL",))):
            with context.configuration(f"{kind}.{name}"):
                app = ScriptedApp(context, lazy("first", "ADD"), *_SECOND[kind]())
                before = pending(app, app.compiled(add(), "first"))
                made = pending(app, app.compiled(chain(*operations)), before.output)
                event = made.start(before.start())
                result = app.call("event_get_sync_fence_fd", event, True).result
                app.expect("event_get_sync_fence_fd", result, ResultCode.BAD_DATA, ResultCode.OP_FAILED)
                app.expect("event_wait", made.end(event))
                first, second = made.net.vector.inputs
                made.check({first: next(iter(add().expected().values())), second: made.net.inputs[second]})
                app.close()


@cases.case("of_a_freed_event", "FW-EXE-013", "FW-API-003")
def of_a_freed_event(context: CaseContext) -> None:
    """Once an event is freed its execution is over, though nobody has waited for it."""
    app = ScriptedApp(context, lazy("first", "ADD"), lazy("second", "MUL"))
    made = pending(app, app.compiled(chain("ADD", "MUL")))
    app.free(made.start())
    made.check()
