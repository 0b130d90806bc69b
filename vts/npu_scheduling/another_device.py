"""The cases of work once more, with all of it on the second device, which has its own queue, checkpoints and ends."""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import Case, CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.specs.npu.workload import InferenceRun
from npu_conformance.vts.lib.npu_scheduling.fixture import on_device, scheduling_fixture
from npu_conformance.vts.npu_scheduling import effects, ends, preemption, preemption_by_configs, priority, rights, work

cases = CaseGroup("vts.npu_scheduling.another_device", interface="scheduling")

_DEVICE = 1
_OF_NO_DEVICE = (
    "ends.nothing_to_cancel", "preemption.on_each_device", "work.device_not_negative", "work.devices_consecutive",
)  # fmt: skip
"""Cases that name devices themselves, or that do no work."""
_has_another: WeakKeyDictionary[SubjectHandle, bool] = WeakKeyDictionary()
"""Whether a subject does work for the second device: it is asked once, since in real time that takes a second."""


def _of_work() -> Iterator[tuple[str, Case]]:
    """The cases whose work may be on any device, by their names behind the area's."""
    for module in (effects, ends, preemption, preemption_by_configs, priority, rights, work):
        for case in module.cases():
            name = case.id.removeprefix("vts.npu_scheduling.")
            if name not in _OF_NO_DEVICE:
                yield name, case


def _declare(name: str, case: Case) -> None:
    def elsewhere(context: CaseContext) -> None:
        _need_another(context)
        with on_device(_DEVICE):
            case.run(context)

    elsewhere.__doc__ = f"On the second device: {case.description}"
    cases.case(name, *case.requirements, "NPU-HAL-032", since=case.since, until=case.until, group=case.group)(elsewhere)


def _need_another(context: CaseContext) -> None:
    if context.subject not in _has_another:
        with scheduling_fixture(context) as npu:
            _has_another[context.subject] = npu.app(npu.camera).ends(InferenceRun(device_number=_DEVICE))
    if not _has_another[context.subject]:
        raise NotApplicable("there is one device")


for _name, _case in _of_work():
    _declare(_name, _case)
