"""Bursts that stay open, and the names by which they know memory."""

from __future__ import annotations

import random

from npu_conformance.harness.run.executing.burst import open_burst
from npu_conformance.harness.run.executing.execution import Execution, ExecutionOptions
from npu_conformance.specs.neuralnetworks.types import NO_IDENTITY, Request
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.histories.alike import ending_at_once
from npu_conformance.vts.lib.operation_histories.history import History
from npu_conformance.vts.lib.operation_histories.things import Ask, Living, OpenBurst

_NAMES = (0, 1, 2, 5, 255, 256, 65_536)
"""By which bursts know memory; some agree in their lowest bits."""


def ways(history: History, living: Living, *, finding_shapes: bool = False) -> list[str]:
    """The executors that end at once: with no second burst of a model, nor after executions that wait."""
    has_burst = burst_of(history, living) is not None
    return ending_at_once(
        history.version, is_waiting=bool(history.pending), has_burst=has_burst, finding_shapes=finding_shapes
    )


def burst_of(history: History, living: Living) -> OpenBurst | None:
    """The open burst of a model."""
    return next((one for one in history.bursts if one.living is living), None)


def begin(history: History, chance: random.Random) -> None:
    """Open a burst. A model has one at a time, which is all that some devices have."""
    free = [one for one in history.models if burst_of(history, one) is None]
    if not free or history.version < Version.V1_2:
        return
    living = chance.choice(free)
    burst = open_burst(history.context, living.prepared_model)
    if burst is None:
        return
    history.bursts.append(OpenBurst(living, burst))
    history.say(f"open a burst of {living}")


def execute(
    history: History, burst: OpenBurst, asked: Ask, request: Request, options: ExecutionOptions, chance: random.Random
) -> Execution:
    """Execute a request with the pools of what is asked for, under names that mean them until they are released."""
    with_config = history.version >= Version.FL8 and chance.random() < 0.3
    return burst.burst.execute(request, _named(history, burst, asked, chance), options, with_config=with_config)


def _named(history: History, burst: OpenBurst, asked: Ask, chance: random.Random) -> list[int]:
    names = []
    for entry in asked.entries:
        if not isinstance(entry, int) or (history.version.is_aidl and chance.random() < 0.1):
            names.append(NO_IDENTITY)
            continue
        if entry not in burst.names:
            burst.names[entry] = chance.choice([one for one in _NAMES if one not in burst.names.values()])
        names.append(burst.names[entry])
    return names
