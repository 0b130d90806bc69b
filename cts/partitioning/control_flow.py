"""IF and WHILE: whole on a driver that supports them; else their graphs are partitioned, and the runtime decides."""

from __future__ import annotations

import time
from itertools import product
from typing import TYPE_CHECKING

from npu_conformance.cts.lib.runtime.control_flow_nets import (
    crossing_while_net,
    if_net,
    if_of_computed_condition,
    if_of_constant_condition,
    if_of_constants,
    ifs_of_the_same_graphs,
    ifs_of_the_same_numbers,
    nested_while_net,
    two_ifs,
    while_net,
    while_of_constants,
    while_of_hidden_counter,
    while_of_hidden_matrix,
)
from npu_conformance.cts.lib.runtime.net_app import Compiled
from npu_conformance.cts.lib.runtime.nets import Net
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import ADDS, FAST, MULTIPLIES, both, driver, failing, misbehaving
from npu_conformance.cts.lib.runtime.vector_run import MISSED
from npu_conformance.cts.lib.runtime.ways import ways
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperationType
from npu_conformance.specs.neuralnetworks.runtime.devices import CPU
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array

_TIMEOUT = 200_000_000
_LONGEST = _TIMEOUT * 8 // 5
"""Nanoseconds of a loop, and the longest that one timeout may last; two of them last longer."""
_TRIES = 5

cases = CaseGroup("cts.partitioning.control_flow", interface="runtime", since=Version.V1_3)


def _first(net: Net, **first: int) -> dict[str, Array]:
    import numpy

    inputs = dict(net.inputs)
    for place, value in first.items():
        name = net.vector.inputs[int(place.removeprefix("input_"))]
        inputs[name] = numpy.full_like(inputs[name], value)
    return inputs


def _checked(app: ScriptedApp, compiled: Compiled, **first: int) -> None:
    """Compute with other values in inputs of one element, named by their place."""
    net = compiled.net
    inputs = _first(net, **first)
    computed = app.compute_net(compiled, inputs)
    app.expect("execution_compute", computed.result)
    app.judge(net, computed.outputs, net.expected_of(inputs))


def _both_branches(app: ScriptedApp, net: Net) -> None:
    compiled = app.compiled(net)
    for condition in (1, 0, 1):
        _checked(app, compiled, input_0=condition)


def _rounds(app: ScriptedApp, net: Net) -> None:
    """Inputs 0 and 2 are the counter and its bound: none, one, some rounds; a bound below the counter."""
    compiled = app.compiled(net)
    for count, bound in ((0, 0), (0, 1), (1, 4), (5, 2)):
        _checked(app, compiled, input_0=count, input_2=bound)


@cases.case("if_whole", "FW-PRT-005", "FW-PRT-004")
def if_whole(context: CaseContext) -> None:
    """A driver that supports IF and is cheaper gets it with its graphs."""
    app = ScriptedApp(context, driver("one", exec_time=FAST, if_performance=both(FAST)))
    _both_branches(app, if_net(("ADD",), ("MUL", "SUB")))
    app.gets(one=("IF",))
    model = app.prepared_once("one")
    lengths = [len(graph.operations) for graph in model.referenced]
    checks.equal(sorted(lengths), [1, 2], "operations of the graphs that the driver got with the IF")


@cases.case("while_whole", "FW-PRT-005", "FW-PRT-004")
def while_whole(context: CaseContext) -> None:
    """A driver that supports WHILE and is cheaper gets it with its graphs."""
    app = ScriptedApp(context, driver("one", exec_time=FAST, while_performance=both(FAST)))
    _rounds(app, while_net())
    app.gets(one=("WHILE",))


@cases.case("if_on_cpu", "FW-PRT-006", scope=Scope.SMOKE)
def if_on_cpu(context: CaseContext) -> None:
    """Without a driver the CPU takes one branch or the other, by the value of the condition."""
    _both_branches(ScriptedApp(context), if_net(("ADD",), ("MUL", "SUB")))


@cases.case("while_on_cpu", "FW-PRT-006", scope=Scope.SMOKE)
def while_on_cpu(context: CaseContext) -> None:
    """Without a driver the CPU goes round as often as the condition says; with no round the inputs come out."""
    _rounds(ScriptedApp(context), while_net(("ADD", "SUB", "ADD")))


@cases.case("if_in_parts", "FW-PRT-001", "FW-PRT-006")
def if_in_parts(context: CaseContext) -> None:
    """Operations inside the branches go to the drivers that are best at them, where the IF is nobody's."""
    app = ScriptedApp(context, ADDS, MULTIPLIES)
    _both_branches(app, if_net(("ADD",), ("MUL", "SUB")))
    app.gets(adds=("ADD",), multiplies=("MUL",))


