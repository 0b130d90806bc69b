"""What reaches a driver of each HAL of where values lie: kinds of memory, padding, and its names in a burst."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from npu_conformance.corpus.wire_model import build_model
from npu_conformance.cts.lib.runtime.net_app import Compiled
from npu_conformance.cts.lib.runtime.nets import Net, NetBuilder, add, net_of
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.nnapi.models import memory_object
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.runtime.control import DriverCall
from npu_conformance.specs.neuralnetworks.types import BLOB_FORMAT, Memory
from npu_conformance.specs.versions import NEWEST, Version

cases = CaseGroup("cts.version_adaptation.memories", interface="runtime", since=Version.FL5)

_BYTES = 16
"""Of each matrix of the ADD."""
_PADDED = 64
_HALS = (Version.V1_2, Version.V1_3, Version.FL5, Version.FL8)
_KINDS = {"mmap_fd": "mappableFile", "hardware_buffer_blob": "hardwareBuffer"}
"""The kinds of memory that an app can hand over, as HIDL calls them and as AIDL does."""


def _pool(context: CaseContext, kind: str, data: bytes) -> Memory:
    pool = context.pool(len(data), kind)
    pool.write(0, data)
    return pool.memory


def _object(app: ScriptedApp, kind: str, data: bytes) -> int:
    return app.owns("memory_create_from_fd", memory_object(app.runtime, _pool(app.context, kind, data)))


def _execution(app: ScriptedApp, compiled: Compiled, memory: int) -> int:
    """An execution of an ADD whose first input lies in memory."""
    execution = app.execution(compiled.handle)
    app.succeed("execution_set_input_from_memory", execution, 0, None, memory, 0, _BYTES)
    app.succeed("execution_set_input", execution, 1, None, place(app.memory, bytes(_BYTES)), _BYTES)
    app.succeed("execution_set_output", execution, 0, None, place(app.memory, bytes(_BYTES)), _BYTES)
    return execution


def _adds_constant(context: CaseContext, kind: str) -> Net:
    """An ADD of a constant in memory of a kind."""
    builder = NetBuilder()
    vector = builder.net(builder.binary("ADD", builder.input(), builder.constant())).vector
    return Net(vector, build_model(vector, NEWEST, create_pool=partial(_pool, context, kind)).model)


def _of_first_input(call: DriverCall) -> Memory | None:
    """The memory in which the first input of a request lies."""
    assert call.request is not None
    return call.request.pools[call.request.inputs[0].location.pool_index].pool


def _check_description(memory: Memory | None, kind: str) -> None:
    """Check that a hardware buffer is described, as the BLOB of so many bytes that it is, and nothing else is."""
    assert memory is not None
    described = memory.description
    found = described and (described.width, described.height, described.layers, described.format)
    expected = (memory.size, 1, 1, BLOB_FORMAT) if kind == "hardware_buffer_blob" else None
    checks.equal(found, expected, f"width, height, layers and format of memory from {kind}")


def _kinds_of_arguments(context: CaseContext, hal: Version) -> None:
    """The memory of an argument reaches the driver under the name that its HAL has for the kind."""
    app = ScriptedApp(context, driver("one", hal=hal, exec_time=FAST))
    compiled = app.compiled(add(), "one")
    for hidl, aidl in _KINDS.items():
        execution = _execution(app, compiled, _object(app, hidl, bytes(_BYTES)))
        app.expect("execution_compute", app.run(compiled, execution, "compute"))
        memory = _of_first_input(app.executions("one")[-1])
        checks.equal(memory and memory.kind, aidl if hal.is_aidl else hidl, f"kind of memory from {hidl}")
        _check_description(memory, hidl)


def _kind_of_pixels(context: CaseContext, hal: Version) -> None:
    """A hardware buffer of pixels reaches the driver as one, and not as a BLOB; the rest is the driver's."""
    app = ScriptedApp(context, driver("one", hal=hal, exec_time=FAST))
    compiled, pixels = app.compiled(add(), "one"), _pool(context, "hardware_buffer", bytes(_BYTES))
    execution = app.execution(compiled.handle)
    memory = app.made("memory_create_from_a_hardware_buffer", pixels, True)
    app.succeed("execution_set_input_from_memory", execution, 0, None, memory, 0, 0)
    app.succeed("execution_set_input", execution, 1, None, place(app.memory, bytes(_BYTES)), _BYTES)
    app.succeed("execution_set_output", execution, 0, None, place(app.memory, bytes(_BYTES)), _BYTES)
    app.compute(execution)
    executed = app.executed_once("one")
    found = _of_first_input(executed)
    assert executed.request is not None
    location = executed.request.inputs[0].location
    checks.equal((location.offset, location.length, location.padding), (0, 0, 0), "offset, length, padding in pixels")
    checks.equal(found and found.kind, "hardwareBuffer" if hal.is_aidl else "hardware_buffer", "kind of pixels")
    described = found and found.description
    checks.equal(described and described.format == BLOB_FORMAT, False, "whether pixels are described as a BLOB")


def _kinds_of_constants(context: CaseContext, hal: Version) -> None:
    """So does the memory of a constant."""
    app = ScriptedApp(context, driver("one", hal=hal, exec_time=FAST))
    for hidl, aidl in _KINDS.items():
        app.computes_rightly(app.compiled(_adds_constant(context, hidl), "one"))
        kinds = {pool.kind for pool in app.prepared("one")[-1].pools}
        checks.equal(kinds, {aidl if hal.is_aidl else hidl}, f"kinds of memory from {hidl}")
        for pool in app.prepared("one")[-1].pools:
            _check_description(pool, hidl)


