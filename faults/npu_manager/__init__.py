"""NPU Managers that are wrong on purpose: the reference behind a boundary at which one thing is changed."""

from __future__ import annotations

from npu_conformance.faults.npu_manager import access, lifecycle, policy, request

FAULTS = (*lifecycle.FAULTS, *request.FAULTS, *access.FAULTS, *policy.FAULTS)