@cases.case("while_in_parts", "FW-PRT-001", "FW-PRT-006")
def while_in_parts(context: CaseContext) -> None:
    """Operations of condition and body go to the drivers that are best at them, where the WHILE is nobody's."""
    app = ScriptedApp(context, driver("adds", "ADD", exec_time=FAST), driver("compares", "LESS", exec_time=FAST))
    _rounds(app, while_net(("MUL",)))
    app.gets(adds=("ADD",), compares=("LESS",))


@cases.case("only_the_branch_taken", "FW-PRT-006")
def only_the_branch_taken(context: CaseContext) -> None:
    """The branch that is not taken is not executed."""
    app = ScriptedApp(context, ADDS, MULTIPLIES)
    compiled = app.compiled(if_net(("ADD",), ("MUL",)))
    _checked(app, compiled, input_0=0)
    counts = [len(app.executions(name)) for name in ("adds", "multiplies")]
    checks.equal(counts, [0, 1], "executions by the drivers of the two branches")


@cases.case("if_after_operations", "FW-PRT-006")
def if_after_operations(context: CaseContext) -> None:
    """What goes into the branches may come from another device."""
    app = ScriptedApp(context, driver("adds", "ADD", exec_time=FAST), driver("subtracts", "SUB", exec_time=FAST))
    _both_branches(app, if_net(("ADD",), ("MUL", "SUB"), before=("SUB", "MUL")))


@cases.case("identity_branch", "FW-PRT-006")
def identity_branch(context: CaseContext) -> None:
    """Several operations of both branches on one device, in one order and the other."""
    app = ScriptedApp(context, driver("both", "ADD", "MUL", exec_time=FAST))
    _both_branches(app, if_net(("ADD", "SUB", "MUL"), ("MUL", "SUB", "ADD")))


@cases.case("second_if_whole", "FW-PRT-006", "FW-PRT-005")
def second_if_whole(context: CaseContext) -> None:
    """An IF that is a part of the model has its own graphs there, and not those of another one before it."""
    script = driver("one", "IF", "ADD", "SUB", exec_time=FAST, if_performance=both(FAST))
    app = ScriptedApp(context, script)
    _both_branches(app, two_ifs(("MUL",), ("ADD", "MUL"), ("SUB",), ("ADD", "ADD", "SUB")))
    model = app.prepared_with("one", OperationType.IF)
    lengths = [len(graph.operations) for graph in model.referenced]
    checks.equal(sorted(lengths), [1, 3], "operations of the graphs that the driver got with the second IF")


@cases.case("graphs_referred_to_again", "FW-PRT-006")
def graphs_referred_to_again(context: CaseContext) -> None:
    """Models that are branches of three IFs are told apart in each: on the CPU, in one part of a model, in several."""
    scripts = {
        "cpu": (),
        "one_part": (driver("one", "IF", "ADD", "SUB", exec_time=FAST, if_performance=both(FAST)),),
        "several_parts": (ADDS, MULTIPLIES),
    }
    for name, chosen in scripts.items():
        with context.configuration(name):
            _both_branches(ScriptedApp(context, *chosen), ifs_of_the_same_graphs())


@cases.case("failing_in_branch", "FW-PRT-010")
def failing_in_branch(context: CaseContext) -> None:
    """A driver that fails inside a branch is replaced by the CPU."""
    app = ScriptedApp(context, driver("adds", "ADD", exec_time=FAST, **failing("execute")))
    _both_branches(app, if_net(("ADD",), ("MUL", "ADD")))


@cases.case("failing_in_body", "FW-PRT-010")
def failing_in_body(context: CaseContext) -> None:
    """A driver that fails in some round of a WHILE is replaced by the CPU, and the rounds before do not count twice."""
    for first in (1, 2, 3):
        script = driver("subtracts", "SUB", exec_time=FAST, **failing("execute", first=first))
        app = ScriptedApp(context, script)
        compiled = app.compiled(while_net(("SUB",)))
        _checked(app, compiled, input_0=0, input_2=4)
        app.close()


@cases.case("failing_in_condition", "FW-PRT-010")
def failing_in_condition(context: CaseContext) -> None:
    """A driver that fails as it compares for a loop is replaced by the CPU."""
    for first in (1, 2, 3):
        app = ScriptedApp(context, driver("compares", "LESS", exec_time=FAST, **failing("execute", first=first)))
        _checked(app, app.compiled(while_net(("SUB",))), input_0=0, input_2=4)
        app.close()


