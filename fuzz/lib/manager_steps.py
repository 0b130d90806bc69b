"""What happens in a history of the NPU Manager: the steps, those to begin with, and fresh ones."""

from __future__ import annotations

import msgspec

from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.histories import Histories, encoded, orders
from npu_conformance.fuzz.lib.json_edits import Grammar
from npu_conformance.specs.npu.types import MAX_PRIORITY, EndReason, Importance, MemoryPressure, Policy, ThermalStatus

APPS = (10_201, 10_202, 10_203, 10_204)
"""The uids of the apps; a step names them by their number."""
_NUMBERS = (0, 0, 0, 1, 1, 2, 3)
_IDS = (1, 1, 2, 3)
_IMPORTANCES = (Importance.FOREGROUND, Importance.VISIBLE, Importance.CACHED)


class SetPolicy(msgspec.Struct, tag_field="do", tag="policy", forbid_unknown_fields=True, omit_defaults=True):
    """The policy is set. weights: by size class."""

    policy: int = Policy.BUDGET
    maximum: int | None = None
    weights: dict[str, int] = {}


class Ask(msgspec.Struct, tag_field="do", tag="ask", forbid_unknown_fields=True, omit_defaults=True):
    """An app asks to load a model. deaf: without a callback."""

    app: int = 0
    id: int = 1
    size: int = 2
    priority: int = 0
    deaf: bool = False


class Load(msgspec.Struct, tag_field="do", tag="load", forbid_unknown_fields=True, omit_defaults=True):
    """An app says that a model is in memory. by: which app says so, in place of the one that asked."""

    app: int = 0
    id: int = 1
    by: int | None = None


class Unload(msgspec.Struct, tag_field="do", tag="unload", forbid_unknown_fields=True, omit_defaults=True):
    """An app says that a model has left memory."""

    app: int = 0
    id: int = 1
    by: int | None = None


class Withdraw(msgspec.Struct, tag_field="do", tag="cancel", forbid_unknown_fields=True, omit_defaults=True):
    """An app cancels a request."""

    app: int = 0
    id: int = 1
    by: int | None = None


class Move(msgspec.Struct, tag_field="do", tag="move", forbid_unknown_fields=True, omit_defaults=True):
    """An app comes to the foreground, or leaves it."""

    app: int = 0
    importance: int = Importance.FOREGROUND


class Works(msgspec.Struct, tag_field="do", tag="work", forbid_unknown_fields=True, omit_defaults=True):
    """Work of an app ends."""

    app: int = 0
    reason: int = EndReason.COMPLETED


class Crash(msgspec.Struct, tag_field="do", tag="die", forbid_unknown_fields=True, omit_defaults=True):
    """The process of an app dies, and starts again."""

    app: int = 0


class Heat(msgspec.Struct, tag_field="do", tag="heat", forbid_unknown_fields=True, omit_defaults=True):
    """The device gets hot or cool."""

    level: int = ThermalStatus.NONE


class Shortage(msgspec.Struct, tag_field="do", tag="shortage", forbid_unknown_fields=True, omit_defaults=True):
    """The device gets short of memory, or has enough."""

    level: int = MemoryPressure.NONE


class Permit(msgspec.Struct, tag_field="do", tag="permit", forbid_unknown_fields=True, omit_defaults=True):
    """An app gets the manager's permission, or loses it."""

    app: int = 0
    granted: bool = False


class LoseHal(msgspec.Struct, tag_field="do", tag="hal", forbid_unknown_fields=True, omit_defaults=True):
    """The scheduling HAL below dies, and comes back empty."""


Step = SetPolicy | Ask | Load | Unload | Withdraw | Move | Works | Crash | Heat | Shortage | Permit | LoseHal


def is_sendable(step: Step) -> bool:
    """True where every number fits a 32-bit integer, and what only a test can arrange exists at all."""
    match step:
        case SetPolicy(policy, maximum, weights):
            return _are_int32(policy, maximum or 0, *weights.values())
        case Ask(_, identifier, size, priority):
            return _are_int32(identifier, size, priority)
        case Load(_, identifier) | Unload(_, identifier) | Withdraw(_, identifier):
            return _are_int32(identifier)
        case Move(_, importance):
            return 0 <= importance <= MAX_PRIORITY
        case Works(_, reason):
            return reason in tuple(EndReason) and reason != EndReason.PAUSED
        case Heat(level):
            return level in tuple(ThermalStatus)
        case Shortage(level):
            return level in tuple(MemoryPressure)
        case _:
            return True


def _are_int32(*numbers: int) -> bool:
    return all(-(1 << 31) <= number < 1 << 31 for number in numbers)


