"""What happens in a history of the scheduling HAL: the steps, those to begin with, and fresh ones."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.histories import TIME, Histories, encoded, orders
from npu_conformance.fuzz.lib.json_edits import Grammar

APPS = (10_201, 10_202, 10_203, 10_204)
"""The uids of the apps; a step names them by their number."""
RECORDERS = 2
_NUMBERS = (0, 0, 0, 0, 1, 1, 2, 3)
"""Of apps, so that steps often meet: what happens to one app matters most to itself."""
_INT32 = range(-(1 << 31), 1 << 31)
_SOMEBODY = 42
_UIDS = (*APPS, _SOMEBODY, 0, 1000, -1, -2, 2**31 - 1)
_PRIORITIES = (0, 1, 100, 400, 500, 999, 1000, 1001, -1)
_TIMES = (1, 5, 9, 10, 11, 20, 39, 40, 41, 49, 50, 51, 60, 100, 150, 400, 449, 450, 451, 1000)
_LONGEST_MS = 2000
_LONG_MS = 256
"""Any time below it may matter: a debounce, a time to give up the device."""


class Entry(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A config. least, most: bounds of its own, which only the public page's profile has."""

    uid: int
    priority: int
    direct: bool = True
    attribute: bool = False
    least: int = 0
    most: int = 1000


class Configure(msgspec.Struct, tag_field="do", tag="configure", forbid_unknown_fields=True, omit_defaults=True):
    """The configs are replaced, or updated."""

    configs: list[Entry]
    update: bool = False


class Register(msgspec.Struct, tag_field="do", tag="register", forbid_unknown_fields=True, omit_defaults=True):
    """A callback is registered; a negative recorder takes it away. app: whose process has it, none for the harness.

    debounce: in ms, where the profile has it.
    """

    recorder: int = 0
    app: int | None = None
    debounce: int | None = None


class Submit(msgspec.Struct, tag_field="do", tag="run", forbid_unknown_fields=True, omit_defaults=True):
    """An app runs inferences. original: whose they are; group: 16 bytes of this value."""

    app: int = 0
    job: int = 500
    original: int = -1
    device: int | None = None
    group: int | None = None
    feature: str | None = None


class Cancel(msgspec.Struct, tag_field="do", tag="cancel", forbid_unknown_fields=True, omit_defaults=True):
    """An app cancels what it runs."""

    app: int = 0


class Take(msgspec.Struct, tag_field="do", tag="cancel_work", forbid_unknown_fields=True, omit_defaults=True):
    """The system ends the work of a uid."""

    uid: int


class Break(msgspec.Struct, tag_field="do", tag="fail_work", forbid_unknown_fields=True, omit_defaults=True):
    """The hardware fails under the work of a uid."""

    uid: int


class Pass(msgspec.Struct, tag_field="do", tag="pass", forbid_unknown_fields=True, omit_defaults=True):
    """Time passes."""

    ms: int


class Die(msgspec.Struct, tag_field="do", tag="die", forbid_unknown_fields=True, omit_defaults=True):
    """The process of an app dies, with a callback that it has registered, and starts again."""

    app: int = 0


Step = Configure | Register | Submit | Cancel | Take | Break | Pass | Die


def is_sendable(step: Step) -> bool:
    """True where every number fits the types of the AIDL file, and a span of time is one."""
    match step:
        case Configure(configs):
            numbers = [number for each in configs for number in (each.uid, each.priority, each.least, each.most)]
        case Submit(_, job, original, device, group):
            numbers = [job, original, device or 0]
            return all(number in _INT32 for number in numbers) and (group or 0) in range(256)
        case Register(debounce=debounce):
            return (debounce or 0) in range(_LONGEST_MS)
        case Take(uid) | Break(uid):
            numbers = [uid]
        case Pass(ms):
            return ms in range(_LONGEST_MS + 1)
        case _:
            return True
    return all(number in _INT32 for number in numbers)


