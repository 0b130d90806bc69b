"""The loading policies' numbers and parameters, and what replacing one does."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

from npu_conformance.cts.lib import manager_dump
from npu_conformance.cts.lib.manager_client import (
    ASSISTANT,
    CAMERA,
    CANCELLED,
    COMPLETE,
    GRANT,
    PARKED,
    WAIT,
    control,
    install,
    install_only,
    pass_time,
)
from npu_conformance.cts.lib.manager_fixture import LARGE, MEDIUM, SMALL, UNLOAD, ManagerFixture
from npu_conformance.cts.lib.manager_needs import need_ranking_of
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.manager_events import without_repetitions
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.types import (
    DUMP_PERMISSION,
    Importance,
    ModelLoadRequest,
    ModelPriority,
    ModelSize,
    Policy,
    PolicyParameters,
)

cases = CaseGroup("cts.npu_manager.policy", interface="manager", group=Group.MANAGER_POLICIES)


@cases.case("status_quo_gates_nothing", "NPU-POL-003")
def status_quo_gates_nothing(context: CaseContext) -> None:
    """Any number of the largest models of several apps is granted, and none is asked to unload."""
    apps = [install(context, CAMERA), install(context, ASSISTANT)]
    for app, identifier in itertools.product(apps, range(4)):
        request = ModelLoadRequest(identifier, ModelSize.GREATER_THAN_2G, ModelPriority.BACKGROUND)
        app.granted(request).notify_model_loaded(request)
    for app, identifier in itertools.product(apps, range(4)):
        app.expect(identifier, GRANT)


@cases.case("unknown_policy", "NPU-POL-002", group=Group.MANAGER_VALIDATION)
def unknown_policy(context: CaseContext) -> None:
    """An unknown policy number is an illegal argument and changes nothing: requests live on."""
    camera = install(context, CAMERA)
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
def replacement_ends_requests(context: CaseContext) -> None:
    """Setting a policy, even the same, ends all requests: at most CANCELLED is notified, and then nothing."""
    camera = install(context, CAMERA)
    request = ModelLoadRequest(1)
    listener = camera.granted(request)
    checks.succeeds(lambda: camera.manager.set_policy(Policy.STATUS_QUO, None), "setPolicy(STATUS_QUO)")
    pass_time(context)
    listener.notify_model_loaded(request)
    listener.notify_model_unloaded(request)
    camera.manager.cancel_model_load(request)
    camera.flush()
    found = without_repetitions(camera.recorder.of(1))
    checks.member(found, ([GRANT], [GRANT, CANCELLED]), "callbacks of request 1")


@cases.case("default_after_start", "NPU-POL-001", "NPU-POL-003")
def default_after_start(context: CaseContext) -> None:
    """A manager that has just been started gates nothing before somebody sets a policy, or has the one configured."""
    control(context)
    if context.subject.process() == 0:
        raise NotApplicable("the manager is not the suite's to start")
    context.subject.restart()
    camera = install_only(context, CAMERA)
    default = context.manifest.constants.get("NPU_DEFAULT_POLICY", Policy.STATUS_QUO)
    if default != Policy.STATUS_QUO:
        control(context).grant_permission(CAMERA, DUMP_PERMISSION, True)
        named = manager_dump.read(camera.manager.dump()).policy
        checks.equal(named, Policy(default), "the policy after the start, which the manifest names")
        return
    for identifier in range(3):
        request = ModelLoadRequest(identifier, ModelSize.GREATER_THAN_2G)
        camera.granted(request).notify_model_loaded(request)
    for identifier in range(3):
        camera.expect(identifier, GRANT)


@cases.case("illegal_maximum", "NPU-POL-007", group=Group.MANAGER_VALIDATION)
def illegal_maximum(context: CaseContext) -> None:
    """CTS illegalMaxBudget: a maximum of zero or less is an illegal argument."""
    fixture = ManagerFixture(context)
    for maximum in (0, -1, -(2**31)):
        _expect_rejected(fixture, PolicyParameters(maximum), f"maximum {maximum}")
        _expect_rejected(fixture, PolicyParameters(maximum, {"0": 1}), f"maximum {maximum} with weights")


@cases.case("illegal_weight", "NPU-POL-008", group=Group.MANAGER_VALIDATION)
def illegal_weight(context: CaseContext) -> None:
    """CTS invalidWeight: a weight of zero or less is an illegal argument, of whichever size, beside good ones too."""
    fixture = ManagerFixture(context)
    for size, weight in itertools.product(("0", "1", "2"), (0, -1, -(2**31))):
        _expect_rejected(fixture, PolicyParameters(None, {size: weight}), f"weight {weight} of size {size}")
        _expect_rejected(
            fixture, PolicyParameters(8, {"0": 1, "1": 2, "2": 4} | {size: weight}), f"weight {weight} beside two"
        )


@cases.case(
    "refused_policy_changes_nothing",
    "NPU-POL-002",
    "NPU-POL-007",
    "NPU-POL-008",
    "NPU-REQ-011",
    group=Group.MANAGER_VALIDATION,
)
def refused_policy_changes_nothing(context: CaseContext) -> None:
    """What is rejected leaves the policy and its requests: what is held stays held, and is gated as before."""
    fixture = ManagerFixture(context)
    app = fixture.app()
    held, parked = app.loads(LARGE), app.asks(LARGE)
    parked.receives(PARKED)
    _expect_rejected(fixture, PolicyParameters(0), "maximum 0")
    _expect_rejected(fixture, PolicyParameters(64, {"0": 0}), "weight 0")
    unknown = partial(fixture.settings.manager.set_policy, 99, None)
    checks.raises(unknown, IllegalArgument, "setPolicy(99)")
    held.receives(GRANT)
    small = app.asks(SMALL)
    small.receives(PARKED)
    small.cancel()  # of two of one uid and one priority either may be the next
    held.unload()
    held.receives(GRANT, COMPLETE)
    parked.receives(PARKED, GRANT)


@cases.case("parameters_of_other_policies", "NPU-POL-004", "NPU-POL-003", "NPU-POL-007", "NPU-POL-008")
def parameters_of_other_policies(context: CaseContext) -> None:
    """Turn taking and status quo ignore the budget's parameters: one model, and any number. Bad ones may be rejected.

    NPU-POL-007 and -008 do not say of which policies; what is rejected changes nothing.
    """
    good, bad = PolicyParameters(8, {"0": 1}), (PolicyParameters(0), PolicyParameters(None, {"2": -1}))
    for parameters in (good, *bad):
        fixture = ManagerFixture(context)
        app = fixture.app()
        if _is_set(fixture, Policy.TURN_TAKING, parameters, must_be=parameters is good):
            app.loads(SMALL)
            app.asks(SMALL).receives(PARKED)
        if _is_set(fixture, Policy.STATUS_QUO, parameters, must_be=parameters is good):
            for _ in range(3):
                app.loads(LARGE)


def _is_set(fixture: ManagerFixture, policy: Policy, parameters: PolicyParameters, *, must_be: bool) -> bool:
    """True where these parameters are taken with this policy; else what is held stays held."""
    fixture.settings.manager.set_policy(Policy.BUDGET, None)
    held = fixture.app().loads(MEDIUM)
    try:
        fixture.settings.manager.set_policy(policy, parameters)
    except IllegalArgument:
        if must_be:
            raise
        held.receives(GRANT)
        return False
    fixture.settle()
    return True


@cases.case("status_quo_takes_any_size", "NPU-POL-003")
def status_quo_takes_any_size(context: CaseContext) -> None:
    """Status quo looks at no size: an unknown one is granted like others, or rejected; it disturbs nothing."""
    app = ManagerFixture(context, Policy.STATUS_QUO).app()
    for size in (3, -1):
        request = ModelLoadRequest(size, size)
        attempt: Callable[[], None] = partial(app.client.request, request)
        try:
            attempt()
        except IllegalArgument:
            continue
        app.client.manager.cancel_model_load(request)
    app.loads(LARGE).receives(GRANT)


@cases.case("set_again", "NPU-LIF-022", "NPU-POL-005", "NPU-POL-009")
def set_again(context: CaseContext) -> None:
    """Parameters hold until a policy is set again, be it the same with others, and are nobody's defaults after that."""
    fixture = ManagerFixture(context, parameters=PolicyParameters(4, {"1": 4}))
    app = fixture.app()
    app.loads(MEDIUM)
    app.asks(SMALL).receives(PARKED)
    _expect_rejected(fixture, PolicyParameters(0, {"1": 3}), "maximum 0 and a weight")
    for parameters in (PolicyParameters(4, {"2": 2}), PolicyParameters(4), None):
        fixture.settings.manager.set_policy(Policy.BUDGET, parameters)
        fixture.settle()
        for _ in range(2):
            app.loads(MEDIUM)
        app.asks(SMALL).receives(PARKED)
    for parameters in (PolicyParameters(2), None):
        fixture.settings.manager.set_policy(Policy.BUDGET, parameters)
    fixture.settle()
    app.loads(LARGE)


