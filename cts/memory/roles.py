"""Memory from descriptors for models in parts: every use that a part makes of it, by one driver or by several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from npu_conformance.cts.lib.runtime.control_flow_nets import (
    doubled_beside,
    flow_in_branch,
    if_net,
    negated_beside,
    while_net,
)
from npu_conformance.cts.lib.runtime.memories import Role, described
from npu_conformance.cts.lib.runtime.net_app import Compiled
from npu_conformance.cts.lib.runtime.nets import Net, NetBuilder
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import ADDS, FAST, MULTIPLIES, driver
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.runtime.devices import CPU
from npu_conformance.specs.neuralnetworks.runtime.result_codes import MAXIMUM_LOOP_TIMEOUT_NS
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array

cases = CaseGroup("cts.memory.roles", interface="runtime", since=Version.V1_3)

_DRIVERS = ("adds", "multiplies", "negates")


@dataclass
class _Made:
    """A net over two drivers, one of which adds and one multiplies, with memory for some of its arguments."""

    app: ScriptedApp
    compiled: Compiled
    memories: Mapping[str, int]

    def computes(self, inputs: Mapping[str, Array] | None = None) -> None:
        """Compute, and check every output. inputs: in place of the net's own."""
        app, net, arrays = self.app, self.compiled.net, inputs or self.compiled.net.inputs
        execution = app.execution(self.compiled.handle)
        app.succeed("execution_set_loop_timeout", execution, MAXIMUM_LOOP_TIMEOUT_NS)  # the machine may be busy
        for index, name in enumerate(net.vector.inputs):
            data = arrays[name].tobytes()
            if name in self.memories:
                app.succeed("memory_copy", app.shared_memory(len(data), data)[0], self.memories[name])
                app.succeed("execution_set_input_from_memory", execution, index, None, self.memories[name], 0, 0)
            else:
                app.succeed("execution_set_input", execution, index, None, place(app.memory, data), len(data))
        expected = net.expected_of(arrays)
        shared = {name: app.shared_memory(array.nbytes) for name, array in expected.items()}
        for index, name in enumerate(net.vector.outputs):
            own, pool = shared[name]
            memory, length = (self.memories[name], 0) if name in self.memories else (own, pool.memory.size)
            app.succeed("execution_set_output_from_memory", execution, index, None, memory, 0, length)
        app.expect("execution_compute", app.compute(execution))
        found = {name: self._content(name, expected[name], *shared[name]) for name in net.vector.outputs}
        app.judge(net, found, expected)

    def _content(self, name: str, expected: Array, memory: int, pool: Pool) -> Array:
        import numpy

        if name in self.memories:
            self.app.succeed("memory_copy", self.memories[name], memory)
        return numpy.frombuffer(pool.read(0, expected.nbytes), expected.dtype).reshape(expected.shape)

    def gives_none(self, *names: str) -> None:
        """Check that drivers, both where none is named, were not asked for memory."""
        for name in names or _DRIVERS:
            checks.equal(
                len(self.app.calls(name, "allocate")), 0, f"calls of allocate to {name}, which has not all uses"
            )

    def used(self, name: str) -> int:
        """How many executions of a driver name memory that a driver manages."""
        requests = [call.request for call in self.app.executions(name) if call.request is not None]
        return sum(any(pool.token for pool in request.pools) for request in requests)


def _made(context: CaseContext, net: Net, *names: str, is_named: bool = True) -> _Made:
    """Compile a net for the drivers and the CPU, and make memory for the arguments of these names.

    is_named: the app names the devices. NotApplicable where the runtime gives no memory; a driver has given none then.
    """
    app = ScriptedApp(context, ADDS, MULTIPLIES, driver("negates", "LOGICAL_NOT", exec_time=FAST))
    compiled = app.compiled(net, *((*_DRIVERS, CPU) if is_named else ()))
    memories = {}
    for name in names:
        memory = described(app, _roles(compiled, name))
        if memory is None:
            _check_not_refused(app)
            raise NotApplicable("the runtime gives no memory from this descriptor")
        memories[name] = memory
    return _Made(app, compiled, memories)


def _check_not_refused(app: ScriptedApp) -> None:
    """Check that no driver has refused to allocate: these take every use of what they have prepared."""
    for name in _DRIVERS:
        refusals = {call.status for call in app.calls(name, "allocate")} - {ErrorStatus.NONE}
        checks.equal(refusals, set(), f"statuses of {name}, which allocates for all uses of its models")


def _roles(compiled: Compiled, name: str) -> list[Role]:
    vector = compiled.net.vector
    sides = {"input": vector.inputs, "output": vector.outputs}
    return [Role(side, compiled.handle, list(names).index(name)) for side, names in sides.items() if name in names]


def _sums_around_a_product() -> tuple[Net, str]:
    """(a + c) * b + c, and the name of c: two parts of the driver that adds read it, the other one's does not."""
    builder = NetBuilder()
    a, b, c = builder.input(), builder.input(), builder.input()
    product = builder.binary("MUL", builder.binary("ADD", a, c), b)
    return builder.net(builder.binary("ADD", product, c)), c


def _sum_read_later(operation: str) -> tuple[Net, str]:
    """a + b, an output that the operation of it and of (a + a) * b reads, in a later part; and the name of the sum."""
    builder = NetBuilder()
    a, b = builder.input(), builder.input()
    total, twice = builder.binary("ADD", a, b), builder.binary("ADD", a, a)
    product = builder.binary("MUL", twice, b)
    return builder.net(total, builder.binary(operation, total, product)), total


