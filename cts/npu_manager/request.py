"""What a request is, and whose it is."""

from __future__ import annotations

import itertools

from npu_conformance.cts.manager_client import ASSISTANT, CAMERA, CANCELLED, COMPLETE, GRANT, install
from npu_conformance.harness import checks
from npu_conformance.harness.cases import Behaviours, Scope
from npu_conformance.harness.trial import Trial
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.types import ModelLoadRequest, ModelPriority, ModelSize

cases = Behaviours("cts.npu_manager.request", interface="manager")


@cases.case("equal_ids_of_two_apps", "NPU-REQ-009", scope=Scope.SMOKE)
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


@cases.case("notification_of_another_app", "NPU-LIF-024", "NPU-REQ-009")
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


@cases.case("every_32_bit_id", "NPU-REQ-007")
def every_32_bit_id(trial: Trial) -> None:
    """Negative and extreme ids are ids like any other."""
    camera = install(trial, CAMERA)
    for identifier in (-(2**31), -1, 0, 1, 2**31 - 1):
        request = ModelLoadRequest(identifier)
        camera.granted(request).notify_model_unloaded(request)
        camera.expect(identifier, GRANT, COMPLETE)


@cases.case("sizes_and_priorities", "NPU-REQ-002", "NPU-REQ-003", "NPU-POL-003")
def sizes_and_priorities(trial: Trial) -> None:
    """Each size class, and priorities from normal over one between to background, are accepted."""
    camera = install(trial, CAMERA)
    priorities = (ModelPriority.NORMAL, 100, ModelPriority.BACKGROUND)
    for identifier, (size, priority) in enumerate(itertools.product(ModelSize, priorities)):
        camera.granted(ModelLoadRequest(identifier, size, priority))
        camera.expect(identifier, GRANT)


@cases.case("live_id_again", "NPU-REQ-012", "NPU-REQ-011")
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