@cases.case("unknown_keys_add_no_size", "NPU-POL-009", "NPU-REQ-010")
def unknown_keys_add_no_size(context: CaseContext) -> None:
    """A weight for a size that does not exist does not make that size exist."""
    for size in (3, -1, 1000):
        fixture = ManagerFixture(context, parameters=PolicyParameters(None, {str(size): 1}))
        app = fixture.app()
        request = ModelLoadRequest(1, size)
        checks.raises(partial(app.client.request, request), IllegalArgument, f"request of size {size}")
        app.loads(LARGE)


@cases.case("replaced_budget_is_empty", "NPU-LIF-022", "NPU-POL-010")
def replaced_budget_is_empty(context: CaseContext) -> None:
    """A new budget begins empty, and late notifications of the old one's requests take nothing of it."""
    fixture = ManagerFixture(context)
    app = fixture.app()
    held, pending = app.loads(ModelSize.BETWEEN_1GB_AND_2GB), app.granted(ModelSize.BETWEEN_1GB_AND_2GB)
    fixture.settings.manager.set_policy(Policy.BUDGET, None)
    fixture.settle()
    again = app.granted(LARGE)
    pending.load()
    held.unload()
    again.receives(GRANT)
    app.asks(SMALL).receives(PARKED)
    again.unload()
    app.asks(ModelSize.BETWEEN_1GB_AND_2GB).receives(GRANT)
    app.asks(SMALL).receives(GRANT)


