"""Faults in the status-quo policy and in replacing a policy."""

from __future__ import annotations

from npu_conformance.faults.npu_manager.boundary import Callback, Conforming, Listener
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.manager import ModelLoadStatusListener
from npu_conformance.specs.npu.types import LoadStatus, ModelLoadRequest, ModelPriority, Policy, PolicyParameters


class ParksUnderStatusQuo(Conforming):
    """Answers NOT_PRIORITIZED to a background request."""

    breaks = ("NPU-POL-003",)
    caught_by = "cts.npu_manager.policy.status_quo_gates_nothing"

    def decide(
        self, callback: Callback, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener
    ) -> None:
        parked = request.priority >= ModelPriority.BACKGROUND
        super().decide(callback, request, LoadStatus.NOT_PRIORITIZED if parked else status, listener)


class AsksToUnloadUnderStatusQuo(Conforming):
    """Asks for the unload of a model that was just reported as loaded."""

    breaks = ("NPU-POL-003",)
    caught_by = "cts.npu_manager.policy.status_quo_gates_nothing"

    def loaded(self, listener: Listener, request: ModelLoadRequest) -> None:
        super().loaded(listener, request)
        listener.callback.client.on_request_unload_model(request, None)


class AcceptsAnyPolicy(Conforming):
    """Takes every policy number for a known one."""

    breaks = ("NPU-POL-002",)
    caught_by = "cts.npu_manager.policy.unknown_policy"

    def set_policy(self, policy: int, parameters: PolicyParameters | None) -> None:
        if policy in tuple(Policy):
            super().set_policy(policy, parameters)


class AnUnknownPolicyEndsRequests(Conforming):
    """Refuses an unknown policy after it has thrown the old one away."""

    breaks = ("NPU-POL-002",)
    caught_by = "cts.npu_manager.policy.unknown_policy"

    def set_policy(self, policy: int, parameters: PolicyParameters | None) -> None:
        try:
            super().set_policy(policy, parameters)
        except IllegalArgument:
            super().set_policy(Policy.STATUS_QUO, None)
            raise


class KeepsRequestsAcrossPolicies(Conforming):
    """Does not replace a policy by the same one."""

    breaks = ("NPU-LIF-022",)
    caught_by = "cts.npu_manager.policy.replacement_ends_requests"

    def set_policy(self, policy: int, parameters: PolicyParameters | None) -> None:
        if policy != Policy.STATUS_QUO:
            super().set_policy(policy, parameters)
