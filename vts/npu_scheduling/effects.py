"""What configs do: the priority of a uid shows in the events of its work (NPU-HAL-008)."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.types import (
    DEBOUNCE_DURATION_MS,
    MAX_PRIORITY,
    ROOT_UID,
    SHELL_UID,
    SYSTEM_UID,
    SchedulingConfig,
)
from npu_conformance.specs.npu.workload import InferenceRun
from npu_conformance.vts.lib.npu_scheduling.apps import App
from npu_conformance.vts.lib.npu_scheduling.fixture import GALLERY, SchedulingFixture, config, scheduling_fixture
from npu_conformance.vts.lib.npu_scheduling.scenario import UIDS_OF_A_USER

cases = CaseGroup("vts.npu_scheduling.effects", interface="scheduling", group=Group.SCHEDULING_DECISIONS)

DEFAULT = MAX_PRIORITY
_CROWD = 30_000
"""The first of many uids that do nothing."""
_ISOLATED = 99_001
"""A uid of a process that Android isolates from its app."""
_FURTHER = (0, 2**8, 10_000, 2**15, 2**16, 100_000, 1_000_000, 2**24, 2**30, 2**20)
"""Uids of other users, and those whose lower bits are the same."""


def _priority(npu: SchedulingFixture, uid: int) -> int:
    """Priority of a uid as the HAL knows it: the effective one of a job that adds nothing."""
    app = npu.app(uid)
    npu.register_recorder()
    seen = len(app.events())
    app.works(InferenceRun(job_priority=0))
    return npu.first_event(app, seen).work.effective_priority


def _expect(npu: SchedulingFixture, **priorities: int) -> None:
    for name, priority in priorities.items():
        uid = getattr(npu, name)
        checks.equal(_priority(npu, uid), priority, f"priority of uid {uid}")
        npu.settle()


@cases.case("set", "NPU-HAL-008")
def set_works(context: CaseContext) -> None:
    """A config that is set is in force."""
    with scheduling_fixture(context) as npu:
        npu.configure(config(npu.camera, 100))
        _expect(npu, camera=100)


@cases.case("set_replaces", "NPU-HAL-001")
def set_replaces(context: CaseContext) -> None:
    """Setting configs discards those set before: a uid that is not named any more has the default."""
    with scheduling_fixture(context) as npu:
        npu.configure(config(npu.camera, 100), config(npu.assistant, 200))
        npu.configure(config(npu.assistant, 300))
        _expect(npu, camera=DEFAULT, assistant=300)


@cases.case("set_replaces_updates", "NPU-HAL-001")
def set_replaces_updates(context: CaseContext) -> None:
    """Setting configs also discards those that were updated before."""
    with scheduling_fixture(context) as npu:
        npu.update(config(npu.camera, 100))
        npu.configure(config(npu.assistant, 300))
        _expect(npu, camera=DEFAULT, assistant=300)


@cases.case("set_empty_clears", "NPU-HAL-002")
def set_empty_clears(context: CaseContext) -> None:
    """Setting an empty list clears all configs."""
    with scheduling_fixture(context) as npu:
        npu.configure(config(npu.camera, 100))
        npu.configure()
        _expect(npu, camera=DEFAULT)


@cases.case("set_during_work", "NPU-HAL-001", "NPU-HAL-002", "NPU-HAL-003")
def set_during_work(context: CaseContext) -> None:
    """What is set or updated while a uid has work counts for its later work, like what is set at rest."""
    with scheduling_fixture(context) as npu:
        camera = npu.app(npu.camera)
        changes: tuple[tuple[Callable[[], None], int], ...] = (
            (npu.configure, DEFAULT),
            (lambda: npu.configure(config(npu.camera, 300)), 300),
            (lambda: npu.update(config(npu.camera, 200)), 200),
        )
        for change, expected in changes:
            npu.configure(config(npu.camera, 100))
            run = camera.start()
            npu.pass_ms(15)
            npu.need_running(run)
            change()
            npu.settle()
            _expect(npu, camera=expected)


@cases.case("changed_before_the_end_is_told", "NPU-HAL-008", "NPU-HAL-024")
def changed_before_the_end_is_told(context: CaseContext) -> None:
    """While the debounce time withholds an end configs may change: it has the priority of its work all the same."""
    with scheduling_fixture(context) as npu:
        camera = npu.app(npu.camera)
        _changes_behind_work(npu, camera, InferenceRun(job_priority=50), config(camera.uid, 100))


@cases.case("changed_before_the_end_for_another", "NPU-HAL-008", "NPU-HAL-014", "NPU-HAL-024")
def changed_before_the_end_for_another(context: CaseContext) -> None:
    """So it has where the work was done for another uid, whose config changes, or the submitter's."""
    with scheduling_fixture(context) as npu:
        camera = npu.app(npu.camera)
        for original in (config(npu.assistant, 300), config(npu.gallery, 500)):
            others = (config(camera.uid, 100, attribute=True), original)
            _changes_behind_work(npu, camera, InferenceRun(50, npu.assistant), *others)