def _fresh(choices: Choices) -> Step:
    kind, app, identifier = choices.below(24), choices.pick(_NUMBERS), choices.pick(_IDS)
    if kind < 7:
        return Ask(app, identifier, choices.pick((2, 1, 0, 2, 1, 0, 3, -1)), choices.pick((0, 0, 100, 1000, 2000)))
    if kind < 11:
        return Load(app, identifier)
    if kind < 14:
        return Unload(app, identifier)
    if kind < 17:
        return Move(app, choices.pick(_IMPORTANCES))
    return _rarer(kind - 17, app, identifier, choices)


def _rarer(kind: int, app: int, identifier: int, choices: Choices) -> Step:
    if kind == 0:
        return Withdraw(app, identifier, choices.pick((None, None, (app + 1) % len(APPS))))
    if kind == 1:
        other = (app + 1) % len(APPS)
        return Load(app, identifier, other) if choices.below(2) else Unload(app, identifier, other)
    if kind == 2:
        return Works(app, choices.pick((EndReason.COMPLETED, EndReason.COMPLETED, EndReason.FAILED)))
    if kind == 3:
        return SetPolicy(choices.pick((2, 2, 1, 0, 3)), choices.pick((None, 4, 3, 8, 6, 0)))
    if kind == 4:
        pressures: tuple[Step, ...] = Heat(ThermalStatus.SEVERE), Shortage(MemoryPressure.LOW), Heat(), Shortage()
        return choices.pick(pressures)
    if kind == 5:
        return Crash(app)
    rarest: tuple[Step, ...] = Permit(app), Permit(app, True), LoseHal(), Ask(app, identifier, deaf=True)
    return choices.pick(rarest)


_INTEGERS = {
    "app": (0, 1, 2, 3),
    "id": (1, 2, 3, 0, -1, 2**31 - 1, -(2**31)),
    "size": (0, 1, 2, 3, -1),
    "priority": (0, 1, 100, 1000, 2000, -1),
    "policy": (0, 1, 2, 3, -1),
    "importance": (0, *_IMPORTANCES, 1000),
    "reason": tuple(EndReason),
    "level": (*ThermalStatus, *MemoryPressure),
}
_TEMPLATES = {
    "maximum": (None, 1, 2, 3, 4, 5, 8, 0, -1, 2**31 - 1),
    "weights": ({}, {"2": 2}, {"0": 3}, {"1": 0}, {"7": 1}, {"2": 6}, {"two": 5}, {"0": -1}),
    "by": (None, 0, 1, 2, 3),
}
NAMES = {"app": "app", "id": "id"}
histories: Histories[Step] = Histories(
    msgspec.json.Decoder(list[Step]),
    _fresh,
    Grammar(integers=_INTEGERS, templates=_TEMPLATES),
    names=NAMES,
)

_FORE, _BACK = Move(0, Importance.FOREGROUND), Move(1, Importance.CACHED)
SEEDS = tuple(
    encoded(steps)
    for steps in (
        [Ask(0), Load(0), Unload(0), Ask(1), Withdraw(1)],
        [SetPolicy(), _FORE, _BACK, Ask(1), Load(1), Ask(0), Unload(1), Load(0), Works(0)],
        [SetPolicy(), _FORE, _BACK, Ask(1), Ask(0), Ask(2), Move(2, Importance.VISIBLE), Withdraw(0)],
        [SetPolicy(1), Ask(0), Load(0), Ask(1), Works(0), Unload(0), Load(1), Works(1)],
        [SetPolicy(maximum=8), Ask(0), Load(0), Ask(1, 1, 1), Ask(1, 2, 0), Load(1, 1), Heat(3), Unload(0), Heat(0)],
        [SetPolicy(), Ask(0), Load(0), Ask(1), Crash(0), Load(1), Ask(0), Crash(1)],
        [SetPolicy(weights={"2": 2}, maximum=3), Ask(0), Ask(0, 2, 1), Ask(0, 3, 0), Ask(0, 1), Ask(1, 1, 3)],
        [SetPolicy(), Ask(0), Load(0), Withdraw(0, by=1), Load(0, by=1), Unload(0, by=1), Unload(0)],
        [SetPolicy(), Ask(0), Load(0), SetPolicy(1), Unload(0), Ask(0), SetPolicy(9), SetPolicy(2, 0), Load(0)],
        [SetPolicy(), _FORE, Ask(0), Permit(0), Unload(0), Ask(0, 2), Permit(0, True), LoseHal(), Move(0, 400)],
        [SetPolicy(), Ask(0), Ask(1), Load(1), Ask(0, 1), Shortage(10), Ask(2, deaf=True), Shortage(0)],
        *orders([SetPolicy(), Ask(0), Ask(1)], [[Ask(0, 2)], [Load(0)], [Unload(0)], [Withdraw(0)], [Works(0)]], []),
    )
)
