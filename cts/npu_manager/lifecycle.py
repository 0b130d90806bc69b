"""The simplest life cycle, under the status-quo policy: request, grant, load, unload, complete.

Every case drives one or two apps of its own. Callbacks are judged in full: what comes twice or too late is a failure.
"""

from __future__ import annotations

from npu_conformance.cts.lib.manager_client import (
    ASSISTANT,
    CAMERA,
    CANCELLED,
    COMPLETE,
    GRANT,
    Client,
    control,
    install,
    pass_time,
)
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.manager_events import without_repetitions
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.types import ModelLoadRequest, ModelSize

cases = CaseGroup("cts.npu_manager.lifecycle", interface="manager", group=Group.MANAGER_REQUESTS)


@cases.case("grant", "NPU-LIF-005", "NPU-LIF-004", "NPU-POL-003", scope=Scope.SMOKE)
def grant(context: CaseContext) -> None:
    """A request gets exactly one decision: load now, with a status listener."""
    camera = install(context, CAMERA)
    camera.granted(ModelLoadRequest(1))
    camera.expect(1, GRANT)


@cases.case("request_echoed", "NPU-LIF-003", "NPU-REQ-001", "NPU-REQ-005")
def request_echoed(context: CaseContext) -> None:
    """Decision and completion carry the request as it was submitted: id, size and priority."""
    camera = install(context, CAMERA)
    request = ModelLoadRequest(7, ModelSize.BETWEEN_1GB_AND_2GB, 100)
    listener = camera.granted(request)
    listener.notify_model_unloaded(request)
    camera.expect(7, GRANT, COMPLETE)
    for event in [each for each in camera.recorder.events if each.request.id == request.id]:
        checks.equal(event.request, request, f"request in the {event.kind} callback")


@cases.case("decision_after_return", "NPU-LIF-001")
def decision_after_return(context: CaseContext) -> None:
    """The call returns first: while a virtual clock stands still no decision is delivered."""
    if not context.manifest.virtual_clock:
        raise NotApplicable("without a virtual clock a decision may overtake the return of the call")
    camera = install(context, CAMERA)
    camera.request(ModelLoadRequest(1))
    early = context.subject.wait_until(lambda: bool(camera.recorder.events), 0.0)
    checks.that(not early, "expected no callback before the clock moves, found one")
    camera.expect(1, GRANT)


@cases.case("unload_completes_once", "NPU-LIF-010", "NPU-LIF-009", scope=Scope.SMOKE)
def unload_completes_once(context: CaseContext) -> None:
    """A model that is loaded and then unloaded is completed with COMPLETE, once."""
    camera = install(context, CAMERA)
    request = ModelLoadRequest(1)
    listener = camera.granted(request)
    listener.notify_model_loaded(request)
    camera.expect(1, GRANT)
    listener.notify_model_unloaded(request)
    camera.expect(1, GRANT, COMPLETE)


@cases.case("unload_twice", "NPU-LIF-014", "NPU-LIF-010", "NPU-LIF-013")
def unload_twice(context: CaseContext) -> None:
    """A second unloaded notification changes nothing and raises nothing."""
    camera = install(context, CAMERA)
    request = ModelLoadRequest(1)
    listener = camera.granted(request)
    listener.notify_model_unloaded(request)
    checks.succeeds(lambda: listener.notify_model_unloaded(request), "second notifyModelUnloaded")
    camera.expect(1, GRANT, COMPLETE)


@cases.case("loaded_twice", "NPU-LIF-015")
def loaded_twice(context: CaseContext) -> None:
    """A second loaded notification changes nothing: one unloaded notification still completes the request."""
    camera = install(context, CAMERA)
    request = ModelLoadRequest(1)
    listener = camera.granted(request)
    listener.notify_model_loaded(request)
    checks.succeeds(lambda: listener.notify_model_loaded(request), "second notifyModelLoaded")
    listener.notify_model_unloaded(request)
    camera.expect(1, GRANT, COMPLETE)


@cases.case("cancel_granted", "NPU-LIF-011")
def cancel_granted(context: CaseContext) -> None:
    """Cancelling a granted request that is not loaded completes it with CANCELLED, once."""
    camera = install(context, CAMERA)
    request = ModelLoadRequest(1)
    camera.granted(request)
    camera.manager.cancel_model_load(request)
    camera.expect(1, GRANT, CANCELLED)


