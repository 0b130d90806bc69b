"""Bursts that stay open, and the names by which they know memory."""

from __future__ import annotations

import random

from npu_conformance.harness.run.executing.burst import open_burst
from npu_conformance.specs.neuralnetworks.types import NO_IDENTITY
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.histories.alike import ending_at_once
from npu_conformance.vts.lib.histories.history import History
from npu_conformance.vts.lib.histories.things import Ask, Living, OpenBurst

_NAMES = (0, 1, 2, 5, 255, 256, 257, 512, 65_536, 2**31 - 2)
"""By which bursts know memory; many of them agree in their lowest bits."""
_LONG_NAMES = tuple(2**32 + name for name in _NAMES)
"""Those that AIDL has beside them."""


def begin(history: History, chance: random.Random) -> None:
    """A model has one burst at a time, which is all that some devices have."""
    free = [one for one in history.models if all(one is not burst.living for burst in history.bursts)]
    if not free or history.version < Version.V1_2:
        return
    living = chance.choice(free)
    burst = open_burst(history.context, living.prepared_model)
    if burst is None:
        return
    history.bursts.append(OpenBurst(living, burst, _drawn_names(history, chance)))
    history.say(f"open a burst of {living}")


def _drawn_names(history: History, chance: random.Random) -> list[int]:
    """One name more than there are pools; in AIDL, whose tokens have 64 bits, those of buffers are like others."""
    names = list(_NAMES)
    if history.version.is_aidl:
        tokens = {one.made.token for one in history.buffers}
        names = [*tokens, *chance.sample([*_NAMES, *_LONG_NAMES], len(_NAMES))]
    return chance.sample(sorted(set(names)), len(history.memories.pools) + 1)


def named(burst: OpenBurst, asked: Ask, chance: random.Random, *, may_hide: bool) -> list[int]:
    """Names of a request's pools; a name means its pool until it is released."""
    names = []
    for entry in asked.entries:
        if not isinstance(entry, int) or (may_hide and chance.random() < 0.1):
            names.append(NO_IDENTITY)
            continue
        if entry not in burst.names:
            burst.names[entry] = chance.choice([name for name in burst.free if name not in burst.names.values()])
        names.append(burst.names[entry])
    return names


def ways(history: History, *models: Living, finding_shapes: bool = False) -> list[str]:
    """The executors that end at once: with no second burst of these models, nor after executions that wait."""
    has_burst = any(burst.living is one for burst in history.bursts for one in models)
    return ending_at_once(
        history.version, is_waiting=bool(history.pending), has_burst=has_burst, finding_shapes=finding_shapes
    )