@cases.case("several_parts", "FW-MEM-011", "FW-GEN-007")
def several_parts(context: CaseContext) -> None:
    """An input of several parts of one driver lies in that driver's memory for each of them."""
    net, read_twice = _sums_around_a_product()
    made = _made(context, net, read_twice)
    made.computes()
    made.gives_none("multiplies")
    checks.equal(made.used("adds"), 2, "executions that name the memory")


@cases.case("last_output", "FW-MEM-011", "FW-GEN-007")
def last_output(context: CaseContext) -> None:
    """An output of the last part lies in the memory of its driver alone."""
    net, _ = _sums_around_a_product()
    made = _made(context, net, *net.vector.outputs)
    made.computes()
    made.gives_none("multiplies")
    checks.equal(made.used("adds"), 1, "executions that name the memory")


@cases.case("output_read_by_the_same", "FW-MEM-011", "FW-GEN-007")
def output_read_by_the_same(context: CaseContext) -> None:
    """An output that a later part of the same driver reads lies in its memory for both parts."""
    net, total = _sum_read_later("ADD")
    made = _made(context, net, total)
    made.computes()
    checks.equal(made.used("adds"), 2, "executions that name the memory")


@cases.case("output_read_by_another", "FW-MEM-011", "FW-MEM-009")
def output_read_by_another(context: CaseContext) -> None:
    """An output that a part of another driver reads lies in the memory of neither."""
    net, total = _sum_read_later("MUL")
    made = _made(context, net, total, is_named=False)
    made.gives_none()
    made.computes()


@cases.case("input_of_another", "FW-MEM-011", "FW-MEM-009")
def input_of_another(context: CaseContext) -> None:
    """So does an input that parts of two drivers read."""
    net, _ = _sum_read_later("MUL")
    made = _made(context, net, net.vector.inputs[1], is_named=False)
    made.gives_none()
    made.computes()


def _with_condition(net: Net, *, taken: bool) -> Mapping[str, Array]:
    import numpy

    return {**net.inputs, net.vector.inputs[0]: numpy.array([taken])}


@cases.case("branches", "FW-MEM-011", "FW-GEN-007")
def branches(context: CaseContext) -> None:
    """What goes into both branches of an IF and what comes out lies in the memory of the driver that has them.

    The second branch is one execution of the driver or two: which operations make a step is the runtime's choice.
    """
    net = if_net(("ADD",), ("ADD", "ADD"))
    for name in (*net.vector.inputs[1:], *net.vector.outputs):
        with context.configuration(name):
            made = _made(context, net, name)
            for taken in (True, False):
                before = made.used("adds")
                made.computes(_with_condition(net, taken=taken))
                checks.that(made.used("adds") > before, f"condition {taken}: no execution names the memory")
            made.app.close()


@cases.case("branches_of_two", "FW-MEM-011", "FW-MEM-009")
def branches_of_two(context: CaseContext) -> None:
    """Where two drivers have one branch each, it lies in the memory of neither."""
    net = if_net(("ADD",), ("MUL",))
    for name in (*net.vector.inputs[1:], *net.vector.outputs):
        with context.configuration(name):
            made = _made(context, net, name, is_named=False)
            made.gives_none()
            for taken in (True, False):
                made.computes(_with_condition(net, taken=taken))
            made.app.close()


@cases.case("condition", "FW-MEM-011", "FW-GEN-007")
def condition(context: CaseContext) -> None:
    """The condition of an IF may lie in memory from a descriptor, whoever reads it."""
    net = if_net(("ADD",), ("MUL",))
    made = _made(context, net, net.vector.inputs[0], is_named=False)
    for taken in (True, False):
        made.computes(_with_condition(net, taken=taken))


@cases.case("condition_read_by_a_driver", "FW-MEM-011", "FW-MEM-009")
def condition_read_by_a_driver(context: CaseContext) -> None:
    """Where a driver reads it too it does not lie in the memory of that one, nor does that of an IF in a branch."""
    inner = if_net(("ADD",), ("MUL",))
    for name, net, number in (("main", inner, 0), ("branch", flow_in_branch(inner), 1)):
        with context.configuration(name):
            both = negated_beside(net, net.vector.inputs[number])
            made = _made(context, both, net.vector.inputs[number], is_named=False)
            made.gives_none("negates")
            for taken in (True, False):
                made.computes(_with_condition(both, taken=taken))
            made.app.close()


@cases.case("loop_read_by_a_driver", "FW-MEM-011", "FW-MEM-009")
def loop_read_by_a_driver(context: CaseContext) -> None:
    """What a WHILE carries and gives does not lie in the memory of a driver that reads it beside the WHILE."""
    net = while_net(("ADD", "MUL"))
    count, first, *_ = net.vector.inputs
    (result,) = net.vector.outputs
    for name, read in (("counter", count), ("matrix", first), ("result", result)):
        with context.configuration(name):
            both = doubled_beside(net, read)
            made = _made(context, both, read, is_named=False)
            made.gives_none()
            for bound in (0, 1, 2):
                made.computes(_with_bound(both, bound))
            made.app.close()


@cases.case("loop", "FW-MEM-011", "FW-GEN-007")
def loop(context: CaseContext) -> None:
    """The arguments of a WHILE may lie in memory from descriptors, whoever reads and writes them."""
    net = while_net(("ADD", "MUL"))
    for name in (*net.vector.inputs, *net.vector.outputs):
        with context.configuration(name):
            made = _made(context, net, name, is_named=False)
            for bound in (0, 1, 2):
                made.computes(_with_bound(net, bound))
            made.app.close()


def _with_bound(net: Net, bound: int) -> Mapping[str, Array]:
    """The inputs of a loop of so many rounds."""
    import numpy

    count, _, last, _ = net.vector.inputs
    return {**net.inputs, count: numpy.array([0], numpy.int32), last: numpy.array([bound], numpy.int32)}
