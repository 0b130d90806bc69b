"""What a dump has to say at each moment of a random scenario (NPU-OBS-001, -003)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from npu_conformance.cts.lib import manager_dump
from npu_conformance.cts.lib.manager_client import package_of
from npu_conformance.cts.lib.manager_dump import ManagerDump
from npu_conformance.harness.judge.callback_order import Broken
from npu_conformance.harness.judge.manager_events import PARKED
from npu_conformance.harness.judge.manager_model import ManagerModel
from npu_conformance.harness.judge.tracked_request import TrackedRequest
from npu_conformance.specs.npu.types import MAX_PRIORITY, Policy, SchedulingConfig


class DumpJudge:
    """Compares dumps with what is known of apps, and learns which words stand for which states of requests."""

    def __init__(self) -> None:
        self._states: dict[str, str] = {}

    def problems(
        self,
        text: str,
        model: ManagerModel,
        uids: list[int],
        at_hal: Mapping[int, SchedulingConfig] | None,
        ranks: Mapping[int, int] | None,
    ) -> Iterator[Broken]:
        """Name what is wrong, by requirement.

        at_hal: the HAL's table; None where it need not be that of the manager. ranks: the importances of apps that
        declare the feature; None where they may count otherwise.
        """
        dump = manager_dump.read(text)
        yield from _wrong_policy(dump, model)
        if model.gates:
            for uid in uids:
                late = sum(each.uid == uid and each.overdue and not each.completed for each in model.requests)
                yield from self._wrong_requests(dump, uid, [each for each in model.live if each.uid == uid], late)
        yield from _wrong_priorities(dump, uids, at_hal, ranks or {})

    def _wrong_requests(self, dump: ManagerDump, uid: int, live: list[TrackedRequest], late: int) -> Iterator[Broken]:
        """Each has a line; states tell what is loaded from what is not, and parked requests from others.

        late: how many are overdue, and were not completed: they may have lines (NPU-LIF-027).
        """
        lines = [each.rest for each in dump.requests if (each.uid, each.package) == (uid, package_of(uid))]
        due = Counter(map(_kind, live))
        if len(live) < len(lines) <= len(live) + late:
            return
        if len(lines) != len(live):
            yield "NPU-OBS-001", f"{len(lines)} requests of uid {uid}, expected {len(live)}"
        elif len(due) == 1:  # each state of these means this
            (kind,) = due
            wrong = [state for state in lines if self._states.setdefault(state, kind) != kind]
            words = f"a request of uid {uid} that is {kind} is"
            yield from (("NPU-OBS-001", f"{words} {state}, as others") for state in wrong)
        elif all(state in self._states for state in lines):
            found = Counter(self._states[state] for state in lines)
            if found != due:
                yield "NPU-OBS-001", f"states of uid {uid} that mean {dict(found)}, expected {dict(due)}"


def _kind(tracked: TrackedRequest) -> str:
    if tracked.loaded:
        return "loaded"
    return "parked" if tracked.decision == PARKED[1] else "to be loaded"


def _wrong_policy(dump: ManagerDump, model: ManagerModel) -> Iterator[Broken]:
    if dump.policy is not model.policy:
        yield "NPU-OBS-001", f"{_named(dump.policy)}, expected {_named(model.policy)}"
    if model.gates and dump.maximum != model.maximum:
        yield "NPU-OBS-001", f"maximum {dump.maximum}, expected {model.maximum}"


def _named(policy: Policy | None) -> str:
    return "no policy" if policy is None else f"policy {policy.name}"


def _wrong_priorities(
    dump: ManagerDump, uids: list[int], at_hal: Mapping[int, SchedulingConfig] | None, ranks: Mapping[int, int]
) -> Iterator[Broken]:
    """The table ascends, follows importances (NPU-PRI-002), and is the one that the HAL has.

    To the HAL the weakest may be unknown (NPU-HAL-007).
    """
    priorities = [line.priority for line in dump.priorities if line.priority is not None]
    if priorities != sorted(priorities):
        yield "NPU-OBS-001", f"order of the priorities: expected an ascending one, found {priorities}"
    misnamed = (each for each in dump.priorities if each.uid in uids and each.package != package_of(each.uid))
    yield from (("NPU-OBS-001", f"uid {each.uid} as {each.package!r}") for each in misnamed)
    known = {line.uid: line.priority for line in dump.priorities}
    for uid, rank in ranks.items():
        if known.get(uid) != rank:
            yield "NPU-PRI-002", f"{_spelled(known.get(uid))} of uid {uid}, whose importance counts {rank}"
    for uid in uids if at_hal is not None else ():
        expected = at_hal[uid].priority if at_hal and uid in at_hal else None
        if known.get(uid) != expected and {known.get(uid), expected} != {None, MAX_PRIORITY}:
            what = f"{_spelled(known.get(uid))} of uid {uid}, which the HAL has with {_spelled(expected)}"
            yield "NPU-OBS-001", what


def _spelled(priority: int | None) -> str:
    return "no priority" if priority is None else f"priority {priority}"
