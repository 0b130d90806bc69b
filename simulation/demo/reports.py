"""The messages to and from an app's process: its plan, commands and events, as lines of JSON."""

from __future__ import annotations

import enum

from npu_conformance.specs.documents import Document
from npu_conformance.specs.npu.types import ModelSize
from npu_conformance.specs.versions import Version

ASK, FINISH = b"ask\n", b"finish\n"
"""Commands: ask to load the model and work with it from then on; unload it and exit."""


class AppPlan(Document, frozen=True):
    """The model that an app uses, of a stored vector. ticket: None where the kernel says who the app is.

    first_request: the id that it begins with; processes of one uid share the ids. additions: where there are any, the
    model is a chain of so many. folder: of the files that the ticket lets it name, or None.
    """

    address: str
    ticket: str | None
    transports: tuple[str, ...]
    version: Version
    operation: str
    vector: str
    size: int = ModelSize.LESS_THAN_1GB
    first_request: int = 1
    additions: int = 0
    folder: str | None = None


class Kind(enum.Enum):
    """What happened to an app."""

    CONNECTED = "connected"
    MANAGER_LOST = "manager lost"
    ASKS = "asks"
    DECISION = "decision"
    LOADED = "loaded"
    INFERENCE = "inference"
    UNLOAD_ASKED = "unload asked"
    UNLOADED = "unloaded"
    COMPLETE = "complete"
    FAILED = "failed"
    ENDED = "ended"


class AppEvent(Document, frozen=True):
    """An event. time_ns: of CLOCK_MONOTONIC, when it was over; duration_ns: how long it took.

    request: the id. status: of a decision or a completion; the reason of an unload request. number: of an inference,
    from 1. message: what failed.
    """

    kind: Kind
    time_ns: int
    request: int = 0
    status: int | None = None
    number: int = 0
    duration_ns: int = 0
    message: str = ""
