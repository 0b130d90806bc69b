"""What a preparation or an execution says beside its model or request: nothing of it changes what comes out."""

from __future__ import annotations

import random
from typing import Protocol, TypedDict

from msgspec.structs import replace

from npu_conformance.harness.run.executing.execution import ExecutionOptions
from npu_conformance.specs.neuralnetworks.enums import MAXIMUM_LOOP_TIMEOUT_DURATION_NS
from npu_conformance.specs.neuralnetworks.types import (
    NO_DURATION,
    NO_LOOP_TIMEOUT,
    ExtensionNameAndPrefix,
    TokenValuePair,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.deadlines import MILLISECOND, UNLIMITED, deadline
from npu_conformance.vts.lib.limits import HINTED

_DURATIONS = (NO_DURATION, 3600 * 1000 * MILLISECOND, 2**63 - 1)


class Beside(TypedDict, total=False):
    """What a preparation says in a config."""

    with_config: bool
    hints: tuple[TokenValuePair, ...]
    extensions: tuple[ExtensionNameAndPrefix, ...]


def drawn_beside(version: Version, chance: random.Random) -> Beside:
    """Mostly nothing more; or a config, with or without hints that nobody knows, since feature level 8."""
    if version < Version.FL8 or chance.random() < 0.6:
        return {}
    return {
        "with_config": True,
        **({"hints": HINTED.hints, "extensions": HINTED.extensions} if chance.random() < 0.7 else {}),
    }


class MayLoop(Protocol):
    """A model that may have loops, whose timeout counts."""

    @property
    def has_loops(self) -> bool:
        """True where it has."""
        ...


def drawn_options(version: Version, model: MayLoop, chance: random.Random) -> ExecutionOptions:
    """Times now and then; limits that are none or far away, a loop timeout of 1 ns without a loop, hints of nobody."""
    measure = chance.random() < 0.3
    if version < Version.V1_3 or chance.random() < 0.6:
        return ExecutionOptions(measure)
    timeouts = (NO_LOOP_TIMEOUT, MAXIMUM_LOOP_TIMEOUT_DURATION_NS, 1)
    return replace(
        HINTED if chance.random() < 0.4 else ExecutionOptions(),
        measure=measure,
        loop_timeout=chance.choice(timeouts[:2] if model.has_loops else timeouts),
        deadline=deadline(chance.choice(UNLIMITED), version),
        duration=chance.choice(_DURATIONS),
    )