@cases.case("cancel_loaded", "NPU-LIF-012")
def cancel_loaded(context: CaseContext) -> None:
    """Cancelling a loaded request completes it with CANCELLED, once."""
    camera = install(context, CAMERA)
    request = ModelLoadRequest(1)
    camera.granted(request).notify_model_loaded(request)
    camera.manager.cancel_model_load(request)
    camera.expect(1, GRANT, CANCELLED)


@cases.case("cancel_at_once", "NPU-LIF-011", "NPU-LIF-013")
def cancel_at_once(context: CaseContext) -> None:
    """Cancelling before the decision has arrived gives CANCELLED once, as the last callback."""
    camera = install(context, CAMERA)
    request = ModelLoadRequest(1)
    camera.request(request)
    camera.manager.cancel_model_load(request)
    camera.flush()
    found = without_repetitions(camera.recorder.of(1))
    checks.member(found, ([GRANT, CANCELLED], [CANCELLED]), "callbacks of request 1")


@cases.case("cancel_twice", "NPU-LIF-014", "NPU-LIF-011")
def cancel_twice(context: CaseContext) -> None:
    """A second cancellation changes nothing and raises nothing."""
    camera = install(context, CAMERA)
    request = ModelLoadRequest(1)
    camera.granted(request)
    camera.manager.cancel_model_load(request)
    checks.succeeds(lambda: camera.manager.cancel_model_load(request), "second cancelModelLoad")
    camera.expect(1, GRANT, CANCELLED)


@cases.case("silence_after_completion", "NPU-LIF-013", "NPU-LIF-014")
def silence_after_completion(context: CaseContext) -> None:
    """After its completion nothing that the client does about a request has an effect."""
    camera = install(context, CAMERA)
    request = ModelLoadRequest(1)
    listener = camera.granted(request)
    camera.manager.cancel_model_load(request)
    listener.notify_model_loaded(request)
    listener.notify_model_unloaded(request)
    camera.manager.cancel_model_load(request)
    camera.expect(1, GRANT, CANCELLED)


@cases.case("unknown_ignored", "NPU-LIF-014")
def unknown_ignored(context: CaseContext) -> None:
    """Cancelling and notifying a request that was never submitted raises nothing and touches no other request."""
    camera = install(context, CAMERA)
    request, unknown = ModelLoadRequest(1), ModelLoadRequest(2)
    listener = camera.granted(request)
    checks.succeeds(lambda: camera.manager.cancel_model_load(unknown), "cancelModelLoad of an unknown request")
    checks.succeeds(lambda: listener.notify_model_loaded(unknown), "notifyModelLoaded of an unknown request")
    checks.succeeds(lambda: listener.notify_model_unloaded(unknown), "notifyModelUnloaded of an unknown request")
    camera.expect(2)
    camera.expect(1, GRANT)


@cases.case("one_callback_many_requests", "NPU-LIF-025", "NPU-LIF-003")
def one_callback_many_requests(context: CaseContext) -> None:
    """One callback object serves several requests, each call naming its own."""
    camera = install(context, CAMERA)
    requests = [ModelLoadRequest(identifier) for identifier in (1, 2, 3)]
    listeners = [camera.granted(request) for request in requests]
    camera.manager.cancel_model_load(requests[1])
    listeners[2].notify_model_unloaded(requests[2])
    camera.expect(1, GRANT)
    camera.expect(2, GRANT, CANCELLED)
    camera.expect(3, GRANT, COMPLETE)


@cases.case("client_death", "NPU-LIF-019")
def client_death(context: CaseContext) -> None:
    """When a client dies its requests vanish without callbacks; its id is free again and other apps are unaffected."""
    camera, assistant = install(context, CAMERA), install(context, ASSISTANT)
    camera.granted(ModelLoadRequest(1))
    camera.request(ModelLoadRequest(2))
    request = ModelLoadRequest(1)
    listener = assistant.granted(request)
    known = without_repetitions(camera.recorder.of(2))
    control(context).kill_client(CAMERA)
    pass_time(context)
    reborn = Client(context, CAMERA)
    reborn.granted(ModelLoadRequest(1))
    reborn.expect(1, GRANT)
    checks.equal(without_repetitions(camera.recorder.of(1)), [GRANT], "callbacks of the dead client's request 1")
    checks.equal(without_repetitions(camera.recorder.of(2)), known, "callbacks of the dead client's request 2")
    listener.notify_model_unloaded(request)
    assistant.expect(1, GRANT, COMPLETE)
