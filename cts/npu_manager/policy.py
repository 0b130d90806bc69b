"""The loading policies' numbers and parameters, and what replacing one does."""

from __future__ import annotations

import itertools
from functools import partial

from npu_conformance.cts.manager_client import ASSISTANT, CAMERA, CANCELLED, COMPLETE, GRANT, install, pass_time
from npu_conformance.harness import checks
from npu_conformance.harness.cases import Behaviours
from npu_conformance.harness.trial import Trial
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.types import ModelLoadRequest, ModelPriority, ModelSize, Policy

cases = Behaviours("cts.npu_manager.policy", interface="manager")


@cases.case("status_quo_gates_nothing", "NPU-POL-001", "NPU-POL-003")
def status_quo_gates_nothing(trial: Trial) -> None:
    """By default any number of the largest models of several apps is granted, and none is asked to unload."""
    apps = [install(trial, CAMERA), install(trial, ASSISTANT)]
    for app, identifier in itertools.product(apps, range(4)):
        request = ModelLoadRequest(identifier, ModelSize.GREATER_THAN_2G, ModelPriority.BACKGROUND)
        app.granted(request).notify_model_loaded(request)
    for app, identifier in itertools.product(apps, range(4)):
        app.expect(identifier, GRANT)


@cases.case("unknown_policy", "NPU-POL-002")
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


@cases.case("replacement_ends_requests", "NPU-LIF-022", "NPU-LIF-023", "NPU-LIF-013")
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
