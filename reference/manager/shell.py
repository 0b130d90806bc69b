"""`cmd npu`: the service's commands for people and test scripts (NPU-OBS-003 to -005)."""

from __future__ import annotations

from npu_conformance.reference.manager.hal_link import HalLink
from npu_conformance.specs.errors import SecurityDenied
from npu_conformance.specs.npu.manager import Manager
from npu_conformance.specs.npu.types import ROOT_UID, Policy, ShellResult

USAGE = """usage: cmd npu COMMAND
    set-status-quo-policy    grant every request at once
    set-turn-taking-policy   one model at a time
    set-budget-policy        models up to the default budget
    info                     what dumpsys npu says
    disable                  stop sending priorities to the scheduling HAL (root)
    enable                   send them all again, and go on (root)
"""
_POLICIES = {
    "set-status-quo-policy": Policy.STATUS_QUO,
    "set-turn-taking-policy": Policy.TURN_TAKING,
    "set-budget-policy": Policy.BUDGET,
}


def execute(arguments: tuple[str, ...], manager: Manager, hal: HalLink, uid: int) -> ShellResult:
    """Run one command as this uid. The exit code is 1 for wrong usage or a rejection, which the output names."""
    try:
        output = _output(arguments, manager, hal, uid)
    except SecurityDenied as refusal:
        return ShellResult(1, f"{refusal}\n")
    return ShellResult(1, USAGE) if output is None else ShellResult(0, output)


def _output(arguments: tuple[str, ...], manager: Manager, hal: HalLink, uid: int) -> str | None:
    match arguments:
        case (command,) if command in _POLICIES:
            manager.set_policy(_POLICIES[command], None)
            return ""
        case ("info",):
            return manager.dump()
        case ("disable" | "enable" as command,):
            if uid != ROOT_UID:
                raise SecurityDenied(f"{command}: only root may do this, not uid {uid}")
            (hal.suspend if command == "disable" else hal.resume)()
            return ""
    return None
