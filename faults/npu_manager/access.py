"""Faults in the permission check."""

from __future__ import annotations

from npu_conformance.faults.npu_manager.boundary import FaultyManager, manager_fault
from npu_conformance.specs.errors import SecurityDenied
from npu_conformance.specs.npu.manager import ModelLoadRequestCallback
from npu_conformance.specs.npu.types import PERMISSION, ModelLoadRequest, Policy, PolicyParameters


class _LetsAnyoneSetThePolicy(FaultyManager):
    def set_policy(self, policy: int, parameters: PolicyParameters | None) -> None:
        try:
            super().set_policy(policy, parameters)
        except SecurityDenied:
            return


class _RefusesThePolicyTooLate(FaultyManager):
    def set_policy(self, policy: int, parameters: PolicyParameters | None) -> None:
        try:
            super().set_policy(policy, parameters)
        except SecurityDenied:
            self.inner_control.grant_permission(self.uid, PERMISSION, True)
            super().set_policy(Policy.STATUS_QUO, None)
            self.inner_control.grant_permission(self.uid, PERMISSION, False)
            raise


class _LetsAnyoneRequest(FaultyManager):
    def request_can_load_model(self, request: ModelLoadRequest, callback: ModelLoadRequestCallback | None) -> None:
        try:
            super().request_can_load_model(request, callback)
        except SecurityDenied:
            self.inner_control.grant_permission(self.uid, PERMISSION, True)
            super().request_can_load_model(request, callback)


class _DeniesAfterActing(FaultyManager):
    def cancel_model_load(self, request: ModelLoadRequest) -> None:
        try:
            super().cancel_model_load(request)
        except SecurityDenied:
            self.inner_control.grant_permission(self.uid, PERMISSION, True)
            super().cancel_model_load(request)
            self.inner_control.grant_permission(self.uid, PERMISSION, False)
            raise


FAULTS = (
    manager_fault("lets-anyone-set-the-policy", "Does not check the permission of setPolicy.", "NPU-ACC-004",
                  "access.set_policy_without_permission", _LetsAnyoneSetThePolicy),
    manager_fault("refuses-the-policy-too-late",
                  "Denies setPolicy without the permission only after it has ended the requests.", "NPU-ACC-004",
                  "access.set_policy_without_permission", _RefusesThePolicyTooLate),
    manager_fault("lets-anyone-request", "Takes requests of apps without the permission.", "NPU-ACC-005",
                  "access.calls_without_permission", _LetsAnyoneRequest, "quality-warning"),
    manager_fault("denies-after-acting", "Raises the security error once the cancellation is done.", "NPU-ACC-005",
                  "access.calls_without_permission", _DeniesAfterActing, "quality-warning"),
)  # fmt: skip
"""Faults in the permission check."""