def _changes_behind_work(npu: SchedulingFixture, app: App, run: InferenceRun, *configs: SchedulingConfig) -> None:
    """Work under these configs, change them within the debounce time, and see that the end has what the request had."""
    npu.need_virtual_clock()
    npu.register_recorder()
    weaker = tuple(replace(one, priority=one.priority + 400) for one in configs)
    changes: dict[str, Callable[[], None]] = {
        "all are updated": lambda: npu.update(*weaker),
        "the last one is updated": lambda: npu.update(weaker[-1]),
        "all are replaced": lambda: npu.configure(*weaker),
        "all are cleared": npu.configure,
    }
    for change, do in changes.items():
        npu.configure(*configs)
        seen = len(app.events())
        app.works(run, step_ms=1)
        npu.pass_ms(DEBOUNCE_DURATION_MS // 2)
        do()
        npu.settle()
        requested = npu.first_event(app, seen)
        for event in app.events()[seen + 1 :]:
            what = f"effective priority, with {event.notification}, of work behind whose end configs changed: {change}"
            checks.equal(event.work.effective_priority, requested.work.effective_priority, what)


@cases.case("update_keeps_others", "NPU-HAL-003")
def update_keeps_others(context: CaseContext) -> None:
    """Updating one uid leaves the configs of the others."""
    with scheduling_fixture(context) as npu:
        npu.configure(config(npu.camera, 100), config(npu.assistant, 200))
        npu.update(config(npu.assistant, 300))
        _expect(npu, camera=100, assistant=300)


@cases.case("update_replaces", "NPU-HAL-003")
def update_replaces(context: CaseContext) -> None:
    """Updating a uid replaces its priority, stronger and weaker."""
    with scheduling_fixture(context) as npu:
        npu.configure(config(npu.camera, 500))
        for priority in (100, 700):
            npu.update(config(npu.camera, priority))
            _expect(npu, camera=priority)


@cases.case("update_adds", "NPU-HAL-003")
def update_adds(context: CaseContext) -> None:
    """Updating a uid without config gives it one."""
    with scheduling_fixture(context) as npu:
        npu.update(config(npu.camera, 100))
        _expect(npu, camera=100)


@cases.case("update_empty_keeps", "NPU-HAL-003")
def update_empty_keeps(context: CaseContext) -> None:
    """Updating with an empty list changes nothing."""
    with scheduling_fixture(context) as npu:
        npu.configure(config(npu.camera, 100))
        npu.update()
        _expect(npu, camera=100)


def _declare_rejected(call: str, why: str, *wrong: SchedulingConfig) -> None:
    @cases.case(f"rejected_{call}_{why}", "NPU-HAL-006")
    def rejected(context: CaseContext) -> None:
        """A call that is rejected for one config changes nothing, not even for those before it."""
        with scheduling_fixture(context) as npu:
            npu.configure(config(npu.camera, 100))
            scheduling = npu.scheduling
            calls: dict[str, Callable[..., None]] = {
                "set": scheduling.set_scheduling_configs,
                "update": scheduling.update_scheduling_configs,
            }
            given = (config(npu.camera, 600), config(npu.assistant, 200), *wrong)
            checks.raises(lambda: calls[call](given), IllegalArgument, f"{call} of a wrong config")
            _expect(npu, camera=100, assistant=DEFAULT)


for _call in ("set", "update"):
    _declare_rejected(_call, "priority", config(GALLERY, 1001))
    _declare_rejected(_call, "duplicate", config(GALLERY, 7), config(GALLERY, 7))


@cases.case("without_config", "NPU-HAL-007")
def without_config(context: CaseContext) -> None:
    """A uid without config has the weakest priority and direct access."""
    with scheduling_fixture(context) as npu:
        _expect(npu, camera=DEFAULT)


@cases.case("without_config_no_attribution", "NPU-HAL-007", "NPU-HAL-012")
def without_config_no_attribution(context: CaseContext) -> None:
    """A uid without config may not work for another."""
    with scheduling_fixture(context) as npu:
        npu.app(npu.camera).is_rejected(InferenceRun(original_uid=42))


@cases.case("priority_changes", "NPU-HAL-003")
def priority_changes(context: CaseContext) -> None:
    """An app that goes to the background is weaker from its next work on, without any restart."""
    with scheduling_fixture(context) as npu:
        for priority in (100, 400, 100):
            npu.update(config(npu.camera, priority))
            _expect(npu, camera=priority)


@cases.case("any_uid", "NPU-HAL-003", "NPU-HAL-007", "NPU-HAL-008")
def any_uid(context: CaseContext) -> None:
    """Each uid has its own config, also where two are alike in their lower digits or bits."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()  # in real time so many runs take a while
        uids = [npu.camera + further for further in _FURTHER]
        priorities = {uid: 100 + index for index, uid in enumerate(uids[:-1])}
        npu.configure(*(config(uid, priority) for uid, priority in priorities.items()))
        for uid in uids:
            checks.equal(_priority(npu, uid), priorities.get(uid, DEFAULT), f"priority of uid {uid}")
            npu.settle()


@cases.case("any_uid_without_config", "NPU-HAL-007")
def any_uid_without_config(context: CaseContext) -> None:
    """Without a config every uid has the weakest priority: root, the system and the shell as well."""
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()  # in real time so many runs take a while
        npu.configure(config(npu.camera, 100))
        for uid in (ROOT_UID, SYSTEM_UID, SHELL_UID, UIDS_OF_A_USER, UIDS_OF_A_USER + SYSTEM_UID, _ISOLATED):
            checks.equal(_priority(npu, uid), DEFAULT, f"priority of uid {uid}, which has no config")
            npu.settle()


@cases.case("own_bounds_are_bounds", "NPU-HAL-008", "NPU-HAL-036", "NPU-HAL-007")
def own_bounds_are_bounds(context: CaseContext) -> None:
    """In the public page's profile the priority counts, not the bounds around it; and none of them once it is gone."""
    with scheduling_fixture(context) as npu:
        npu.need_profile_of_page()
        for least, priority, most in ((200, 600, 700), (0, 1, 900), (300, 300, 300)):
            npu.configure(SchedulingConfig(npu.camera, priority, True, False, least, most))
            _expect(npu, camera=priority)
            npu.configure()
            _expect(npu, camera=DEFAULT)


@cases.case("many_at_once", "NPU-HAL-003", "NPU-HAL-001")
def many_at_once(context: CaseContext) -> None:
    """Of very many configs in one call each is in force, the last as well as the first."""
    with scheduling_fixture(context) as npu:
        uids = [*range(_CROWD, _CROWD + 700), npu.camera, npu.assistant]
        for call, further in ((npu.update, 0), (npu.configure, 1), (npu.update, 2)):
            call(*(config(uid, (uid + further) % 1000) for uid in uids))
            _expect(npu, camera=(npu.camera + further) % 1000, assistant=(npu.assistant + further) % 1000)


@cases.case("many_one_by_one", "NPU-HAL-003", "NPU-HAL-011")
def many_one_by_one(context: CaseContext) -> None:
    """Configs stay in force however many other uids are given theirs later, one after the other."""
    with scheduling_fixture(context) as npu:
        npu.configure(config(npu.camera, 300, direct=False), config(npu.assistant, 200))
        for uid in range(_CROWD, _CROWD + 1100):
            npu.update(config(uid, 500))
        npu.update(config(npu.gallery, 100))
        npu.app(npu.camera).is_rejected()
        _expect(npu, assistant=200, gallery=100)
