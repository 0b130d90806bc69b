"""The records of uids, clients and requests, and the two ways to find a request: by its id, and by its client."""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable

import msgspec

from npu_conformance.specs.npu.manager import ModelLoadRequestCallback
from npu_conformance.specs.npu.types import ModelLoadRequest, ModelPriority
from npu_conformance.specs.plugin import Caller

MOST_REQUESTS = 1000
"""How many live requests a uid may have; a further one is an illegal state, so that no app can flood the table."""

_WEAKEST = 2**31
"""An urgency beyond every 32-bit priority."""


class State(enum.Enum):
    """The state of a live request (NPU-LIF-004, -009, -016)."""

    NEW = "new"
    PARKED = "not prioritized"
    WAITING = "waiting for unload"
    GRANTED = "granted"
    LOADED = "loaded"
    ASKED = "asked to unload"
    ENDED = "ended"


class Uid(msgspec.Struct, eq=False):
    """A uid as the policies see it. completed: the number of its newest completion of work among all, or 0."""

    number: int
    priority: int
    completed: int = 0
    requests: dict[int, Request] = msgspec.field(default_factory=dict)

    @property
    def rank(self) -> tuple[int, int]:
        """Its place in the order of strength: the priority, then the oldest completion (NPU-POL-017, -023)."""
        return self.priority, self.completed


class Client(msgspec.Struct, eq=False):
    """One connection of an app. alive: False once it has closed or its process was killed."""

    caller: Caller
    alive: bool = True
    requests: dict[int, Request] = msgspec.field(default_factory=dict)


class Request(msgspec.Struct, eq=False):
    """A request that was accepted.

    weight: of the budget. claim: budget set aside for it while it waits, of which `secured` is free already.
    freed_for: the request on whose behalf it was asked to unload. entry: its place in the policy's order.
    """

    uid: Uid
    client: Client
    model: ModelLoadRequest
    callback: ModelLoadRequestCallback
    arrival: int
    urgency: int
    weight: int = 0
    state: State = State.NEW
    claim: int = 0
    secured: int = 0
    freed_for: Request | None = None
    entry: Entry = (0, 0, 0, 0, None)

    def ranked(self) -> Entry:
        """Its place in the order of strength: the uid's rank, then its own priority, then arrival (NPU-POL-025)."""
        uid = self.uid
        return uid.priority, uid.completed, self.urgency, self.arrival, self

    def __str__(self) -> str:
        return f"request {self.model.id} of uid {self.uid.number}"


Entry = tuple[int, int, int, int, Request | None]
"""Arrivals differ, so that requests themselves are never compared."""


class Table:
    """All uids, clients and live requests. A request is known by the uid and the id (NPU-REQ-009).

    priority_of: the priority of a uid whose record is made. opportunistic: the number of that priority, which is the
    weakest whatever its number is (NPU-REQ-004).
    """

    def __init__(self, priority_of: Callable[[int], int], opportunistic: int = ModelPriority.OPPORTUNISTIC) -> None:
        self._priority_of = priority_of
        self._opportunistic = opportunistic
        self._uids: dict[int, Uid] = {}
        self._clients: dict[int, dict[Caller, Client]] = {}
        self._arrivals = itertools.count(1)
        self._completions = itertools.count(1)

    def uid(self, number: int) -> Uid:
        """The record of a uid, which is made where it is missing."""
        found = self._uids.get(number)
        if found is None:
            found = self._uids[number] = Uid(number, self._priority_of(number))
        return found

    def forget_uid(self, number: int) -> None:
        """Drop a uid without requests."""
        self._uids.pop(number, None)

    def client(self, caller: Caller) -> Client:
        """The record of a connection, which is made where it is missing."""
        same = self._clients.setdefault(caller.uid, {})
        found = same.get(caller)
        if found is None:
            found = same[caller] = Client(caller)
        return found

    def known_uid(self, number: int) -> Uid | None:
        """The record of a uid, or None."""
        return self._uids.get(number)

    def known_client(self, caller: Caller) -> Client | None:
        """The record of a connection, or None."""
        return self._clients.get(caller.uid, {}).get(caller)

    def clients_of(self, number: int, pid: int) -> list[Client]:
        """The clients of a uid, or only those of the process whose pid is given (not 0)."""
        same = self._clients.get(number, {}).values()
        return [client for client in same if pid in (0, client.caller.pid)]

    def find(self, number: int, identifier: int) -> Request | None:
        """The live request of a uid with this id."""
        uid = self._uids.get(number)
        return None if uid is None else uid.requests.get(identifier)

    def add(self, client: Client, model: ModelLoadRequest, callback: ModelLoadRequestCallback) -> Request:
        """Enter a request."""
        uid = self.uid(client.caller.uid)
        urgency = _WEAKEST if model.priority == self._opportunistic else max(0, model.priority)
        request = Request(uid, client, model, callback, next(self._arrivals), urgency)
        uid.requests[model.id] = client.requests[model.id] = request
        return request

    def remove(self, request: Request) -> None:
        """Take a request out."""
        del request.uid.requests[request.model.id], request.client.requests[request.model.id]

    def remove_client(self, client: Client) -> list[Request]:
        """Forget a dead client; return its requests."""
        client.alive = False
        same = self._clients.get(client.caller.uid, {})
        same.pop(client.caller, None)
        if not same:
            self._clients.pop(client.caller.uid, None)
        return list(client.requests.values())

    def mark_last_used(self, uid: Uid) -> None:
        """Note that a uid has completed work, later than all others."""
        uid.completed = next(self._completions)

    def live(self) -> list[Request]:
        """All live requests, uid by uid."""
        return [request for uid in self._uids.values() for request in uid.requests.values()]
