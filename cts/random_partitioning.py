"""Random models over random drivers: whoever computes which part, the results are those of the oracles.

Models have up to a hundred operations of twelve patterns on squares of up to 8 by 8, drivers support some of the
patterns. Everything follows from the seed, which is the number in the id.
"""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.cts.lib.runtime.fixture import CPU
from npu_conformance.cts.lib.runtime.nets import Net
from npu_conformance.cts.lib.runtime.random_nets import RandomNet, random_drivers, supported
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.seeded import seeded
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript

AREA = "cts.random_partitioning"
SEEDS = 160
_IN_SMOKE = 10
_WAYS = ("compute", "asynchronous", "burst", "fenced")
_REQUIREMENTS = ("FW-PRT-006", "FW-PRT-001", "FW-PRT-013", "FW-PRT-015", "FW-MDL-027")


def cases() -> Iterator[Case]:
    """One case for each seed."""
    return seeded(AREA, SEEDS, _run, _REQUIREMENTS, in_smoke=_IN_SMOKE)


def _run(context: CaseContext, seed: int) -> None:
    """Compile by default, and every third seed for all devices by name; execute by one of the ways.

    Every fourth seed also asks what each driver supports, and what all do, in the order of the app. Without fallback,
    and with fences, only models whose sizes are known have to work (FW-PRT-015, FW-EXE-022).
    """
    scripts, net = random_drivers(seed), RandomNet(seed).net()
    app = ScriptedApp(context, *scripts)
    if seed % 4 == 0 and not net.is_open:
        _judge_support(app, net, scripts)
    is_named = seed % 3 == 0 and not net.is_open
    compiled = app.compiled(net, *((*(script.name for script in scripts), CPU) if is_named else ()))
    app.computes_rightly(compiled, "compute" if net.is_open else _WAYS[seed % len(_WAYS)])


def _judge_support(app: ScriptedApp, net: Net, scripts: tuple[DriverScript, ...]) -> None:
    model = app.model(net)
    answers = [supported(script, net) for script in scripts]
    for script, expected in zip(scripts, answers, strict=True):
        checks.equal(app.supported(model, script.name), expected, f"operations that {script.name} supports")
    found = app.supported(model, *(script.name for script in scripts))
    checks.equal(found, tuple(map(any, zip(*answers, strict=True))), "operations that some driver supports")
