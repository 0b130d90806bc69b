"""Faults in the permission check."""

from __future__ import annotations

from npu_conformance.faults.npu_manager.boundary import Conforming
from npu_conformance.specs.errors import SecurityDenied
from npu_conformance.specs.npu.manager import ModelLoadRequestCallback
from npu_conformance.specs.npu.types import PERMISSION, ModelLoadRequest, Policy, PolicyParameters


class LetsAnyoneSetThePolicy(Conforming):
    """Does not check the permission of setPolicy."""

    breaks = ("NPU-ACC-004",)
    caught_by = "cts.npu_manager.access.set_policy_without_permission"

    def set_policy(self, policy: int, parameters: PolicyParameters | None) -> None:
        try:
            super().set_policy(policy, parameters)
        except SecurityDenied:
            return


class RefusesThePolicyTooLate(Conforming):
    """Denies setPolicy without the permission only after it has ended the requests."""

    breaks = ("NPU-ACC-004",)
    caught_by = "cts.npu_manager.access.set_policy_without_permission"

    def set_policy(self, policy: int, parameters: PolicyParameters | None) -> None:
        try:
            super().set_policy(policy, parameters)
        except SecurityDenied:
            self.inner_control.grant_permission(self.uid, PERMISSION, True)
            super().set_policy(Policy.STATUS_QUO, None)
            self.inner_control.grant_permission(self.uid, PERMISSION, False)
            raise


class LetsAnyoneRequest(Conforming):
    """Takes requests of apps without the permission."""

    breaks = ("NPU-ACC-005",)
    caught_by = "cts.npu_manager.access.calls_without_permission"
    noticed_as = "quality-warning"

    def request_can_load_model(self, request: ModelLoadRequest, callback: ModelLoadRequestCallback | None) -> None:
        try:
            super().request_can_load_model(request, callback)
        except SecurityDenied:
            self.inner_control.grant_permission(self.uid, PERMISSION, True)
            super().request_can_load_model(request, callback)


class DeniesAfterActing(Conforming):
    """Raises the security error once the cancellation is done."""

    breaks = ("NPU-ACC-005",)
    caught_by = "cts.npu_manager.access.calls_without_permission"
    noticed_as = "quality-warning"

    def cancel_model_load(self, request: ModelLoadRequest) -> None:
        try:
            super().cancel_model_load(request)
        except SecurityDenied:
            self.inner_control.grant_permission(self.uid, PERMISSION, True)
            super().cancel_model_load(request)
            self.inner_control.grant_permission(self.uid, PERMISSION, False)
            raise
