"""What an execution of a history is asked for beside its request: nothing of it changes what comes out."""

from __future__ import annotations

import random

from msgspec.structs import replace

from npu_conformance.harness.run.executing.execution import NO_DURATION, NO_LOOP_TIMEOUT, ExecutionOptions
from npu_conformance.specs.neuralnetworks.enums import MAXIMUM_LOOP_TIMEOUT_DURATION_NS
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.deadlines import MILLISECOND, UNLIMITED, deadline
from npu_conformance.vts.lib.histories.recipes import Recipe
from npu_conformance.vts.lib.limits import HINTED

_DURATIONS = (NO_DURATION, 3600 * 1000 * MILLISECOND, 2**63 - 1)


def drawn_options(version: Version, recipe: Recipe, chance: random.Random) -> ExecutionOptions:
    """Times now and then; limits that are none or far away, a loop timeout of 1 ns without a loop, hints of nobody."""
    measure = chance.random() < 0.3
    if version < Version.V1_3 or chance.random() < 0.6:
        return ExecutionOptions(measure)
    timeouts = (NO_LOOP_TIMEOUT, MAXIMUM_LOOP_TIMEOUT_DURATION_NS, 1)
    return replace(
        HINTED if chance.random() < 0.4 else ExecutionOptions(),
        measure=measure,
        loop_timeout=chance.choice(timeouts if recipe.rounds is None else timeouts[:2]),
        deadline=deadline(chance.choice(UNLIMITED), version),
        duration=chance.choice(_DURATIONS),
    )
