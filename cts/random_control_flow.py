"""Random IF and WHILE inside of each other over random drivers: whoever computes what, the results are the oracles'.

Models have graphs in graphs in graphs, each with constants of its own; conditions are graphs with an IF too, loops make
no round or several, and what they carry may begin as a constant. Drivers compute late behind fences. Everything follows
from the seed, which is the number in the id.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from npu_conformance.corpus.wire_model import build_model
from npu_conformance.cts.lib.runtime.cache_folder import CacheFolder
from npu_conformance.cts.lib.runtime.fixture import CPU
from npu_conformance.cts.lib.runtime.memories import Role, described
from npu_conformance.cts.lib.runtime.net_app import Compiled, Options
from npu_conformance.cts.lib.runtime.nets import MATRIX, Net
from npu_conformance.cts.lib.runtime.random_flow_nets import FlowNet, flow_drivers
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.seeded import seeded
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import ExecutionPreference, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript
from npu_conformance.specs.neuralnetworks.runtime.result_codes import BYTE_SIZE_OF_CACHE_TOKEN, MAXIMUM_LOOP_TIMEOUT_NS
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.specs.versions import NEWEST

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array

AREA = "cts.random_control_flow"
SEEDS, _WITH_STATES, _END = 26, 30, 34
"""The first seeds, and those from which on loops carry values too that only their rounds see."""
_DEPTHS = (1, 3, 3)
"""How many graphs lie in each other at most; with one alone a driver may have the memory of both branches."""
_WAYS = ("compute", "asynchronous", "burst", "fenced")
_FLOW = {OperationType.IF, OperationType.WHILE}
_REQUIREMENTS = (
    "FW-PRT-006", "FW-PRT-001", "FW-MDL-020", "FW-MDL-026", "FW-CAC-004", "FW-GEN-002",
    "FW-MEM-011", "FW-PRT-015", "FW-EXE-022",
)  # fmt: skip


def cases() -> Iterator[Case]:
    """One case for each seed."""
    yield from seeded(AREA, SEEDS, _run, _REQUIREMENTS)
    yield from seeded(AREA, _END, _run, _REQUIREMENTS, first=_WITH_STATES)


def _run(context: CaseContext, seed: int) -> None:
    """Compile twice with one cache, the second time from it, and compute with either truth value.

    Two of three seeds name their devices, so that nothing hides a mistake; there matrices lie in the drivers' memory.
    """
    scripts, app = flow_drivers(seed), ScriptedApp(context, *flow_drivers(seed))
    ways = [_WAYS[(seed + turn) % len(_WAYS)] for turn in range(2)]
    grows = app.level.is_aidl and "fenced" not in ways  # what grows is not computed behind fences
    net = _net(context, seed, grows=grows)
    devices = (*app.driver_names, CPU) if grows or seed % 3 == 1 else ()
    preference = ExecutionPreference.LOW_POWER if seed % 2 else ExecutionPreference.FAST_SINGLE_ANSWER
    cache = (CacheFolder(context).argument, bytes([seed]) * BYTE_SIZE_OF_CACHE_TOKEN)
    built = app.model(net)
    for way in ways:
        compiled = app.compiled(net, *devices, options=Options(preference, cache=cache), model=built)
        memories = _memories(app, compiled) if devices else {}
        for truth in (0, 1):
            _compute(app, compiled, truth, way, memories)
    for script in scripts:
        for model in app.prepared(script.name):
            _judge_model(script, model, net, scripts, is_power=preference == ExecutionPreference.LOW_POWER)


def _net(context: CaseContext, seed: int, *, grows: bool) -> Net:
    """The net of a seed; the constants of every third lie in memories of the app."""
    depth = _DEPTHS[seed // 3 % len(_DEPTHS)]
    net = FlowNet(seed, depth, grows=grows, has_states=seed >= _WITH_STATES).net()
    if seed % 3:
        return net
    wire = build_model(net.vector, NEWEST, create_pool=context.filled_pool, constants="three_pools").model
    return Net(net.vector, wire)


def _memories(app: ScriptedApp, compiled: Compiled) -> dict[str, int]:
    """Memory from descriptors for the inputs that are matrices; where the runtime gives it."""
    vector = compiled.net.vector
    roles = {
        name: Role("input", compiled.handle, at)
        for at, name in enumerate(vector.inputs)
        if vector.operands[name].type == MATRIX.type
    }
    found = {name: described(app, (role,)) for name, role in roles.items()}
    return {name: memory for name, memory in found.items() if memory is not None}


def _compute(app: ScriptedApp, compiled: Compiled, truth: int, way: str, memories: Mapping[str, int]) -> None:
    inputs = _inputs(compiled.net, truth)
    computed = app.prepared_execution(compiled, inputs, memories=memories)
    app.succeed("execution_set_loop_timeout", computed.handle, MAXIMUM_LOOP_TIMEOUT_NS)
    app.finish(compiled, computed, way)
    app.expect(f"execution ({way})", computed.result)
    app.judge(compiled.net, computed.outputs, compiled.net.expected_of(inputs))


def _inputs(net: Net, truth: int) -> dict[str, Array]:
    """The inputs of a net with another truth value, and counted from 0."""
    import numpy

    first, count, *_ = net.vector.inputs
    inputs = dict(net.inputs)
    inputs[first] = numpy.full_like(inputs[first], truth)
    inputs[count] = numpy.zeros_like(inputs[count])
    return inputs


def _judge_model(
    script: DriverScript, model: Model, net: Net, scripts: tuple[DriverScript, ...], *, is_power: bool
) -> None:
    """A part is relaxed as the whole is, and has only what its driver is the best at; IF and WHILE may be whole."""
    with checks.about("FW-MDL-026"):
        found = model.relax_computation_float32_to_float16
        checks.equal(found, net.vector.relaxed, f"whether a model of {script.name} is relaxed")
    graph = model.main
    if {one.type for one in graph.operations} & _FLOW:
        return
    # Numbers and truth values are left out: drivers of 1.2 compute fewer operations of them.
    matrices = [one for one in graph.operations if graph.operands[one.inputs[0]].type == OperandType.TENSOR_FLOAT32]
    with checks.about("FW-PRT-001"):
        for operation in {OperationType(one.type) for one in matrices}:
            best = _best(operation, scripts, is_power=is_power)
            checks.equal(script.name, best, f"device that {operation.name} is given to")


def _best(operation: OperationType, scripts: tuple[DriverScript, ...], *, is_power: bool) -> str:
    """The driver with the lowest figure that supports an operation; empty for the CPU, which wins at 1."""
    able = {
        (script.power_usage if is_power else script.exec_time): script.name
        for script in scripts
        if any(one.type == operation for one in script.operations or ())
    }
    return able[min(able)] if able and min(able) < 1 else ""
