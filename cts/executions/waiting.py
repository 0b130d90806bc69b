"""Calls that wait: each lasts until what it waits for has happened, judged with drivers and fences that are held."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from npu_conformance.cts.lib.runtime.control_flow_nets import if_net, while_net
from npu_conformance.cts.lib.runtime.lasting import (
    Pending,
    event_of,
    outlasting,
    outlasting_alone,
    pending,
    prepared,
)
from npu_conformance.cts.lib.runtime.net_app import NetApp
from npu_conformance.cts.lib.runtime.nets import Net, add, chain
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver, misbehaving
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.fences import SettableFence
from npu_conformance.specs.neuralnetworks.runtime.devices import CPU
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.executions.waiting", interface="runtime")

_HOLDERS = ("one", "two")
_FASTEST = FAST / 2
_READERS = {"fences": "reads", "v1_2": "old", "cpu": CPU, "refuses": "refuses"}
"""Devices that compute behind fences, and the names of their configurations."""
_PARTS = ("MUL", "ADD", "MUL", "ADD")
_IN_PARTS: Mapping[str, Callable[[], Net]] = {
    "chain": lambda: chain("MUL", "ADD"),
    "cpu_first": lambda: chain("MUL", "ADD"),
    "condition": lambda: if_net(("MUL",), ("ADD",)),
    "loop": lambda: while_net(("MUL",)),
}
"""Models that two drivers, and the CPU for what begins with a condition, have in parts."""


def _holding(context: CaseContext, kind: str) -> ScriptedApp:
    """An app with two drivers whose executions are held, and others whose are not. kind: of Misbehaviour."""
    holders = [driver(name, exec_time=FAST, **misbehaving("execute", kind)) for name in _HOLDERS]
    refuses = driver("refuses", "MUL", exec_time=_FASTEST, has_fences=False)
    others = driver("reads"), driver("old", hal=Version.V1_2), refuses
    return ScriptedApp(context, *holders, *others)


def _free(app: ScriptedApp, event: int) -> int:
    app.free(event)
    return ResultCode.NO_ERROR


@cases.case("for_an_event", "FW-EXE-013", since=Version.V1_2)
def for_an_event(context: CaseContext) -> None:
    """To wait for an event, and to free it, lasts until its computation is over, for everybody who does."""
    for kind in ("blocks", "held") if context.manifest.feature_level >= Version.V1_3 else ("blocks",):
        with context.configuration(kind):
            app = _holding(context, kind)
            made = pending(app, app.compiled(add(), "one"))
            event = event_of(app, made.execution) if kind == "blocks" else made.start()
            calls = [partial(made.end, event), partial(made.end, event)]
            codes = outlasting(app, calls, partial(app.control.release, "one"))
            checks.equal(codes, [ResultCode.NO_ERROR] * 2, "results of two who waited")
            made.check()


@cases.case("to_free_an_event", "FW-EXE-013", "FW-API-003", since=Version.V1_2)
def to_free_an_event(context: CaseContext) -> None:
    """To free an event lasts until its computation is over."""
    app = _holding(context, "blocks")
    made = pending(app, app.compiled(add(), "one"))
    event = event_of(app, made.execution)
    outlasting(app, [partial(_free, app, event)], partial(app.control.release, "one"))
    made.check()


@cases.case("for_a_fence", "FW-EXE-013", "FW-EXE-025", since=Version.V1_3)
def for_a_fence(context: CaseContext) -> None:
    """To wait for the event of a fence from elsewhere lasts until that fence signals."""
    app = _holding(context, "held")
    gate = context.fence()
    event = app.made("event_create_from_sync_fence_fd", gate, 1, True)
    (code,) = outlasting(app, [partial(app.call, "event_wait", event)], gate.signal)
    app.expect("event_wait", code)


@cases.case("for_dependencies", "FW-EXE-023", since=Version.V1_3)
def for_dependencies(context: CaseContext) -> None:
    """An execution waits for each of its dependencies, with a fence or without, in whichever order they end."""
    for kinds in (("blocks", "blocks"), ("blocks", "fence"), ("fence", "blocks")):
        for order in (1, -1):
            with context.configuration(f"{'_'.join(kinds)}{'' if order > 0 else '_reversed'}"):
                _judge_dependencies(context, kinds, order)


def _judge_dependencies(context: CaseContext, kinds: tuple[str, ...], order: int) -> None:
    """order: 1 where the dependencies end as they are named, -1 where the last ends first."""
    app = _holding(context, "blocks")
    addends = [pending(app, app.compiled(add(), name)) for name in _HOLDERS]
    product = pending(app, app.compiled(chain("MUL"), "reads"), *(each.output for each in addends))
    events, let_go = [], []
    for kind, name, addend in zip(kinds, _HOLDERS, addends, strict=True):
        if kind == "blocks":
            events.append(event_of(app, addend.execution))
            let_go.append(partial(_release_and_wait, app, name, events[-1]))
        else:
            gate = context.fence()
            events.append(app.made("event_create_from_sync_fence_fd", gate, 1, True))
            let_go.append(partial(_write_and_signal, addend, gate))
    (code,) = outlasting(app, [lambda: product.end(product.start(*events))], *let_go[::order], asked="reads")
    app.expect("event_wait", code)
    product.check(dict.fromkeys(product.net.inputs, *add().expected().values()))


def _release_and_wait(app: ScriptedApp, name: str, event: int) -> None:
    app.control.release(name)
    app.call("event_wait", event)


def _write_and_signal(written: Pending, gate: SettableFence) -> None:
    """Write the output of an execution in its place, and signal."""
    (result,) = written.net.expected().values()
    written.output[1].write(0, result.tobytes())
    gate.signal()


@cases.case("for_fences", "FW-EXE-023", since=Version.V1_3)
def for_fences(context: CaseContext) -> None:
    """Whatever device computes, it reads its inputs once all fences have signalled, in whichever order they do."""
    for kind, device in _READERS.items():
        for order in (1, -1):
            with context.configuration(f"{kind}{'' if order > 0 else '_reversed'}"):
                app = _holding(context, "held")
                compiled = app.compiled(chain("MUL"), *(() if kind == "refuses" else (device,)))
                _judge_fences(app, compiled_for=kind, made=pending(app, compiled), order=order)


@cases.case("for_fences_in_parts", "FW-EXE-023", "FW-PRT-006", since=Version.V1_3)
def for_fences_in_parts(context: CaseContext) -> None:
    """So it does where the model is in parts, whoever has the first of them, and where it begins with a condition."""
    for hal in (Version.V1_3, Version.V1_2):
        for name, make in _IN_PARTS.items():
            with context.configuration(f"{name}.{hal.name.lower()}"):
                drivers = {name: driver(name, name.upper(), hal=hal, exec_time=FAST) for name in ("mul", "add")}
                chosen = ("add",) if name == "cpu_first" else ("mul", "add")
                app = ScriptedApp(context, *(drivers[each] for each in chosen))
                _judge_fences(app, compiled_for=name, made=pending(app, app.compiled(make())), order=1)


@cases.case("for_fences_behind_a_failure", "FW-EXE-023", "FW-PRT-010", since=Version.V1_3)
def for_fences_behind_a_failure(context: CaseContext) -> None:
    """So does the CPU where it takes over because a part is refused, or its driver dies, whichever part it is."""
    for kind in ("status", "dies"):
        for place in range(len(_PARTS)):
            with context.configuration(f"{kind}_{place}"):
                fails = misbehaving("execute", kind, first=place // 2 + 1)
                fields = {_PARTS[place]: fails}
                drivers = [driver(name.lower(), name, exec_time=FAST, **fields.get(name, {})) for name in _PARTS[:2]]
                app = ScriptedApp(context, *drivers)
                _judge_fences(app, compiled_for=kind, made=pending(app, app.compiled(chain(*_PARTS))), order=1)


@cases.case("for_fences_of_the_app", "FW-EXE-023", since=Version.V1_3)
def for_fences_of_the_app(context: CaseContext) -> None:
    """Of a runtime that nobody steers: its devices read their inputs once the fences of the app have signalled."""
    for device, names in {"default": (), **NetApp(context).able(add())}.items():
        for order in (1, -1):
            with context.configuration(f"{device}{'' if order > 0 else '_reversed'}"):
                app = NetApp(context)  # one whose events are freed behind its own fences
                _judge_fences_alone(app, prepared(app, app.compiled(add(), *names)), order)


def _judge_fences_alone(app: NetApp, made: Pending, order: int) -> None:
    events, let_go = _gates(made)
    (code,) = outlasting_alone(app, [lambda: made.end(made.start(*events))], *let_go[::order])
    app.expect("event_wait", code)
    made.check()


def _judge_fences(app: ScriptedApp, compiled_for: str, made: Pending, order: int) -> None:
    """The inputs are written just before the fence that stands for them signals."""
    events, let_go = _gates(made)
    (code,) = outlasting(app, [lambda: made.end(made.start(*events))], *let_go[::order])
    app.expect(f"event_wait ({compiled_for})", code)
    made.check()


def _gates(made: Pending) -> tuple[list[int], list[Callable[[], None]]]:
    """An event of a fence for each input, and what writes that input, which is all zeros until then, and signals."""
    app = made.app
    gates = [app.context.fence() for _ in made.net.vector.inputs]
    events = [app.made("event_create_from_sync_fence_fd", gate, 1, True) for gate in gates]
    contents = [pool.read(0, pool.memory.size) for pool in made.pools[: len(gates)]]
    for pool, content in zip(made.pools, contents, strict=False):
        pool.write(0, bytes(len(content)))

    def write_and_signal(number: int) -> None:
        made.pools[number].write(0, contents[number])
        gates[number].signal()

    return events, [partial(write_and_signal, number) for number in range(len(gates))]


@cases.case("for_callbacks", "FW-VER-007", "FW-VER-004", since=Version.V1_2)
def for_callbacks(context: CaseContext) -> None:
    """A driver's callback of an execution is waited for, however late it comes."""
    for hal in (Version.V1_0, Version.V1_1, Version.V1_2, Version.V1_3):
        with context.configuration(hal.name):
            app = ScriptedApp(context, driver("one", hal=hal, **misbehaving("execute", "late", first=2)))
            app.control.set_property("debug.nn.syncexec-hal", "0")
            compiled = app.compiled(add(), "one")
            app.computes_rightly(compiled)
            if app.executed_once("one").method != "execute":
                continue  # It calls this driver synchronously, whatever the property says (FW-EXE-027 is a SHOULD).
            made = pending(app, compiled)
            call = partial(app.run, compiled, made.execution, "compute")
            (code,) = outlasting(app, [call], partial(app.control.release, "one"))
            app.expect("execution_compute", code)
            made.check()


