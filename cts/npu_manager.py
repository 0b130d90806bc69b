"""The NPU Manager's simplest life cycle, under the status-quo policy: request, grant, load, unload, complete.

Every case plays one or two apps of its own. Callbacks are judged in full: what comes twice or too late is a failure.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial

from npu_conformance.cts.manager_client import ASSISTANT, CAMERA, Client, Kind, control, install, pass_time
from npu_conformance.harness import checks
from npu_conformance.harness.cases import Behaviours, Case, Scope
from npu_conformance.harness.trial import Trial
from npu_conformance.harness.verdicts import NotApplicable
from npu_conformance.specs.errors import IllegalArgument, SecurityDenied
from npu_conformance.specs.npu.types import (
    PERMISSION,
    CompletionStatus,
    LoadStatus,
    ModelLoadRequest,
    ModelPriority,
    ModelSize,
    Policy,
)

_lifecycle = Behaviours("cts.npu_manager.lifecycle", interface="manager")
_requests = Behaviours("cts.npu_manager.request", interface="manager")
_access = Behaviours("cts.npu_manager.access", interface="manager")
_policy = Behaviours("cts.npu_manager.policy", interface="manager")

GRANT: tuple[Kind, int] = ("decision", LoadStatus.CAN_LOAD_NOW)
COMPLETE: tuple[Kind, int] = ("complete", CompletionStatus.COMPLETE)
CANCELLED: tuple[Kind, int] = ("complete", CompletionStatus.CANCELLED)


def cases() -> Iterator[Case]:
    """All cases, by area."""
    return itertools.chain(_lifecycle(), _requests(), _access(), _policy())


@_lifecycle.case("grant", "NPU-LIF-004", "NPU-LIF-005", "NPU-POL-003", scope=Scope.SMOKE)
def grant(trial: Trial) -> None:
    """A request gets exactly one decision: load now, with a status listener."""
    camera = install(trial, CAMERA)
    camera.granted(ModelLoadRequest(1))
    camera.expect(1, GRANT)


@_lifecycle.case("request_echoed", "NPU-LIF-003", "NPU-REQ-001", "NPU-REQ-005")
def request_echoed(trial: Trial) -> None:
    """Decision and completion carry the request as it was submitted: id, size and priority."""
    camera = install(trial, CAMERA)
    request = ModelLoadRequest(7, ModelSize.BETWEEN_1GB_AND_2GB, 100)
    listener = camera.granted(request)
    listener.notify_model_unloaded(request)
    camera.expect(7, GRANT, COMPLETE)
    for event in camera.recorder.events[:2]:
        checks.equal(event.request, request, f"request in the {event.kind} callback")


@_lifecycle.case("decision_after_return", "NPU-LIF-001")
def decision_after_return(trial: Trial) -> None:
    """The call returns first: while a virtual clock stands still no decision is delivered."""
    if not trial.manifest.virtual_clock:
        raise NotApplicable("without a virtual clock a decision may overtake the return of the call")
    camera = install(trial, CAMERA)
    camera.request(ModelLoadRequest(1))
    early = trial.subject.wait_until(lambda: bool(camera.recorder.events), 0.0)
    checks.that(not early, "expected no callback before the clock moves, found one")
    camera.expect(1, GRANT)


@_lifecycle.case("unload_completes_once", "NPU-LIF-009", "NPU-LIF-010", scope=Scope.SMOKE)
def unload_completes_once(trial: Trial) -> None:
    """Loaded, then unloaded: completion with COMPLETE, once."""
    camera = install(trial, CAMERA)
    request = ModelLoadRequest(1)
    listener = camera.granted(request)
    listener.notify_model_loaded(request)
    camera.expect(1, GRANT)
    listener.notify_model_unloaded(request)
    camera.expect(1, GRANT, COMPLETE)


@_lifecycle.case("unload_twice", "NPU-LIF-010", "NPU-LIF-013", "NPU-LIF-014")
def unload_twice(trial: Trial) -> None:
    """A second unloaded notification changes nothing and raises nothing."""
    camera = install(trial, CAMERA)
    request = ModelLoadRequest(1)
    listener = camera.granted(request)
    listener.notify_model_unloaded(request)
    checks.succeeds(lambda: listener.notify_model_unloaded(request), "second notifyModelUnloaded")
    camera.expect(1, GRANT, COMPLETE)


@_lifecycle.case("loaded_twice", "NPU-LIF-015")
def loaded_twice(trial: Trial) -> None:
    """A second loaded notification changes nothing: one unloaded notification still completes the request."""
    camera = install(trial, CAMERA)
    request = ModelLoadRequest(1)
    listener = camera.granted(request)
    listener.notify_model_loaded(request)
    checks.succeeds(lambda: listener.notify_model_loaded(request), "second notifyModelLoaded")
    listener.notify_model_unloaded(request)
    camera.expect(1, GRANT, COMPLETE)


@_lifecycle.case("cancel_granted", "NPU-LIF-011")
def cancel_granted(trial: Trial) -> None:
    """Cancelling a granted request that is not loaded: completion with CANCELLED, once."""
    camera = install(trial, CAMERA)
    request = ModelLoadRequest(1)
    camera.granted(request)
    camera.manager.cancel_model_load(request)
    camera.expect(1, GRANT, CANCELLED)


@_lifecycle.case("cancel_loaded", "NPU-LIF-012")
def cancel_loaded(trial: Trial) -> None:
    """Cancelling a loaded request: completion with CANCELLED, once."""
    camera = install(trial, CAMERA)
    request = ModelLoadRequest(1)
    camera.granted(request).notify_model_loaded(request)
    camera.manager.cancel_model_load(request)
    camera.expect(1, GRANT, CANCELLED)


@_lifecycle.case("cancel_at_once", "NPU-LIF-011", "NPU-LIF-013")
def cancel_at_once(trial: Trial) -> None:
    """Cancelling before the decision arrived: CANCELLED once, as the last callback."""
    camera = install(trial, CAMERA)
    request = ModelLoadRequest(1)
    camera.request(request)
    camera.manager.cancel_model_load(request)
    camera.flush()
    found = camera.recorder.of(1)
    checks.member(found, ([GRANT, CANCELLED], [CANCELLED]), "callbacks of request 1")


@_lifecycle.case("cancel_twice", "NPU-LIF-011", "NPU-LIF-014")
def cancel_twice(trial: Trial) -> None:
    """A second cancellation changes nothing and raises nothing."""
    camera = install(trial, CAMERA)
    request = ModelLoadRequest(1)
    camera.granted(request)
    camera.manager.cancel_model_load(request)
    checks.succeeds(lambda: camera.manager.cancel_model_load(request), "second cancelModelLoad")
    camera.expect(1, GRANT, CANCELLED)


@_lifecycle.case("silence_after_completion", "NPU-LIF-013", "NPU-LIF-014")
def silence_after_completion(trial: Trial) -> None:
    """After its completion nothing that the client does about a request has an effect."""
    camera = install(trial, CAMERA)
    request = ModelLoadRequest(1)
    listener = camera.granted(request)
    camera.manager.cancel_model_load(request)
    listener.notify_model_loaded(request)
    listener.notify_model_unloaded(request)
    camera.manager.cancel_model_load(request)
    camera.expect(1, GRANT, CANCELLED)


@_lifecycle.case("unknown_ignored", "NPU-LIF-014")
def unknown_ignored(trial: Trial) -> None:
    """Cancelling and notifying a request that was never submitted raises nothing and touches no other request."""
    camera = install(trial, CAMERA)
    request, unknown = ModelLoadRequest(1), ModelLoadRequest(2)
    listener = camera.granted(request)
    checks.succeeds(lambda: camera.manager.cancel_model_load(unknown), "cancelModelLoad of an unknown request")
    checks.succeeds(lambda: listener.notify_model_loaded(unknown), "notifyModelLoaded of an unknown request")
    checks.succeeds(lambda: listener.notify_model_unloaded(unknown), "notifyModelUnloaded of an unknown request")
    camera.expect(2)
    camera.expect(1, GRANT)


@_lifecycle.case("one_callback_many_requests", "NPU-LIF-025", "NPU-LIF-003")
def one_callback_many_requests(trial: Trial) -> None:
    """One callback object serves several requests, each call naming its own."""
    camera = install(trial, CAMERA)
    requests = [ModelLoadRequest(identifier) for identifier in (1, 2, 3)]
    listeners = [camera.granted(request) for request in requests]
    camera.manager.cancel_model_load(requests[1])
    listeners[2].notify_model_unloaded(requests[2])
    camera.expect(1, GRANT)
    camera.expect(2, GRANT, CANCELLED)
    camera.expect(3, GRANT, COMPLETE)


@_lifecycle.case("client_death", "NPU-LIF-019")
def client_death(trial: Trial) -> None:
    """When a client dies its requests vanish without callbacks; its id is free again and other apps are unaffected."""
    camera, assistant = install(trial, CAMERA), install(trial, ASSISTANT)
    camera.granted(ModelLoadRequest(1))
    camera.request(ModelLoadRequest(2))
    request = ModelLoadRequest(1)
    listener = assistant.granted(request)
    known = len(camera.recorder.of(2))
    control(trial).kill_client(CAMERA)
    reborn = Client(trial, CAMERA)
    reborn.granted(ModelLoadRequest(1))
    reborn.expect(1, GRANT)
    checks.equal(camera.recorder.of(1), [GRANT], "callbacks of the dead client's request 1")
    checks.equal(len(camera.recorder.of(2)), known, "number of callbacks of the dead client's request 2")
    listener.notify_model_unloaded(request)
    assistant.expect(1, GRANT, COMPLETE)


@_requests.case("equal_ids_of_two_apps", "NPU-REQ-009", scope=Scope.SMOKE)
def equal_ids_of_two_apps(trial: Trial) -> None:
    """Requests of two apps with one id are two requests: each app hears of its own only."""
    camera, assistant = install(trial, CAMERA), install(trial, ASSISTANT)
    request = ModelLoadRequest(1)
    listener = camera.granted(request)
    assistant.granted(request)
    assistant.manager.cancel_model_load(request)
    assistant.expect(1, GRANT, CANCELLED)
    camera.expect(1, GRANT)
    listener.notify_model_unloaded(request)
    camera.expect(1, GRANT, COMPLETE)
    assistant.expect(1, GRANT, CANCELLED)


@_requests.case("notification_of_another_app", "NPU-LIF-024", "NPU-REQ-009")
def notification_of_another_app(trial: Trial) -> None:
    """An app that names another app's request to its own listener, or cancels it, changes nothing."""
    camera, assistant = install(trial, CAMERA), install(trial, ASSISTANT)
    request = ModelLoadRequest(1)
    listener = camera.granted(request)
    foreign = assistant.granted(ModelLoadRequest(2))
    foreign.notify_model_loaded(request)
    foreign.notify_model_unloaded(request)
    assistant.manager.cancel_model_load(request)
    camera.expect(1, GRANT)
    listener.notify_model_unloaded(request)
    camera.expect(1, GRANT, COMPLETE)
    assistant.expect(1)


