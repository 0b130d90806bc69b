"""The decisions of policies: each names its request, what the client receives, and why."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import NamedTuple

from npu_conformance.reference.manager.requests import Request


class Kind(enum.Enum):
    """What was decided, or noted, about a request."""

    GRANT = "grant"
    WAIT = "wait for unload"
    PARK = "park"
    UNLOAD = "ask to unload"
    CANCEL = "cancel"
    COMPLETE = "complete"
    LOADED = "loaded"
    LOADED_UNGRANTED = "loaded without a grant"
    IGNORED = "unload request ignored"
    DROP = "drop"


class Decision(NamedTuple):
    """One decision. reason: UnloadReason of an unload request, else None. because: a few words for people."""

    kind: Kind
    request: Request
    because: str
    reason: int | None = None


class Record(NamedTuple):
    """A decision as the trace keeps it, in plain values: see Decision. used, ceiling: of the budget, afterwards."""

    time_ns: int
    kind: Kind
    uid: int
    id: int
    size: int
    because: str
    reason: int | None
    used: int
    ceiling: int


Decide = Callable[[Decision], None]
"""Takes a decision at the moment it falls, while the manager's lock is held."""
Watcher = Callable[[Record], None]