@cases.case("for_callbacks_of_preparations", "FW-VER-007", "FW-VER-004", since=Version.V1_2)
def for_callbacks_of_preparations(context: CaseContext) -> None:
    """A driver's callback of a preparation is waited for, however late it comes."""
    for hal in Version:
        with context.configuration(hal.name):
            app = ScriptedApp(context, driver("one", hal=hal, **misbehaving("prepare_model", "late")))
            compilation = app.compilation(app.model(add()), app.named("one"))
            call = partial(app.call, "compilation_finish", compilation)
            (code,) = outlasting(app, [call], partial(app.control.release, "one"))
            app.expect("compilation_finish", code)


@cases.case("while_pending", "FW-EXE-003", "FW-EXE-017", "FW-EXE-021", since=Version.FL5)
def while_pending(context: CaseContext) -> None:
    """A fenced execution is under way until its event was waited for: nothing can be read, computed again, or freed."""
    app = _holding(context, "held")
    compiled = app.compiled(add(), "one")
    made = pending(app, compiled)
    app.succeed("execution_set_reusable", made.execution, True)
    event = made.start()
    app.refused("execution_get_output_operand_rank", ResultCode.BAD_STATE, made.execution, 0, True)
    app.refused("execution_compute", ResultCode.BAD_STATE, made.execution)
    app.call("execution_free", made.execution)
    app.control.release("one")
    app.expect("event_wait", made.end(event))
    made.check()