@_requests.case("every_32_bit_id", "NPU-REQ-007")
def every_32_bit_id(trial: Trial) -> None:
    """Negative and extreme ids are ids like any other."""
    camera = install(trial, CAMERA)
    for identifier in (-(2**31), -1, 0, 1, 2**31 - 1):
        request = ModelLoadRequest(identifier)
        camera.granted(request).notify_model_unloaded(request)
        camera.expect(identifier, GRANT, COMPLETE)


@_requests.case("sizes_and_priorities", "NPU-REQ-002", "NPU-REQ-003", "NPU-POL-003")
def sizes_and_priorities(trial: Trial) -> None:
    """Each size class, and priorities from normal over one between to background, are accepted."""
    camera = install(trial, CAMERA)
    priorities = (ModelPriority.NORMAL, 100, ModelPriority.BACKGROUND)
    for identifier, (size, priority) in enumerate(itertools.product(ModelSize, priorities)):
        camera.granted(ModelLoadRequest(identifier, size, priority))
        camera.expect(identifier, GRANT)


@_requests.case("live_id_again", "NPU-REQ-012", "NPU-REQ-011")
def live_id_again(trial: Trial) -> None:
    """Submitting a live id again is refused, or counts as the same request: it ends once, and then the id is free."""
    camera = install(trial, CAMERA)
    request = ModelLoadRequest(1)
    listener = camera.granted(request)
    try:
        camera.request(request)
    except IllegalArgument:
        camera.expect(1, GRANT)
    listener.notify_model_unloaded(request)
    camera.flush()
    endings = [said for said in camera.recorder.of(1) if said[0] == "complete"]
    checks.equal(endings, [COMPLETE], "completions of request 1")
    camera.recorder.events.clear()
    camera.granted(request)
    camera.expect(1, GRANT)


