"""IF and WHILE of known sizes whose inner graphs leave some open: somebody computes them, whoever is named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product

from npu_conformance.cts.lib.runtime.control_flow_nets import flow_in_branch, if_net, opened_inside, while_net
from npu_conformance.cts.lib.runtime.net_app import Compiled
from npu_conformance.cts.lib.runtime.nets import Net
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import ADDS, MULTIPLIES
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.runtime.devices import CPU
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.partitioning.open_sizes", interface="runtime", since=Version.V1_3)

_NETS: Mapping[str, Callable[[], Net]] = {
    "if": lambda: if_net(("ADD", "MUL"), ("MUL", "ADD")),
    "while": lambda: while_net(("ADD", "MUL")),
}
_GRAPHS = {"if": ("then", "else"), "while": ("condition", "body")}


def _declare(kind: str, number: int, side: str) -> None:
    @cases.case(f"{kind}.{_GRAPHS[kind][number]}.{side}", "FW-PRT-006", "FW-PRT-015")
    def open_inside(context: CaseContext) -> None:
        """Named drivers and the CPU compute it as the CPU alone does; so they do where it is in a branch itself."""
        net = opened_inside(_NETS[kind](), number, side)
        for name, made in (("main", net), ("branch", flow_in_branch(net))):
            with context.configuration(name):
                app = ScriptedApp(context, ADDS, MULTIPLIES)
                compiled = app.compiled(made, "adds", "multiplies", CPU)
                for first in (1, 0):
                    _computes(app, compiled, first)
                app.close()


def _computes(app: ScriptedApp, compiled: Compiled, first: int) -> None:
    """Compute, which has to succeed. first: the value of the first input, a condition or a counter."""
    import numpy

    net, name = compiled.net, compiled.net.vector.inputs[0]
    inputs = {**net.inputs, name: numpy.full_like(net.inputs[name], first)}
    computed = app.compute_net(compiled, inputs)
    app.expect("execution_compute", computed.result)
    app.judge(net, computed.outputs, net.expected_of(inputs))


for _kind, _number, _side in product(_NETS, (0, 1), ("inputs", "outputs")):
    if (_kind, _number, _side) != ("while", 0, "outputs"):  # the truth of a condition has one element
        _declare(_kind, _number, _side)