def _description_of_blob(context: CaseContext, hal: Version) -> None:
    """AIDL describes every hardware buffer: a BLOB also where the app's memory says its kind alone."""
    app = ScriptedApp(context, driver("one", hal=hal, exec_time=FAST))
    compiled = app.compiled(add(), "one")
    for kind, expected in _KINDS.items():
        bare = replace(_pool(context, kind, bytes(_BYTES)), kind=kind, description=None)
        memory = app.owns("memory_create_from_fd", memory_object(app.runtime, bare))
        app.expect("execution_compute", app.run(compiled, _execution(app, compiled, memory), "compute"))
        found = _of_first_input(app.executions("one")[-1])
        checks.equal(found and found.kind, expected, f"kind of memory from {kind}")
        _check_description(found, kind)


def _padding(context: CaseContext, hal: Version) -> None:
    """A driver gets the length of the value; what is behind it is padding, of which HIDL knows nothing."""
    app = ScriptedApp(context, driver("one", hal=hal, exec_time=FAST))
    compiled, memory = app.compiled(add(), "one"), _object(app, "mmap_fd", bytes(2 * _PADDED))
    execution = app.execution(compiled.handle)
    app.succeed("execution_enable_input_and_output_padding", execution, True)
    for index in range(2):
        app.succeed("execution_set_input_from_memory", execution, index, None, memory, _PADDED * index, _PADDED)
    output = _object(app, "mmap_fd", bytes(_PADDED))
    app.succeed("execution_set_output_from_memory", execution, 0, None, output, 0, _PADDED)
    app.expect("execution_compute", app.run(compiled, execution, "compute"))
    request = app.executions("one")[-1].request
    assert request is not None
    told = {(each.location.length, each.location.padding) for each in (*request.inputs, *request.outputs)}
    checks.equal(told, {(_BYTES, _PADDED - _BYTES if hal.is_aidl else 0)}, "lengths and paddings of the arguments")


def _lengths_in_parts(context: CaseContext, hal: Version) -> None:
    """What one driver has written where there is more room than needed, the next one gets without the room behind."""
    app = ScriptedApp(context, *(driver(name, name.upper(), hal=hal, exec_time=FAST) for name in ("add", "mul")))
    builder = NetBuilder()
    first, second = builder.input(), builder.input()
    total = builder.binary("ADD", first, second)
    vector = builder.net(total, builder.binary("MUL", total, second)).vector
    opened = replace(vector.operands[total], dimensions=(0, 2))
    app.computes_rightly(app.compiled(net_of(replace(vector, operands={**vector.operands, total: opened}))))
    for call in app.executions("mul"):
        assert call.request is not None
        lengths = [each.location.length for each in call.request.inputs if each.location.length]
        checks.equal(set(lengths), {_BYTES}, "lengths of matrices that the second driver reads")


_CASES = {
    "kinds_of_arguments": (_kinds_of_arguments, "FW-MEM-013"),
    "kind_of_pixels": (_kind_of_pixels, "FW-MEM-013"),
    "kinds_of_constants": (_kinds_of_constants, "FW-MEM-013"),
    "description_of_blob": (_description_of_blob, "FW-MEM-013"),
    "padding": (_padding, "FW-EXE-007"),
    "lengths_in_parts": (_lengths_in_parts, "FW-PRT-006"),
}
"""Of each HAL: what is judged, and what it is evidence for beside FW-VER-001."""


_OF_AIDL = ("description_of_blob", "lengths_in_parts")
"""HIDL describes no hardware buffer, and lets a location be longer than its value (NNHAL-REQUEST-012)."""


def _declare(hal: Version) -> None:
    word = hal.value if hal.is_aidl else f"v{hal.value.replace('.', '_')}"
    for name, (judge, requirement) in _CASES.items():
        if name in _OF_AIDL and not hal.is_aidl:
            continue
        header = cases.case(f"{word}.{name}", "FW-VER-001", requirement, since=max(hal, Version.FL5))
        header(_of_hal(judge, hal))


def _of_hal(judge: Callable[[CaseContext, Version], None], hal: Version) -> Callable[[CaseContext], None]:
    def run(context: CaseContext) -> None:
        judge(context, hal)

    run.__doc__ = judge.__doc__
    return run


for _hal in _HALS:
    _declare(_hal)


@cases.case("burst.names", "FW-EXE-016", "FW-GEN-001")
def names_in_burst(context: CaseContext) -> None:
    """In a burst of AIDL memory has a name, or -1: two memories never have the same one."""
    app = ScriptedApp(context, driver("one", exec_time=FAST))
    compiled = app.compiled(add(), "one")
    burst = app.made("burst_create", compiled.handle, True)
    for _ in range(3):
        execution = _execution(app, compiled, _object(app, "mmap_fd", bytes(_BYTES)))
        app.succeed("execution_burst_compute", execution, burst)
    by_burst = [call for call in app.executions("one") if call.memory_tokens]
    if not by_burst:
        raise NotApplicable("the runtime computes bursts by other calls")
    known: dict[int, Memory | None] = {}
    for call in by_burst:
        assert call.request is not None
        checks.equal(len(call.memory_tokens), len(call.request.pools), "names of the pools of a request")
        for token, pool in zip(call.memory_tokens, call.request.pools, strict=True):
            if token != -1:
                checks.equal(pool.pool, known.setdefault(token, pool.pool), f"memory that is called {token}")
