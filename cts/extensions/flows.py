"""IF and WHILE around operations of an extension: the driver that has it computes them, whole or in parts."""

from __future__ import annotations

import struct

from msgspec.structs import replace

from npu_conformance.cts.lib.runtime.fixture import CPU
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, both, driver
from npu_conformance.cts.lib.runtime.vendor import ELEMENTS, FIBONACCI, PREFIX_BITS, VALUES, lists
from npu_conformance.cts.lib.runtime.vendor_flows import FLOWS, Flow
from npu_conformance.cts.lib.runtime.ways import compute, ways
from npu_conformance.harness.judge import checks
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperationType
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript, SupportedOperation
from npu_conformance.specs.neuralnetworks.runtime.result_codes import MAXIMUM_LOOP_TIMEOUT_NS
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.extensions.flows", interface="runtime", since=Version.V1_3)

_FLOATS = tuple(float(number) for number in range(3, 3 + ELEMENTS))


def _coded(*codes: int) -> tuple[SupportedOperation, ...]:
    """Operations of the extension, whichever prefix the process has given it."""
    return tuple(SupportedOperation(prefix << PREFIX_BITS | code) for prefix in range(1, 9) for code in codes)


def _drivers() -> dict[str, tuple[tuple[DriverScript, ...], tuple[str, ...]]]:
    """Drivers that share a model in other ways, and the devices that the app names; none where it names none."""
    inside = (OperationType.IF, OperationType.WHILE, OperationType.ADD, OperationType.LESS)
    whole = lists("one", if_performance=both(FAST), while_performance=both(FAST))
    flow = replace(whole, operations=(*_coded(0, 1), *(SupportedOperation(int(one)) for one in inside)))
    parts = lists("one", operations=_coded(0, 1))
    two = lists("counts", operations=_coded(0)), lists("reads", operations=_coded(1))
    return {
        "whole": ((whole,), ()),
        "whole_named": ((whole,), ("one",)),
        "flow": ((flow, driver("other", "SUB")), ("one", "other")),
        "parts": ((parts,), ()),
        "parts_named": ((parts,), ("one", CPU)),
        "two": (two, ()),
        "two_named": (two, ("counts", "reads", CPU)),
    }


def _declare(name: str, flow: Flow) -> None:
    @cases.case(name, "FW-EXT-011", "FW-EXT-005", "FW-PRT-006")
    def computes(context: CaseContext) -> None:
        """Values of the extension pass the borders of inner graphs, by every way, whoever has which part."""
        for who, (scripts, devices) in _drivers().items():
            with context.configuration(who):
                app = ScriptedApp(context, *scripts)
                compilation = app.compilation(flow.make(app), app.named(*devices) if devices else ())
                app.succeed("compilation_finish", compilation)
                for way in ways(app.level):
                    for first in flow.results:
                        _judge(app, compilation, flow, way, first)
                for model in (model for name in app.driver_names for model in app.prepared(name)):
                    _judge_names(model)
                app.close()


def _judge_names(model: Model) -> None:
    """A model names the extensions that any of its graphs uses, and no others."""
    graphs = (model.main, *model.referenced)
    codes = [operand.type for graph in graphs for operand in graph.operands]
    codes += [operation.type for graph in graphs for operation in graph.operations]
    used = {code >> PREFIX_BITS for code in codes if code >> PREFIX_BITS}
    found = {entry.prefix: entry.name for entry in model.extension_name_to_prefix}
    checks.equal(found, dict.fromkeys(used, FIBONACCI), "extensions that a model names, by their prefixes")


def _judge(app: ScriptedApp, compilation: int, flow: Flow, way: str, first: int) -> None:
    """Compute with a value of the first input, and check the floats that come of it."""
    numbers, floats = flow.results[first]
    expected = tuple(numbers * value + floats * given for value, given in zip(VALUES, _FLOATS, strict=True))
    execution = app.execution(compilation)
    app.succeed("execution_set_loop_timeout", execution, MAXIMUM_LOOP_TIMEOUT_NS)
    for index, data in enumerate((struct.pack(flow.packed, first), struct.pack(f"<{ELEMENTS}f", *_FLOATS))):
        app.succeed("execution_set_input", execution, index, None, place(app.memory, data), len(data))
    output = place(app.memory, bytes(4 * ELEMENTS))
    app.succeed("execution_set_output", execution, 0, None, output, 4 * ELEMENTS)
    app.expect(f"execution ({way}) with {first}", compute(app, way, execution, compilation))
    found = struct.unpack(f"<{ELEMENTS}f", app.memory.read(output, 4 * ELEMENTS))
    checks.equal(found, expected, f"the floats ({way}) with {first}")


for _name, _flow in FLOWS.items():
    _declare(_name, _flow)