@cases.case("failing_in_loop_of_named", "FW-PRT-011")
def failing_in_loop_of_named(context: CaseContext) -> None:
    """A named driver that fails in some round, in the condition or in the body, ends the computation with it."""
    for operation, first in product(("LESS", "SUB"), (1, 2, 3)):
        net = while_net(("SUB",))
        app = ScriptedApp(context, driver("fails", operation, exec_time=FAST, **failing("execute", first=first)))
        compiled = app.compiled(net, "fails", CPU)
        for way in ways(app.level):
            computed = app.compute_net(compiled, _first(net, input_0=0, input_2=4), way)
            checks.that(computed.result != ResultCode.NO_ERROR, f"{operation} fails ({way}): expected a failure")
        app.close()


@cases.case("condition_fails_behind_fence", "FW-PRT-010", "FW-PRT-011")
def condition_fails_behind_fence(context: CaseContext) -> None:
    """A comparison that fails once it was launched chooses no branch and ends no loop."""
    for net in (if_of_computed_condition(("ADD",), ("MUL",)), while_net(("SUB",))):
        for devices in ((), ("compares", CPU)):
            app = ScriptedApp(context, driver("compares", "LESS", exec_time=FAST, **misbehaving("execute", "callback")))
            compiled = app.compiled(net, *devices)
            computed = app.compute_net(compiled, way="fenced")
            if devices:
                checks.that(computed.result != ResultCode.NO_ERROR, "a condition that fails: expected a failure")
            app.judge(net, computed.outputs, net.expected())
            app.close()


@cases.case("loop_in_loop", "FW-PRT-006")
def loop_in_loop(context: CaseContext) -> None:
    """A loop inside of another, with values of the same shapes: neither touches those of the other."""
    net = nested_while_net()
    app = ScriptedApp(context, ADDS, MULTIPLIES)
    for devices in ((), ("adds", "multiplies", CPU)):
        compiled = app.compiled(net, *devices)
        for bound in (0, 1, 2, 3):
            _checked(app, compiled, input_0=0, input_2=bound)


@cases.case("graphs_of_the_same_numbers", "FW-PRT-006")
def graphs_of_the_same_numbers(context: CaseContext) -> None:
    """What a graph computes in front of an IF is there behind it, though a branch has values of the same numbers."""
    net = ifs_of_the_same_numbers()
    app = ScriptedApp(context, ADDS, MULTIPLIES)
    for devices, way in product(((), ("adds", "multiplies", CPU)), ways(app.level)):
        compiled = app.compiled(net, *devices)
        for condition in (1, 0):
            with context.configuration(f"{'named' if devices else 'default'}.{way}.{condition}"):
                inputs = _first(net, input_0=condition)
                computed = app.compute_net(compiled, inputs, way)
                app.expect(f"execution ({way})", computed.result)
                app.judge(net, computed.outputs, net.expected_of(inputs))


@cases.case("failing_after_while", "FW-PRT-010")
def failing_after_while(context: CaseContext) -> None:
    """A driver that fails behind a WHILE is replaced by the CPU."""
    app = ScriptedApp(context, driver("multiplies", "MUL", exec_time=FAST, **failing("execute")))
    _both_branches(app, if_net(("ADD",), ("SUB",), before=("MUL",)))


@cases.case("every_byte_but_zero_is_true", "FW-PRT-006", "FW-GEN-001")
def every_byte_but_zero_is_true(context: CaseContext) -> None:
    """A condition is true where its byte is not zero, be it another number than one."""
    for scripts in ((), (driver("adds", "ADD", exec_time=FAST),)):
        app = ScriptedApp(context, *scripts)
        compiled = app.compiled(if_net(("ADD",), ("MUL", "SUB")))
        for condition in (2, 0, 128, 255, 1):
            _checked(app, compiled, input_0=condition)
        app.close()


@cases.case("body_in_parts_reads_the_round_before", "FW-PRT-006")
def body_in_parts_reads_the_round_before(context: CaseContext) -> None:
    """All operations of a body read the values of the round before, also where they are on several devices."""
    app = ScriptedApp(context, driver("adds", "ADD", exec_time=FAST), driver("subtracts", "SUB", exec_time=FAST))
    compiled = app.compiled(crossing_while_net())
    for count, bound in ((0, 0), (0, 1), (1, 4), (0, 4)):
        _checked(app, compiled, input_0=count, input_3=bound)
    app.gets(adds=("ADD", "ADD"), subtracts=("SUB",))


