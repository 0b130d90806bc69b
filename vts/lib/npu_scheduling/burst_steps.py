"""The steps of random scenarios in which one app works at a time, and what they choose from."""

from __future__ import annotations

import msgspec

from npu_conformance.specs.npu.types import ROOT_UID, SHELL_UID, SYSTEM_UID, EndReason, Uuid
from npu_conformance.specs.npu.workload import OWN_WORK
from npu_conformance.vts.lib.npu_scheduling.scenario import UIDS_OF_A_USER

PIDS = (6001, 6002)
DURATIONS_MS = (-1, 2, 20, 49, 51, 200, 255, 257, 1000, 4295, 10_100, 65_586)
"""Debounce times: the default, and those at which numbers of 8 and 16 bits, and 32 bits of microseconds, end."""
UIDS = (10_201, 10_202, 10_201 + UIDS_OF_A_USER, ROOT_UID, SYSTEM_UID, SHELL_UID, 10_201 + 2**16, 2**31 - 1)
"""Those with configs; the first six work as well."""
WORKERS = 6
LISTENER = (SYSTEM_UID, 6003)
"""uid and pid of the process that receives events and dies."""
PAUSES = ("half", "short", "short", "short", "over", "twice", "moment")
FEATURES = (None, "1", "gallery.search", "a" * 300, "búsqueda/搜索", "")
GROUPS = (None, Uuid(bytes(range(16))), Uuid(bytes(16)))
BOUNDS = ((-1, 0, 1000), (1001, 0, 1000), (-(2**31), 0, 1000), (2**31 - 1, 0, 1000))
OWN_BOUNDS = ((299, 300, 400), (401, 300, 400), (350, 400, 300), (5, -1, 1000), (5, 0, 1001), (5, 0, 0))
"""Priorities with their bounds, none of which a HAL takes (NPU-HAL-004, -036)."""
QUIET_DEEDS, DEEDS = 4, 7
"""How many things may happen during a run that do not end it; and with those that end the work of another uid."""
REFUSALS = len(BOUNDS) + len(OWN_BOUNDS) + 2
EARLY_ENDS = {1: EndReason.CANCELLED_USER, 2: EndReason.CANCELLED_SYSTEM, 3: EndReason.FAILED}


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that happens. app: place of the uid in UIDS; number: of a list, a priority or a debounce time.

    early: how the run ends before its time, 0 for not at all. meanwhile: what happens during a run, 0 for nothing.
    place: of what is wrong among other configs, or of another uid.
    """

    do: str
    app: int = 0
    number: int = 0
    original: int = OWN_WORK
    device: int = 0
    feature: int = 0
    group: int = 0
    process: int = 0
    early: int = 0
    meanwhile: int = 0
    place: int = 0
    direct: bool = True
    attribute: bool = False
    replace: bool = False
    again: bool = False

    def __str__(self) -> str:
        told = ", ".join(f"{name} {value}" for name, value in msgspec.to_builtins(self).items() if name != "do")
        return f"{_TEXTS[self.do]}: {told}"


_TEXTS = {
    "run": "an app runs inferences to their end",
    "pause": "a pause as long as the list says, against the debounce time",
    "config": "a config is set (replace) or updated",
    "refuse": "a call with configs that are wrong",
    "empty": "a call without configs",
    "register": "a callback is registered, a new one or the same again",
    "nowhere": "an app wants a device that does not exist",
    "remove": "the callback is removed, or its process dies (replace), an app works, and one is registered",
}
