"""What the metrics ought to say of each step of a random scenario (NPU-OBS-006)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from npu_conformance.cts.lib.scenario_step import Step
from npu_conformance.harness.judge.manager_events import CANCELLED
from npu_conformance.harness.judge.manager_model import ManagerModel
from npu_conformance.harness.judge.tracked_request import TrackedRequest
from npu_conformance.specs.npu.types import ATOMS_DUE, Atom, EndReason, ModelPriority, ModelSize, WorkInfo

Record = tuple[str, dict[str, int]]
_ENDS = {reason: number for number, reason in enumerate(EndReason, 3)}
_SIZES: dict[int, int] = {size: size + 1 for size in ModelSize}
_PRIORITIES: dict[int, int] = {ModelPriority.NORMAL: 1, ModelPriority.BACKGROUND: 2}
_KINDS = ("type", "state", "status")
"""The fields that tell kinds of a record apart."""
_JUDGED = ("ask", "load", "unload", "cancel", "move", "work", "serve")
"""Of other steps it is free what of all that they end is logged."""


class ExpectedRecords:
    """Knows which models are in memory, and what ought to be logged of a step. Further records are welcome."""

    def __init__(self) -> None:
        self._in_memory: set[TrackedRequest] = set()

    def missing(self, model: ManagerModel, step: Step, works: Sequence[WorkInfo], found: Sequence[Atom]) -> list[str]:
        """What records of this step were not found, and when such are due: the same words for the same cause."""
        expected = [*_asked(model, step), *_told(model), *self._loading(model), *_works(step, works)]
        rest = list(found)
        missing = []
        for name, values in expected if step.do in _JUDGED else ():
            same = next((each for each in rest if each.name == name and values.items() <= each.values.items()), None)
            if same is None:
                missing.append(_cause(name, values, rest))
            else:
                rest.remove(same)
        return missing

    def _loading(self, model: ManagerModel) -> Iterator[Record]:
        for tracked in model.requests:
            if tracked.loaded and not tracked.ended and tracked not in self._in_memory:
                self._in_memory.add(tracked)
                yield _of(tracked, "NpuModelLoadStateChanged", state=1)
            elif tracked.ended and tracked in self._in_memory:
                self._in_memory.remove(tracked)
                yield _of(tracked, "NpuModelLoadStateChanged", state=2)


def _cause(name: str, values: dict[str, int], found: Sequence[Atom]) -> str:
    """Which kind of record is not there, or what it says that it ought not to."""
    kind = "".join(f" of {field} {values[field]}" for field in _KINDS if field in values)
    same = [each.values for each in found if each.name == name and each.values.get("uid") == values["uid"]]
    wrong = sorted({field for each in same[:1] for field in values if each.get(field) != values[field]})
    other = f": another {' and '.join(wrong)} in its place" if wrong else ""
    return f"{name}{kind}, which is due {ATOMS_DUE[name]}{other}"


def _asked(model: ManagerModel, step: Step) -> Iterator[Record]:
    newest = model.requests[-1] if model.requests else None
    if newest is None or step.do != "ask" or newest.earlier_events or newest.uid != step.uid:
        return
    priority = 3 if step.priority == model.opportunistic else _PRIORITIES.get(step.priority)
    values = {"size": _SIZES.get(step.number), "priority": priority}
    known = {name: number for name, number in values.items() if number is not None}
    yield _of(newest, "NpuModelLoadRequested", **known)


def _told(model: ManagerModel) -> Iterator[Record]:
    for tracked in model.requests:
        for event in tracked.new_events:
            if event.kind == "decision" and event.status is not None:
                yield _of(tracked, "NpuModelLoadPolicyResponded", status=event.status + 1)
            elif event.notification == CANCELLED:
                yield _of(tracked, "NpuModelLoadRequestCancelled")


def _works(step: Step, works: Sequence[WorkInfo]) -> Iterator[Record]:
    reason = _ENDS[EndReason(step.number)] if step.do == "work" else _ENDS[EndReason.COMPLETED]
    for work, (kind, why) in zip(works, ((1, 0), (2, 1), (3, reason)), strict=False):
        values = {"uid": work.uid, "original_uid": work.original_uid, "debug_pid": work.debug_pid, "type": kind}
        values |= {"job_priority": work.job_priority, "effective_priority": work.effective_priority}
        values |= {"timestamp_ms": work.timestamp_ms, "device_number": work.device_number, "reason": why}
        yield "NpuWorkEventOccurred", values


def _of(tracked: TrackedRequest, name: str, **values: int) -> Record:
    return name, {"uid": tracked.uid, "id": tracked.request.id, **values}
