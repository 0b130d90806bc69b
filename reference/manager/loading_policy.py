"""The interface of loading policies, which decide who may load, who waits for whom, and who has to unload.

A policy changes the states of requests and hands each decision to `decide` at once, in the order in which clients are
to receive them: what is taken from some comes before what is given to another.
"""

from __future__ import annotations

from collections.abc import Iterable

from npu_conformance.reference.manager.decisions import Decide, Decision, Kind
from npu_conformance.reference.manager.pressure import Pressure
from npu_conformance.reference.manager.requests import Request, State, Uid
from npu_conformance.specs.npu.types import Policy, UnloadReason


class LoadingPolicy:
    """A policy that grants nothing by itself. used and ceiling: of the budget, 0 where a policy has none."""

    number: Policy
    name: str
    maximum: int | None = None
    used = 0
    ceiling = 0

    def __init__(self, decide: Decide) -> None:
        self.decide = decide

    def check(self, size: int) -> None:
        """Raise IllegalArgument for a size class that the policy does not know."""

    def requested(self, request: Request) -> None:
        """Receive a new request, which gets its first decision."""
        raise NotImplementedError

    def loaded(self, request: Request) -> None:
        """Receive that a model is in memory; clients say so once (NPU-LIF-015)."""
        if request.state is not State.LOADED:
            request.state = State.LOADED
            self.decide(Decision(Kind.LOADED, request, "after its grant"))

    def released(self, requests: Iterable[Request]) -> None:
        """Receive requests that have ended and are out of the table: what they held is free."""
        for request in requests:
            request.state = State.ENDED

    def rank_changes(self, uid: Uid) -> None:
        """Receive that the rank of a uid is about to change."""

    def rank_changed(self, uid: Uid, reason: UnloadReason) -> None:
        """Receive that the rank of a uid has changed, after `rank_changes`."""

    def turn_ended(self, uid: Uid) -> None:
        """Receive that a uid has completed work, which has changed its rank, after `rank_changes`."""

    def set_pressure(self, pressure: Pressure) -> None:
        """Receive a change of the pressure, and so of what is left of the budget."""
