"""Faults in the status-quo policy and in replacing a policy."""

from __future__ import annotations

from npu_conformance.faults.npu_manager.boundary import Callback, FaultyManager, Listener, manager_fault
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.manager import ModelLoadStatusListener
from npu_conformance.specs.npu.types import LoadStatus, ModelLoadRequest, ModelPriority, Policy, PolicyParameters


class _ParksUnderStatusQuo(FaultyManager):
    def on_can_load_model(
        self, callback: Callback, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener
    ) -> None:
        parked = request.priority >= ModelPriority.BACKGROUND
        super().on_can_load_model(callback, request, LoadStatus.NOT_PRIORITIZED if parked else status, listener)


class _AsksToUnloadUnderStatusQuo(FaultyManager):
    def notify_model_loaded(self, listener: Listener, request: ModelLoadRequest) -> None:
        super().notify_model_loaded(listener, request)
        listener.callback.inner.on_request_unload_model(request, None)


class _AcceptsAnyPolicy(FaultyManager):
    def set_policy(self, policy: int, parameters: PolicyParameters | None) -> None:
        if policy in tuple(Policy):
            super().set_policy(policy, parameters)


class _AnUnknownPolicyEndsRequests(FaultyManager):
    def set_policy(self, policy: int, parameters: PolicyParameters | None) -> None:
        try:
            super().set_policy(policy, parameters)
        except IllegalArgument:
            super().set_policy(Policy.STATUS_QUO, None)
            raise


class _KeepsRequestsAcrossPolicies(FaultyManager):
    def set_policy(self, policy: int, parameters: PolicyParameters | None) -> None:
        if policy != Policy.STATUS_QUO:
            super().set_policy(policy, parameters)


FAULTS = (
    manager_fault("parks-under-status-quo", "Answers NOT_PRIORITIZED to a background request.", "NPU-POL-003",
                  "policy.status_quo_gates_nothing", _ParksUnderStatusQuo),
    manager_fault("asks-to-unload-under-status-quo", "Asks for the unload of a model that was just reported as loaded.",
                  "NPU-POL-003", "policy.status_quo_gates_nothing", _AsksToUnloadUnderStatusQuo),
    manager_fault("accepts-any-policy", "Takes every policy number for a known one.", "NPU-POL-002",
                  "policy.unknown_policy", _AcceptsAnyPolicy),
    manager_fault("an-unknown-policy-ends-requests", "Refuses an unknown policy after it has thrown the old one away.",
                  "NPU-POL-002", "policy.unknown_policy", _AnUnknownPolicyEndsRequests),
    manager_fault("keeps-requests-across-policies", "Does not replace a policy by the same one.", "NPU-LIF-022",
                  "policy.replacement_ends_requests", _KeepsRequestsAcrossPolicies),
)  # fmt: skip
"""Faults in the status-quo policy."""