def _fresh(choices: Choices) -> Step:
    kind, app = choices.below(16), choices.pick(_NUMBERS)
    if kind < 5:
        return _submission(choices, app)
    if kind < 9:
        return Pass(choices.pick((*_TIMES, choices.below(_LONG_MS))))
    if kind < 11:
        entries = [_entry(choices) for _ in range(choices.below(3))]
        return Configure(entries, choices.below(2) == 1)
    if kind == 11:
        owner = choices.pick((None, None, app))
        return Register(
            choices.pick((0, 1, 0, -1)), owner, choices.pick((None, None, 0, *_TIMES, choices.below(_LONG_MS)))
        )
    if kind == 12:
        return Cancel(app)
    return (Take(APPS[app]), Break(APPS[app]), Die(app))[kind - 13]


def _submission(choices: Choices, app: int) -> Submit:
    return Submit(
        app,
        choices.pick((500, 500, 0, 1000, 1001, -1)),
        choices.pick((-1, -1, -1, APPS[app], _SOMEBODY, APPS[0], -2)),
        choices.pick((None, None, 0, 1, 2, -1)),
        choices.pick((None, None, 7)),
        choices.pick((None, None, "night")),
    )


def _entry(choices: Choices) -> Entry:
    return Entry(
        choices.pick((*(APPS[number] for number in _NUMBERS), _SOMEBODY)),
        choices.pick((100, 400, 1000, 0, 1001, -1)),
        choices.below(4) != 3,
        choices.below(2) == 1,
    )


_INTEGERS = {
    "uid": _UIDS,
    "original": (-1, *_UIDS),
    "priority": _PRIORITIES,
    "job": _PRIORITIES,
    "ms": _TIMES,
    "app": (0, 1, 2, 3),
    "recorder": (-1, 0, 1),
}
_TEMPLATES = {
    "device": (None, 0, 1, 2, 3, -1),
    "group": (None, 0, 7, 255),
    "feature": (None, "", "night", "\u2028"),
    "debounce": (None, 0, 5, 50, 51, 200, 1000),
    "least": (0, 300, -1),
    "most": (1000, 400, 1001),
}
NAMES = {"app": "app", "uid": "uid", "original": "uid", "ms": TIME, "debounce": TIME}
histories: Histories[Step] = Histories(
    msgspec.json.Decoder(list[Step]),
    _fresh,
    Grammar(integers=_INTEGERS, templates=_TEMPLATES),
    names=NAMES,
)

_RANKED = Configure([Entry(APPS[0], 100), Entry(APPS[1], 400), Entry(APPS[2], 1000, attribute=True)])
_BARRED = Configure([Entry(APPS[0], 100, direct=False)], update=True)
_EVENTS: Sequence[Sequence[Step]] = [[Submit(0)], [Pass(20)], [Cancel(0)], [Take(APPS[0])], [Break(APPS[0])], [Die(0)]]
SEEDS = tuple(
    encoded(steps)
    for steps in (
        [Submit(0)],
        [_RANKED, Submit(0), Pass(20), Submit(1, 0)],
        [_RANKED, Submit(1), Pass(105), Submit(0), Pass(400), Cancel(1)],
        [Submit(0), Pass(400), Pass(30), Submit(0), Pass(460), Submit(0)],
        [_RANKED, Submit(2, original=APPS[0]), Pass(20), Submit(0), Pass(30), Configure([Entry(APPS[0], 900)], True)],
        [Configure([Entry(APPS[0], 5, direct=False), Entry(APPS[3], 7)]), Submit(0), Submit(3), Submit(3, original=42)],
        [_RANKED, Submit(0), Pass(15), _BARRED, Submit(0), Pass(15), _RANKED, Submit(0)],
        [Submit(0), Pass(15), Cancel(0), Submit(1), Pass(15), Take(APPS[1]), Submit(2), Pass(15), Break(APPS[2])],
        [Submit(0), Pass(20), Register(1), Pass(500), Submit(0), Register(-1), Pass(20), Register(0)],
        [Register(1, app=3), Submit(0), Pass(20), Die(3), Submit(1), Pass(20), Register(0)],
        [Submit(0), Submit(1), Pass(20), Die(0), Submit(0), Pass(1000), Submit(0)],
        [Configure([Entry(APPS[0], 1001)]), Configure([Entry(APPS[0], 1), Entry(APPS[0], 2)], True), Submit(0)],
        [Submit(0, device=0), Submit(1, device=1), Submit(2, device=9), Submit(3, group=7, feature="night")],
    )
) + tuple(encoded(steps) for steps in orders([], _EVENTS, [Submit(0)]))
