"""Who may work: direct access and attribution, by the config of the submitter (NPU-HAL-011, -012)."""

from __future__ import annotations

from collections.abc import Callable

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.types import ROOT_UID, SHELL_UID, SYSTEM_UID
from npu_conformance.specs.npu.workload import InferenceRun
from npu_conformance.vts.lib.npu_scheduling.events import UNDISTURBED
from npu_conformance.vts.lib.npu_scheduling.fixture import config, scheduling_fixture

cases = CaseGroup("vts.npu_scheduling.rights", interface="scheduling", group=Group.SCHEDULING_DECISIONS)

_SOMEBODY = 42
"""A uid without app and config; AOSP's tests use it, too."""
_SOME_APP = 10_298
"""The uid of an app that no case runs."""


@cases.case("no_direct_access", "NPU-HAL-011", scope=Scope.SMOKE)
def no_direct_access(context: CaseContext) -> None:
    """A uid whose config denies direct access cannot work (AOSP: RunInferenceFailsWithoutDirectAccess)."""
    with scheduling_fixture(context) as npu:
        npu.configure(config(npu.camera, 500, direct=False))
        npu.app(npu.camera).is_rejected()


@cases.case("direct_access_returns", "NPU-HAL-011", "NPU-HAL-003")
def direct_access_returns(context: CaseContext) -> None:
    """Direct access that is given again counts from the next work on."""
    with scheduling_fixture(context) as npu:
        camera = npu.app(npu.camera)
        npu.configure(config(npu.camera, 500, direct=False))
        camera.is_rejected()
        npu.update(config(npu.camera, 500))
        camera.works()


