"""Drivers that die again and again, in random calls, and are back at once: each life is like the first."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator

from npu_conformance.cts.lib.runtime.nets import add
from npu_conformance.cts.lib.runtime.scripted_app import Compiled, ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.runtime.control import Misbehaviour
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

_AREA = "cts.failing_drivers.lives"
_SEEDS = 8
_EPISODES = 6
_DEVICE, _PREPARED_MODEL = (("get_supported_operations", 12), ("prepare_model", 8)), (("execute", 10),)
"""Methods in which drivers die, with how many calls may be reached. One driver dies in those of one of the two: a call
that finds a process dead, and the next one dying, may fail."""
_HALS = (Version.V1_0, Version.V1_2, Version.V1_3, Version.FL8)
_DEAD = (ResultCode.DEAD_OBJECT, ResultCode.OP_FAILED)
"""Before feature level 5 a death in an execution is no code of its own."""


def cases() -> Iterator[Case]:
    """One case for each seed."""
    for seed in range(_SEEDS):
        yield Case(
            f"{_AREA}.seed_{seed}",
            functools.partial(_run, seed=seed),
            ("FW-VER-003", "FW-VER-006", "FW-PRT-007"),
            f"The deaths of seed {seed}: a device is asked again, a prepared model is not used again.",
            "runtime",
            since=Version.V1_2,
        )


def _run(context: CaseContext, seed: int) -> None:
    """Ask, compile and compute, several times."""
    chance = random.Random(seed)
    methods = _DEVICE if seed % 2 == 0 else _PREPARED_MODEL
    deaths = tuple(
        Misbehaviour(method, "dies", first=number, count=1)
        for method, most in methods
        for number in _numbers(chance, most)
    )
    hal = _HALS[seed // 2 % len(_HALS)]
    app = ScriptedApp(context, driver("mortal", hal=hal, exec_time=FAST, restarts=True, misbehaviours=deaths))
    net = add()
    model = app.model(net)
    for _ in range(_EPISODES):
        for _ in range(chance.randrange(3)):
            checks.equal(app.supported(model, "mortal"), (True,), "operations that the driver supports")
        compiled = app.compile(net, "mortal", model=model)
        app.expect("compilation_finish", compiled.result)
        _compute(app, compiled, chance.randrange(4), may_die=methods is _PREPARED_MODEL)


def _numbers(chance: random.Random, most: int) -> list[int]:
    """Which calls end a life. No two in a row: a second death is not forgiven (FW-VER-003)."""
    numbers = []
    last = 0
    while (last := last + chance.randint(2, 4)) <= most:
        numbers.append(last)
    return numbers


def _compute(app: ScriptedApp, compiled: Compiled, times: int, *, may_die: bool) -> None:
    """Compute until the driver dies; from then on the compilation is of no use."""
    is_dead = False
    for _ in range(times):
        computed = app.compute_net(compiled)
        is_dead = is_dead or (may_die and computed.result != ResultCode.NO_ERROR)
        if is_dead:
            app.expect("execution_compute", computed.result, *_DEAD)
        else:
            app.expect("execution_compute", computed.result)
            app.judge(compiled.net, computed.outputs, compiled.net.expected())