@cases.case("values_that_only_rounds_see", "FW-PRT-006", "FW-GEN-001")
def values_that_only_rounds_see(context: CaseContext) -> None:
    """What a body hands on and the WHILE does not give goes from round to round too, a counter as well as a matrix."""
    parts = driver("adds", "ADD", exec_time=FAST), driver("subtracts", "SUB", exec_time=FAST)
    whole = (driver("one", exec_time=FAST, while_performance=both(FAST)),)
    nets = {"matrix": (while_of_hidden_matrix(), 0, 3), "counter": (while_of_hidden_counter(), 1, 2)}
    for (name, scripts), (kind, (net, count, bound)) in product((("parts", parts), ("whole", whole)), nets.items()):
        with context.configuration(f"{name}.{kind}"):
            app = ScriptedApp(context, *scripts)
            compiled = app.compiled(net)
            for rounds in (0, 1, 2, 3):
                _checked(app, compiled, **{f"input_{count}": 0, f"input_{bound}": rounds})
            app.close()


@cases.case("constants_of_branches_in_memories", "FW-PRT-006", "FW-MDL-030")
def constants_of_branches_in_memories(context: CaseContext) -> None:
    """The constants of a model and of its branches may lie in different memories, on whatever devices they are used."""
    whole = driver("one", exec_time=FAST, if_performance=both(FAST))
    parts = (driver("multiplies", "MUL", exec_time=FAST), driver("subtracts", "SUB", exec_time=FAST))
    for scripts in ((), (whole,), parts):
        app = ScriptedApp(context, *scripts)
        _both_branches(app, if_of_constants(context.filled_pool))
        app.close()


@cases.case("constant_inputs", "FW-PRT-006", "FW-GEN-001")
def constant_inputs(context: CaseContext) -> None:
    """Inputs of an IF and of a WHILE that are constants, conditions and counters too, whole and in parts."""
    whole = driver("one", exec_time=FAST, if_performance=both(FAST), while_performance=both(FAST))
    parts = (driver("multiplies", "MUL", exec_time=FAST), driver("subtracts", "SUB", exec_time=FAST))
    for name, scripts in (("cpu", ()), ("whole", (whole,)), ("parts", parts)):
        app = ScriptedApp(context, *scripts)
        for condition in (True, False):
            with context.configuration(f"{name}.if.{condition}".lower()):
                app.computes_rightly(app.compiled(if_of_constant_condition(condition=condition)))
        for rounds in (0, 3):
            with context.configuration(f"{name}.while.{rounds}"):
                app.computes_rightly(app.compiled(while_of_constants(rounds)))
        app.close()


@cases.case("loop_timeout", "FW-PRT-012")
def loop_timeout(context: CaseContext) -> None:
    """A WHILE that the runtime ends for its time is not begun again: the code is the app's, after one timeout."""
    app = ScriptedApp(context, driver("subtracts", "SUB", exec_time=FAST))
    _ends_after_one_timeout(app, app.compiled(while_net(("SUB",))))


@cases.case("loop_timeout_in_step", "FW-PRT-012")
def loop_timeout_in_step(context: CaseContext) -> None:
    """The same holds where the WHILE is a part of the model, of the CPU from the first or in place of a driver."""
    multiplies = driver("multiplies", "MUL", exec_time=FAST)
    loops = driver("loops", "WHILE", "ADD", "LESS", exec_time=FAST, while_performance=both(FAST), **failing("execute"))
    for name, scripts in (("of_cpu", (multiplies,)), ("instead_of_driver", (multiplies, loops))):
        with context.configuration(name):
            app = ScriptedApp(context, *scripts)
            _ends_after_one_timeout(app, app.compiled(while_net(before=("MUL",))))
            app.close()


def _ends_after_one_timeout(app: ScriptedApp, compiled: Compiled) -> None:
    elapsed = [_endless(app, compiled)]
    while elapsed[-1] > _LONGEST and len(elapsed) < _TRIES:  # a busy machine is slow now and then
        elapsed.append(_endless(app, compiled))
    checks.that(
        elapsed[-1] <= _LONGEST, f"a loop with a timeout of {_TIMEOUT} ns ran for {min(elapsed)} ns, and never for less"
    )


def _endless(app: ScriptedApp, compiled: Compiled) -> int:
    """Compute rounds that take hours; checks the code, and returns how many nanoseconds it took."""
    import numpy

    net = compiled.net
    bound = net.vector.inputs[2]
    computed = app.prepared_execution(compiled, {**net.inputs, bound: numpy.full_like(net.inputs[bound], 2**31 - 1)})
    app.succeed("execution_set_loop_timeout", computed.handle, _TIMEOUT)
    started = time.monotonic_ns()
    app.expect("execution_compute", app.run(compiled, computed.handle, "compute"), *MISSED)
    return time.monotonic_ns() - started