@cases.case("direct_access_withdrawn", "NPU-HAL-011")
def direct_access_withdrawn(context: CaseContext) -> None:
    """A run that loses direct access midway goes on to its end or fails: it does not succeed with work left undone."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()
        camera = npu.app(npu.camera)
        npu.configure(config(npu.camera, 500))
        camera.works()
        whole_ms = npu.passed_ms
        run = camera.start()
        npu.pass_ms(whole_ms // 4)
        npu.need_running(run)
        npu.update(config(npu.camera, 500, direct=False))
        succeeded = npu.end_of(run)
        took_ms = npu.passed_ms - whole_ms
        what = f"success of a run of {whole_ms} ms after {took_ms} ms, a quarter with direct access"
        checks.that(not succeeded or took_ms > whole_ms / 2, f"{what}: expected failure, or its full time")
        camera.is_rejected()


@cases.case("direct_access_withdrawn_during_work", "NPU-HAL-011")
def direct_access_withdrawn_during_work(context: CaseContext) -> None:
    """A uid that loses direct access while it has work submits no more, though that work may go on."""
    with scheduling_fixture(context) as npu:
        camera = npu.app(npu.camera)
        npu.configure(config(npu.camera, 500))
        run = camera.start()
        npu.pass_ms(15)
        npu.need_running(run)
        npu.update(config(npu.camera, 500, direct=False))
        camera.is_rejected()


@cases.case("direct_access_by_uid", "NPU-HAL-011")
def direct_access_by_uid(context: CaseContext) -> None:
    """Direct access that is denied to one uid is not denied to another."""
    with scheduling_fixture(context) as npu:
        npu.configure(config(npu.camera, 500, direct=False), config(npu.assistant, 500))
        npu.app(npu.assistant).works()
        npu.app(npu.camera).is_rejected()


@cases.case("rights_of_the_platform", "NPU-HAL-011", "NPU-HAL-012")
def rights_of_the_platform(context: CaseContext) -> None:
    """Configs that deny rights count for root, the system and the shell as for any app."""
    with scheduling_fixture(context) as npu:
        if context.manifest.inference_tool is not None and context.manifest.inference_tool.uid is not None:
            raise NotApplicable("the inference tool has one uid")
        for uid in (ROOT_UID, SYSTEM_UID, SHELL_UID):
            app = npu.app(uid)
            npu.configure(config(uid, 500, direct=False))
            app.is_rejected()
            npu.update(config(uid, 500))
            app.is_rejected(InferenceRun(original_uid=_SOMEBODY))
            app.works()


@cases.case("refusal_is_silent", "NPU-HAL-011", "NPU-HAL-012", "NPU-HAL-019")
def rejection_is_silent(context: CaseContext) -> None:
    """Work that is rejected was never requested, started or ended: no event reports it."""
    with scheduling_fixture(context) as npu:
        camera = npu.app(npu.camera)
        npu.register_recorder()
        npu.configure(config(npu.camera, 500, direct=False))
        camera.is_rejected()
        npu.configure(config(npu.camera, 500))
        camera.is_rejected(InferenceRun(original_uid=_SOMEBODY))
        npu.settle()
        npu.expect(camera)


@cases.case("no_attribution", "NPU-HAL-012", scope=Scope.SMOKE)
def no_attribution(context: CaseContext) -> None:
    """A uid that may not attribute cannot work for another (AOSP: RunInferenceFailsWithoutAttributeOtherUid)."""
    with scheduling_fixture(context) as npu:
        npu.configure(config(npu.camera, 500))
        npu.app(npu.camera).is_rejected(InferenceRun(original_uid=_SOMEBODY))


@cases.case("default_attributes_nothing", "NPU-HAL-007", "NPU-HAL-012")
def default_attributes_nothing(context: CaseContext) -> None:
    """A uid without config, be it root or the system, works for itself and not for another."""
    with scheduling_fixture(context) as npu:
        has_one_uid = context.manifest.inference_tool is not None and context.manifest.inference_tool.uid is not None
        for uid in (npu.camera,) if has_one_uid else (npu.camera, ROOT_UID, SYSTEM_UID):
            app = npu.app(uid)
            app.is_rejected(InferenceRun(original_uid=_SOMEBODY))
            app.works()


@cases.case("no_attribution_to_anybody", "NPU-HAL-012")
def no_attribution_to_anybody(context: CaseContext) -> None:
    """A uid that may not attribute cannot work for anybody else, be it root, the system, or an app."""
    with scheduling_fixture(context) as npu:
        npu.configure(config(npu.camera, 500))
        for uid in (ROOT_UID, SYSTEM_UID, _SOMEBODY, _SOME_APP):
            npu.app(npu.camera).is_rejected(InferenceRun(original_uid=uid))


@cases.case("rights_end_with_the_config", "NPU-HAL-001", "NPU-HAL-002", "NPU-HAL-007", "NPU-HAL-012")
def rights_end_with_the_config(context: CaseContext) -> None:
    """What a config allowed or denied ends with it, whether it is replaced, left out, or cleared with all others."""
    with scheduling_fixture(context) as npu:
        camera = npu.app(npu.camera)
        ends: tuple[Callable[[], None], ...] = (
            lambda: npu.update(config(npu.camera, 500)),
            lambda: npu.configure(config(_SOME_APP, 500)),
            npu.configure,
        )
        for end in ends:
            npu.configure(config(npu.camera, 500, attribute=True))
            camera.works(InferenceRun(original_uid=_SOMEBODY))
            end()
            camera.is_rejected(InferenceRun(original_uid=_SOMEBODY))
            npu.configure(config(npu.camera, 500, direct=False))
            camera.is_rejected()
            end()
            camera.works()


@cases.case("attribution", "NPU-HAL-012", "NPU-HAL-015", "NPU-HAL-039")
def attribution(context: CaseContext) -> None:
    """A uid that may attribute works for another: events name both, the submitter as uid."""
    with scheduling_fixture(context) as npu:
        camera = npu.app(npu.camera)
        npu.configure(config(npu.camera, 500, attribute=True))
        npu.register_recorder()
        camera.works(InferenceRun(original_uid=_SOMEBODY))
        npu.settle()
        npu.expect(camera, *UNDISTURBED)
        for event in camera.events():
            checks.equal(event.work.original_uid, _SOMEBODY, f"original uid in the {event.event_type} event")


@cases.case("attribution_ends", "NPU-HAL-012", "NPU-HAL-003")
def attribution_ends(context: CaseContext) -> None:
    """The right to attribute ends with the config that gave it."""
    with scheduling_fixture(context) as npu:
        camera = npu.app(npu.camera)
        npu.configure(config(npu.camera, 500, attribute=True))
        camera.works(InferenceRun(original_uid=_SOMEBODY))
        npu.update(config(npu.camera, 500))
        camera.is_rejected(InferenceRun(original_uid=_SOMEBODY))


@cases.case("own_uid_needs_no_right", "NPU-HAL-012", "NPU-HAL-013", group=Group.SCHEDULING_VALIDATION)
def own_uid_needs_no_right(context: CaseContext) -> None:
    """Naming oneself as the original uid is no attribution."""
    with scheduling_fixture(context) as npu:
        npu.configure(config(npu.camera, 500))
        npu.app(npu.camera).works(InferenceRun(original_uid=npu.camera))


@cases.case("right_of_the_submitter", "NPU-HAL-012")
def right_of_the_submitter(context: CaseContext) -> None:
    """The submitter has to have the right; that of the uid it works for does not help."""
    with scheduling_fixture(context) as npu:
        npu.configure(config(npu.camera, 500), config(npu.assistant, 500, attribute=True))
        npu.app(npu.camera).is_rejected(InferenceRun(original_uid=npu.assistant))


@cases.case("intermediary", "NPU-HAL-011", "NPU-HAL-012", group=Group.SCHEDULING_VALIDATION)
def intermediary(context: CaseContext) -> None:
    """A service with access and attribution may work for an app that has no direct access."""
    with scheduling_fixture(context) as npu:
        npu.configure(config(npu.camera, 500, attribute=True), config(_SOMEBODY, 500, direct=False))
        npu.app(npu.camera).works(InferenceRun(original_uid=_SOMEBODY))


@cases.case("attribution_is_no_access", "NPU-HAL-011")
def attribution_is_no_access(context: CaseContext) -> None:
    """The right to attribute does not stand for direct access."""
    with scheduling_fixture(context) as npu:
        npu.configure(config(npu.camera, 500, direct=False, attribute=True))
        npu.app(npu.camera).is_rejected()


@cases.case("undeclared_app", "NPU-ACC-007", "NPU-HAL-011")
def undeclared_app(context: CaseContext) -> None:
    """The HAL's side of blocking undeclared apps: once an update denies access, work is rejected."""
    with scheduling_fixture(context) as npu:
        camera = npu.app(npu.camera)
        camera.works()
        npu.update(config(npu.camera, 100, direct=False))
        camera.is_rejected()


def _declare_job_priority(name: str, job_priority: int) -> None:
    @cases.case(f"job_priority_{name}", "NPU-HAL-034", group=Group.SCHEDULING_VALIDATION)
    def job_priority_outside(context: CaseContext) -> None:
        """No event has a job priority outside 0 to 1000: such work is rejected, or the number brought inside."""
        with scheduling_fixture(context) as npu:
            camera = npu.app(npu.camera)
            npu.register_recorder()
            camera.ends(InferenceRun(job_priority=job_priority))
            npu.settle()
            for event in camera.events():
                checks.that(0 <= event.work.job_priority <= 1000, f"job priority {event.work.job_priority} in an event")


for _name, _value in (("minus_1", -1), ("1001", 1001)):
    _declare_job_priority(_name, _value)
