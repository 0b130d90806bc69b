"""Makes the loading policies by their numbers: status quo, turn taking, and budget with its weights."""

from __future__ import annotations

from collections.abc import Mapping

from npu_conformance.reference.manager.budget import Budget, TurnTaking
from npu_conformance.reference.manager.decisions import Decide, Decision, Kind
from npu_conformance.reference.manager.loading_policy import LoadingPolicy
from npu_conformance.reference.manager.requests import Request, State
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.types import ModelSize, Policy, PolicyParameters

DEFAULT_WEIGHTS: Mapping[int, int] = {
    ModelSize.LESS_THAN_1GB: 1,
    ModelSize.BETWEEN_1GB_AND_2GB: 2,
    ModelSize.GREATER_THAN_2G: 4,
}


class StatusQuo(LoadingPolicy):
    """Grants everything at once and never asks for an unload: there is no budget to keep (NPU-POL-003)."""

    number, name = Policy.STATUS_QUO, "statusquo"

    def requested(self, request: Request) -> None:
        """Grant the request."""
        request.state = State.GRANTED
        self.decide(Decision(Kind.GRANT, request, "status quo grants everything"))


def make(policy: int, parameters: PolicyParameters | None, decide: Decide) -> LoadingPolicy:
    """Make a policy. Raises IllegalArgument for an unknown number, or a maximum or weight that is not positive."""
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
