"""On which device work runs that names none."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.workload import InferenceRun
from npu_conformance.vts.lib.npu_scheduling.apps import App
from npu_conformance.vts.lib.npu_scheduling.fixture import SchedulingFixture, scheduling_fixture

cases = CaseGroup("vts.npu_scheduling.work", interface="scheduling", group=Group.SCHEDULING_EVENTS)

_NO_DEVICE = 2**20


@cases.case("same_default_device", "NPU-HAL-032")
def same_default_device(context: CaseContext) -> None:
    """Work that names no device best has no other one than before because somebody has named a device meanwhile.

    A HAL may choose as it likes, also the one that is idle, or one after the other.
    """
    with scheduling_fixture(context) as npu:
        npu.need_virtual_clock()  # in real time so many runs take a while
        apps = [npu.app(npu.camera), npu.app(npu.assistant)]
        npu.register_recorder()
        usual = set().union(*(_devices_of(npu, app) for app in (*apps, *apps)))
        if len(usual) > 1:
            raise NotApplicable("work that names no device has several")
        if not apps[0].ends(InferenceRun(device_number=1)):
            raise NotApplicable("there is one device")
        found = [devices for app in apps for devices in _behind_named_devices(npu, app, apps)]
        if any(devices != usual for devices in found):
            context.warn_quality(f"work that names no device has device {usual} first, and later {found}")


def _behind_named_devices(npu: SchedulingFixture, named: App, apps: list[App]) -> Iterator[set[int]]:
    """The devices of work that names none, behind each work of an app that names one, be there such a device or not."""
    for number in (1, _NO_DEVICE, 0):
        if number == _NO_DEVICE:
            named.is_rejected(InferenceRun(device_number=number))
        else:
            _devices_of(npu, named, number)
        yield from (_devices_of(npu, app) for app in apps)


def _devices_of(npu: SchedulingFixture, app: App, number: int | None = None) -> set[int]:
    """The device numbers in the events of a run."""
    seen = len(app.events())
    app.works(InferenceRun(device_number=number))
    npu.settle()
    npu.first_event(app, seen)
    return {event.work.device_number for event in app.events()[seen:]}
