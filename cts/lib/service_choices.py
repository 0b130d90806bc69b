"""What the steps of random scenarios of the manager as a service choose from."""

from __future__ import annotations

from npu_conformance.specs.npu.types import Flag, Policy, PolicyParameters

POLICY_COMMANDS = ("set-status-quo-policy", "set-turn-taking-policy", "set-budget-policy")
COMMANDS = (*POLICY_COMMANDS, "", "inf", "set-policy", "set-budget-policy-2", "enable", "disable")
"""The last two say what only root may."""
PARAMETERS: tuple[PolicyParameters | None, ...] = (
    None,
    PolicyParameters(5),
    PolicyParameters(None, {"2": 3}),
    PolicyParameters(None, {"0": 9}),
    PolicyParameters(7, {"1": 5, "3": 900}),
    PolicyParameters(None, {"-1": 50, "x": 70, "2": 6}),
    PolicyParameters(2**31 - 1, {"0": 2**16 + 1, "2": 2**30}),
    PolicyParameters(1, {"0": 1}),
)
"""Without a maximum, that is the weight of the largest class; weights left out have defaults (NPU-POL-005 to -009)."""
REFUSED: tuple[tuple[int, PolicyParameters | None], ...] = (
    *((number, None) for number in (3, -1, 99, 2**31 - 1, -(2**31), 256, 257, 2**16 + 2)),
    *((Policy.BUDGET, PolicyParameters(most)) for most in (0, -1, -(2**31))),
    *((Policy.BUDGET, PolicyParameters(8, {size: weight})) for size in ("0", "1", "2") for weight in (0, -1)),
)
"""Policies that setPolicy rejects, and nothing changes (NPU-POL-002, -007, -008)."""
DENIED_CALLS = ("cancel", "load", "unload")
"""What an app says of a request without the permission."""
DUMPS, DENIED = 5, 3 + len(POLICY_COMMANDS) + 2 * len(DENIED_CALLS)
FLAGS = (Flag.BLOCK_MISSING_FEATURE, Flag.UNLOAD_REASON)
STRANGERS = (1_001_000, 100_000, 10_299)
"""Uids without apps: the system's and root's numbers of other users, and others."""
REFUSED_ID = 77_777
"""Of requests that are rejected."""


def broken_by(policy: int, parameters: PolicyParameters | None) -> str:
    """The requirement that a manager breaks which takes one of the refused policies."""
    if policy not in tuple(Policy):
        return "NPU-POL-002"
    return "NPU-POL-008" if parameters is not None and parameters.model_size_weights else "NPU-POL-007"
