"""Random models over random drivers that fail, die, or answer what cannot be right, in calls of chance.

A default compilation computes what the oracles find, whatever its drivers do (FW-PRT-009, FW-PRT-010). One for named
devices fails where a driver that it asked has failed, with its code, and nowhere else (FW-PRT-011). Neither remembers:
models are compiled again and again, computed in every way, over one burst and by one reusable execution. Everything
follows from the seed, which is the number in the id.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from msgspec.structs import replace

from npu_conformance.cts.lib.runtime.failing_by_chance import failing_by_chance, failing_for_good, failing_now_and_then
from npu_conformance.cts.lib.runtime.failing_runs import FailingRuns, Plan
from npu_conformance.cts.lib.runtime.random_flow_nets import FlowNet, flow_drivers
from npu_conformance.cts.lib.runtime.random_nets import RandomNet, random_drivers
from npu_conformance.cts.lib.runtime.seeded import seeded
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext

AREA = "cts.random_failures"
SEEDS = 26
_IN_SMOKE = 4
_FIRST = 1000
"""Behind the seeds of the other random models."""
_TIMES = (0.2, 0.4, 0.6, 0.8, 1.5)
_MOST_OPERATIONS, _DEEPEST, _SEEDS_OF_FLOW = 16, 2, 4
_REQUIREMENTS = (
    "FW-PRT-010", "FW-PRT-009", "FW-PRT-011", "FW-PRT-007", "FW-PRT-006", "FW-VER-008", "FW-VER-003", "FW-VER-006",
    "FW-CAC-003", "FW-EXE-003", "FW-EXE-015",
)  # fmt: skip


def cases() -> Iterator[Case]:
    """One case for each seed."""
    what = "model, the drivers and the failures"
    return seeded(AREA, SEEDS, _run, _REQUIREMENTS, in_smoke=_IN_SMOKE, what=what)


def _run(context: CaseContext, seed: int) -> None:
    """Every second seed names its devices, and two of three have a model with IF and WHILE.

    In half of the seeds drivers fail in executions alone, wherever these come in branches, rounds and conditions: now
    and then, or where no devices are named for good, so that the CPU has to take over all that comes then.
    """
    number, is_named = _FIRST + seed, seed % 2 == 1
    is_flow = seed % 4 in (1, 2) or seed % 8 < _SEEDS_OF_FLOW
    net = (
        FlowNet(number, _DEEPEST if is_named else 1).net()
        if is_flow
        else RandomNet(number, most=_MOST_OPERATIONS).net()
    )
    chance = random.Random(number)
    scripts = flow_drivers(number) if is_flow else random_drivers(number)
    times = chance.sample(_TIMES, len(scripts))  # of equal ones it is open which is chosen
    scripts = tuple(replace(script, exec_time=time) for script, time in zip(scripts, times, strict=True))
    plan = Plan(
        is_named=is_named,
        is_asynchronous=chance.randrange(4) == 0,
        has_cache=chance.randrange(3) == 0,
        is_reusable=chance.randrange(3) == 0,
    )
    fail = failing_by_chance if seed % 4 in (0, 3) else failing_now_and_then if is_named else failing_for_good
    FailingRuns(context, net, fail(scripts, number), plan, chance).run()