@_access.case("set_policy_without_permission", "NPU-ACC-004")
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


@_access.case("calls_without_permission", "NPU-ACC-005")
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


@_policy.case("status_quo_gates_nothing", "NPU-POL-001", "NPU-POL-003")
def status_quo_gates_nothing(trial: Trial) -> None:
    """By default any number of the largest models of several apps is granted, and none is asked to unload."""
    apps = [install(trial, CAMERA), install(trial, ASSISTANT)]
    for app, identifier in itertools.product(apps, range(4)):
        request = ModelLoadRequest(identifier, ModelSize.GREATER_THAN_2G, ModelPriority.BACKGROUND)
        app.granted(request).notify_model_loaded(request)
    for app, identifier in itertools.product(apps, range(4)):
        app.expect(identifier, GRANT)


@_policy.case("unknown_policy", "NPU-POL-002")
def unknown_policy(trial: Trial) -> None:
    """An unknown policy number is an illegal argument and changes nothing: requests live on."""
    camera = install(trial, CAMERA)
    request = ModelLoadRequest(1, ModelSize.GREATER_THAN_2G)
    listener = camera.granted(request)
    for policy in (-1, 3, 1000):
        setting = partial(camera.manager.set_policy, policy, None)
        checks.raises(setting, IllegalArgument, f"setPolicy({policy})")
    camera.granted(ModelLoadRequest(2, ModelSize.GREATER_THAN_2G))
    camera.expect(2, GRANT)
    listener.notify_model_unloaded(request)
    camera.expect(1, GRANT, COMPLETE)


@_policy.case("replacement_ends_requests", "NPU-LIF-022", "NPU-LIF-023", "NPU-LIF-013")
def replacement_ends_requests(trial: Trial) -> None:
    """Setting a policy, even the same, ends all requests: at most CANCELLED is said, and then nothing."""
    camera = install(trial, CAMERA)
    request = ModelLoadRequest(1)
    listener = camera.granted(request)
    checks.succeeds(lambda: camera.manager.set_policy(Policy.STATUS_QUO, None), "setPolicy(STATUS_QUO)")
    pass_time(trial)
    listener.notify_model_loaded(request)
    listener.notify_model_unloaded(request)
    camera.manager.cancel_model_load(request)
    camera.flush()
    checks.member(camera.recorder.of(1), ([GRANT], [GRANT, CANCELLED]), "callbacks of request 1")


def _denied(client: Client, policy: Policy) -> None:
    what = f"setPolicy({policy.name}) without the permission"
    checks.raises(lambda: client.manager.set_policy(policy, None), SecurityDenied, what)


def _is_denied(call: Callable[[], None]) -> bool:
    try:
        call()
    except SecurityDenied:
        return True
    return False
