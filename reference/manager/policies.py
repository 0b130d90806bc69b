"""The loading policies: who may load, who waits for whom, and who has to unload.

A policy changes the states of requests and hands each decision to `decide` at once, in the order in which clients are
to hear of them: what is taken from some comes before what is given to another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from npu_conformance.reference.manager.decisions import Decide, Decision, Kind
from npu_conformance.reference.manager.pressure import Pressure
from npu_conformance.reference.manager.requests import Request, State, Uid
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.types import ModelSize, Policy, PolicyParameters, UnloadReason

DEFAULT_WEIGHTS: Mapping[int, int] = {
    ModelSize.LESS_THAN_1GB: 1,
    ModelSize.BETWEEN_1GB_AND_2GB: 2,
    ModelSize.GREATER_THAN_2G: 4,
}


class LoadingPolicy:
    """What the service asks of a policy. used and ceiling: of the budget, 0 where a policy has none."""

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
        """A new request, which gets its first decision."""
        raise NotImplementedError

    def loaded(self, request: Request) -> None:
        """The client says that the model is in memory; once is enough (NPU-LIF-015)."""
        if request.state is not State.LOADED:
            request.state = State.LOADED
            self.decide(Decision(Kind.LOADED, request, "after its grant"))

    def released(self, requests: Iterable[Request]) -> None:
        """Requests have ended and are out of the table: what they held is free."""
        for request in requests:
            request.state = State.ENDED

    def rank_changes(self, uid: Uid) -> None:
        """The rank of a uid is about to change."""

    def rank_changed(self, uid: Uid, reason: UnloadReason) -> None:
        """The rank of a uid has changed, after `rank_changes`."""

    def turn_ended(self, uid: Uid) -> None:
        """A uid has completed work, and its rank has changed with that, after `rank_changes`."""

    def press(self, pressure: Pressure) -> None:
        """The pressure has changed, and with it what is left of the budget."""


class StatusQuo(LoadingPolicy):
    """Grants everything at once and never asks for an unload: there is no budget to keep (NPU-POL-003)."""

    number, name = Policy.STATUS_QUO, "statusquo"

    def requested(self, request: Request) -> None:
        """Grant it."""
        request.state = State.GRANTED
        self.decide(Decision(Kind.GRANT, request, "status quo grants everything"))


def make(policy: int, parameters: PolicyParameters | None, decide: Decide) -> LoadingPolicy:
    """Make a policy. IllegalArgument: unknown number; under budget a maximum or weight that is not positive."""
    from npu_conformance.reference.manager.budget import Budget, TurnTaking

    if policy == Policy.STATUS_QUO:
        return StatusQuo(decide)
    if policy == Policy.TURN_TAKING:
        return TurnTaking(decide)
    if policy == Policy.BUDGET:
        return Budget(decide, *budget_of(parameters or PolicyParameters()))
    raise IllegalArgument(f"unknown policy {policy}")


def budget_of(parameters: PolicyParameters) -> tuple[dict[int, int], int]:
    """The weights by size class, and the maximum (NPU-POL-005 to -009)."""
    weights = dict(DEFAULT_WEIGHTS)
    for name, weight in parameters.model_size_weights.items():
        if weight <= 0:
            raise IllegalArgument(f"weight {weight} of size class {name} is not positive")
    weights |= {size: parameters.model_size_weights.get(str(int(size)), weight) for size, weight in weights.items()}
    maximum = weights[ModelSize.GREATER_THAN_2G] if parameters.max_budget is None else parameters.max_budget
    if maximum <= 0:
        raise IllegalArgument(f"maximum {maximum} is not positive")
    return weights, maximum
