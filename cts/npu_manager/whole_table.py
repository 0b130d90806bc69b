"""The table that a connecting HAL gets: whole, with those too who count as little as one that the HAL does not know."""

from __future__ import annotations

from collections.abc import Iterable

from npu_conformance.cts.lib.manager_fixture import ClientApp, ManagerFixture
from npu_conformance.cts.lib.scheduling_hal import RecordingHal, next_hal, recording_hal
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.types import ATTRIBUTION_PERMISSION, BLOCKING_SDK, MAX_PRIORITY, Importance

cases = CaseGroup("cts.npu_manager.priority", interface="manager", group=Group.MANAGER_PRIORITIES)

_CACHED, _GONE = Importance.CACHED, Importance.GONE
_RIGHTS_BY_DEFAULT = (True, False)
"""Direct access, and no attribution: what a HAL gives a uid that it does not know (NPU-HAL-007)."""


@cases.case("weakest_in_the_table", "NPU-PRI-006", "NPU-PRI-011", "NPU-PRI-009")
def weakest_in_the_table(context: CaseContext) -> None:
    """Who counts 1000, and has other rights than a uid that the HAL does not know, is in the table of each HAL.

    Those are apps that may attribute work, and those that a manager blocks.
    """
    fixture = ManagerFixture(context)
    holder, plain = fixture.app(_CACHED), fixture.app(_CACHED)
    fixture.control.grant_permission(holder.uid, ATTRIBUTION_PERMISSION, True)
    with recording_hal(fixture) as first:
        blocked = fixture.app(_GONE, declares=False, target_sdk=BLOCKING_SDK)
        for app in (holder, plain):
            app.moves(_GONE)
            first.expect(app.uid, MAX_PRIORITY)
        _judge_attribution(first, holder)
        told = {app.uid: _rights(first, app) for app in (holder, plain, blocked)}
    for _ in range(2):
        with next_hal(fixture) as later:
            _judge_table(later, (holder, plain, blocked), told)
            _judge_attribution(later, holder)


def _judge_table(hal: RecordingHal, apps: Iterable[ClientApp], told: dict[int, tuple[bool, bool]]) -> None:
    """A HAL that comes has learnt of these apps what the one before it knew; the defaults need not be told."""
    for app in apps:
        hal.expect(app.uid, MAX_PRIORITY)
        missing = app.uid not in hal.table and told[app.uid] != _RIGHTS_BY_DEFAULT
        what = f"config of uid {app.uid} in the table of a new HAL, whose priority is {MAX_PRIORITY}"
        checks.that(not missing, f"{what}: expected one, found none")
        checks.equal(_rights(hal, app), told[app.uid], f"{what}: direct access and attribution")


@checks.about("NPU-PRI-011")
def _judge_attribution(hal: RecordingHal, app: ClientApp) -> None:
    checks.equal(_rights(hal, app)[1], True, f"attribution of uid {app.uid}, which may, at priority {MAX_PRIORITY}")


def _rights(hal: RecordingHal, app: ClientApp) -> tuple[bool, bool]:
    """Direct access and attribution of an app, by the table or by default."""
    found = hal.table.get(app.uid)
    return _RIGHTS_BY_DEFAULT if found is None else (found.has_direct_access, found.can_attribute_other_uid)