def _expect_rejected(fixture: ManagerFixture, parameters: PolicyParameters, what: str) -> None:
    setting = partial(fixture.settings.manager.set_policy, Policy.BUDGET, parameters)
    checks.raises(setting, IllegalArgument, f"setPolicy(BUDGET) with {what}")


_REIGNS = (Policy.STATUS_QUO, Policy.TURN_TAKING, Policy.BUDGET)


@cases.case("importance_from_before", "NPU-PRI-002", "NPU-POL-013", "NPU-POL-015")
def importance_from_before(context: CaseContext) -> None:
    """A policy ranks apps by what became of them under the one before, whichever that was."""
    for before in _REIGNS:
        fixture = ManagerFixture(context, before)
        rising, sinking = fixture.app(Importance.CACHED), fixture.app(Importance.FOREGROUND)
        for app in (rising, sinking):
            app.asks(SMALL).is_answered()
        rising.moves(Importance.VISIBLE)
        sinking.moves(Importance.SERVICE)
        fixture.settings.manager.set_policy(Policy.BUDGET, None)
        held, wanted = sinking.loads(LARGE), rising.asks(LARGE)
        held.receives(GRANT, UNLOAD)
        wanted.receives(WAIT)
        held.unload()
        wanted.receives(WAIT, GRANT)
        sinking.asks(LARGE).receives(PARKED)


@cases.case("declarations_from_before", "NPU-PRI-014", "NPU-PRI-013")
def declarations_from_before(context: CaseContext) -> None:
    """In the public page's profile a policy ranks apps by what updates have declared under the one before."""
    need_ranking_of(context, "page")
    for before in _REIGNS:
        fixture = ManagerFixture(context, before)
        losing, gaining = fixture.app(Importance.VISIBLE), fixture.app(Importance.SERVICE, declares=False)
        for app in (losing, gaining):
            app.asks(SMALL).is_answered()
        fixture.control.update_app(losing.uid, False, 36)
        fixture.control.update_app(gaining.uid, True, 37)
        fixture.settle()
        fixture.settings.manager.set_policy(Policy.BUDGET, None)
        held, wanted = losing.loads(LARGE), gaining.asks(LARGE)
        held.receives(GRANT, UNLOAD)
        wanted.receives(WAIT)
