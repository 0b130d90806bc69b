"""Who may use the manager, and who is denied the NPU."""

from __future__ import annotations

from collections.abc import Callable

from npu_conformance.cts.manager_client import ASSISTANT, CAMERA, COMPLETE, GRANT, Client, control, install
from npu_conformance.harness import checks
from npu_conformance.harness.cases import Behaviours
from npu_conformance.harness.trial import Trial
from npu_conformance.specs.errors import SecurityDenied
from npu_conformance.specs.npu.types import PERMISSION, ModelLoadRequest, Policy

cases = Behaviours("cts.npu_manager.access", interface="manager")


@cases.case("set_policy_without_permission", "NPU-ACC-004")
def set_policy_without_permission(trial: Trial) -> None:
    """setPolicy without the permission is a security error and ends no request."""
    camera, assistant = install(trial, CAMERA), install(trial, ASSISTANT, permitted=False)
    request = ModelLoadRequest(1)
    listener = camera.granted(request)
    for policy in Policy:
        _denied(assistant, policy)
    camera.expect(1, GRANT)
    listener.notify_model_unloaded(request)
    camera.expect(1, GRANT, COMPLETE)


@cases.case("calls_without_permission", "NPU-ACC-005")
def calls_without_permission(trial: Trial) -> None:
    """Requesting, cancelling and notifying without the permission ought to be security errors without effect."""
    camera = install(trial, CAMERA)
    request = ModelLoadRequest(1)
    listener = camera.granted(request)
    control(trial).grant_permission(CAMERA, PERMISSION, False)
    calls: dict[str, Callable[[], None]] = {
        "requestCanLoadModel": lambda: camera.request(ModelLoadRequest(2)),
        "cancelModelLoad": lambda: camera.manager.cancel_model_load(request),
        "notifyModelLoaded": lambda: listener.notify_model_loaded(request),
        "notifyModelUnloaded": lambda: listener.notify_model_unloaded(request),
    }
    permissive = [name for name, call in calls.items() if not _is_denied(call)]
    control(trial).grant_permission(CAMERA, PERMISSION, True)
    camera.flush()
    if permissive:
        trial.warn_quality(f"callable without {PERMISSION}: {', '.join(permissive)}")
    elif (camera.recorder.of(1), camera.recorder.of(2)) != ([GRANT], []):
        trial.warn_quality(f"calls refused without {PERMISSION} had an effect all the same")


def _denied(client: Client, policy: Policy) -> None:
    what = f"setPolicy({policy.name}) without the permission"
    checks.raises(lambda: client.manager.set_policy(policy, None), SecurityDenied, what)


def _is_denied(call: Callable[[], None]) -> bool:
    try:
        call()
    except SecurityDenied:
        return True
    return False
