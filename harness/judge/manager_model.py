"""What must hold whatever happens: a small model of a manager's promises, judged from what its clients see.

It predicts no decision. It keeps what each client received and did. After each step, once everything has arrived, it
names each promise that is broken. So any policy may decide as it likes within the rules.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from npu_conformance.harness.judge.callback_order import Broken, out_of_order
from npu_conformance.harness.judge.manager_events import CANCELLED, GRANT, PARKED, WAIT, Event
from npu_conformance.harness.judge.tracked_request import TrackedRequest
from npu_conformance.specs.npu.types import ModelPriority, Policy

DEFAULT_WEIGHTS: Mapping[int, int] = {0: 1, 1: 2, 2: 4}


@dataclass
class ManagerModel:
    """All requests, and what the test did to the device. previous: importances before the newest step."""

    policy: Policy = Policy.STATUS_QUO
    maximum: int = 0
    opportunistic: int = ModelPriority.OPPORTUNISTIC
    weights: Mapping[int, int] = field(default_factory=lambda: DEFAULT_WEIGHTS)
    requests: list[TrackedRequest] = field(default_factory=list)
    importance: dict[int, int] = field(default_factory=dict)
    previous: dict[int, int] = field(default_factory=dict)
    worked: dict[int, int] = field(default_factory=dict)
    forgotten: dict[int, int] = field(default_factory=dict)
    """When uids had completed work whose apps were removed since."""
    finished: int | None = None
    """The uid for which work was completed in the newest step."""
    pressed: bool = False
    """Whether pressure is so severe that the budget has to be reduced."""
    eased: bool = True
    """Whether there is no pressure at all: less than severe pressure may cost budget or not."""
    most_under_pressure: int = 0
    """What was held under the newest policy and pressure when something was granted: so much they leave at least."""
    pressing: bool = False
    """Whether pressure has changed in the newest step."""
    busy: bool = False
    """Whether the newest step is several, which came before anything of the first had arrived: each may have been
    decided on before the next, so that the order of what was received says less."""
    replaced: bool = False
    """Whether requests had to end in the newest step: the policy was replaced, or unload requests were overdue."""
    lasting: bool = False
    """Whether the newest step took as long as an unload may: no requirement says how long a grant holds unused."""

    @property
    def gates(self) -> bool:
        """The policy keeps a budget."""
        return self.policy is not Policy.STATUS_QUO

    @property
    def live(self) -> list[TrackedRequest]:
        """Requests that have not ended."""
        return [tracked for tracked in self.requests if not tracked.ended]

    @property
    def used(self) -> int:
        """What granted and loaded models weigh together."""
        return sum(tracked.weight for tracked in self.requests if tracked.holds)

    def weight(self, size: int) -> int:
        """The weight of a size class under the policy; 0 for an unknown one, which only status quo may accept."""
        return 1 if self.policy is Policy.TURN_TAKING else self.weights.get(size, 0)

    def begin(self) -> None:
        """A step begins."""
        self.previous = dict(self.importance)
        self.pressing = self.replaced = self.busy = self.lasting = False
        self.finished = None
        for tracked in self.requests:
            tracked.new_events = []
            tracked.was_loaded = tracked.loaded

    def replace_policy(self, policy: Policy, maximum: int, weights: Mapping[int, int] = DEFAULT_WEIGHTS) -> None:
        """The policy was set: all requests end, with one more callback each at the most."""
        self.policy, self.weights = policy, weights
        self.maximum = maximum
        self.replaced = True
        self.most_under_pressure = 0
        for tracked in self.requests:
            tracked.dropped = tracked.dropped or not tracked.ended
            tracked.overdue = False

    def complete_work(self, uid: int) -> None:
        """Work for a uid is completed, later than all other."""
        self.finished = uid
        self.worked[uid] = 1 + max(self.worked.values(), default=0)

    def forget(self, uid: int) -> None:
        """The app of a uid was removed: the next of that uid has completed no work, or is taken for the one before."""
        self.forgotten[uid] = max(self.forgotten.get(uid, 0), self.worked.pop(uid, 0))

    def expire(self, overdue: Collection[TrackedRequest]) -> None:
        """Unload requests that nobody answered are overdue (NPU-LIF-027): what they were about blocks nobody.

        Whether that ends it is free: until its completion comes it may live.
        """
        self.replaced, self.lasting = self.replaced or bool(overdue), True
        for tracked in overdue:
            tracked.dropped = tracked.overdue = True

    def receive(self, tracked: TrackedRequest, event: Event) -> None:
        """A callback has arrived."""
        tracked.events.append(event)
        tracked.new_events.append(event)

    def broken(self) -> Iterator[Broken]:
        """Name each promise that is broken after a step, by its requirement."""
        for tracked in self.requests:
            yield from out_of_order(tracked, busy=self.busy, replaced=self.replaced, pressing=self.pressing)
            if not tracked.ended:
                yield from self._answered(tracked)
        if not self.gates:
            return
        yield from self._within_budget()
        yield from self._rightly_displaced()
        yield from self._weakest_first()
        yield from self._makes_room_under_pressure()
        yield from self._opportunistic_last()
        yield from self._nothing_idle()
        yield from self._weaker_give_way()
        yield from self._nobody_passed_over()
        yield from self._turn_is_over()

    def doubtful(self) -> Iterator[str]:
        """Name what ought not to be: the promises of the level SHOULD that are broken after a step."""
        yield from self._asked_once()
        yield from self._least_recent_first()
        yield from self._idle_under_pressure()
        yield from self._shrinks_under_pressure()

    def _asked_once(self) -> Iterator[str]:
        """Nobody is asked to unload again before it has answered (NPU-LIF-017)."""
        for tracked in self.live:
            new = sum(event.kind == "unload" for event in tracked.new_events)
            if new > 1 or (new and any(event.kind == "unload" for event in tracked.earlier_events)):
                yield f"{tracked.name}: asked to unload again, though it has not answered"

    def _least_recent_first(self) -> Iterator[str]:
        """Of parked equals, who completed work least recently goes first (NPU-POL-023)."""
        if not self.gates or not self.eased or self.replaced or self.busy:
            return
        parked = [tracked for tracked in self.live if tracked.earlier_decision == PARKED[1]]
        granted = [tracked for tracked in parked if tracked.is_newly_granted and not tracked.ungranted]
        for tracked, favoured in itertools.product(parked, granted):
            fits = tracked.weight <= favoured.weight and tracked.events[-1].notification != WAIT
            if fits and not tracked.holds and self._rank_of(tracked.uid) < self._rank_of(favoured.uid):
                yield f"{tracked.name}: passed over in favour of {favoured.name}, whose app completed work later"

    def _idle_under_pressure(self) -> Iterator[str]:
        """What pressure leaves of the budget, as earlier grants show, is given to who waits for it (NPU-POL-021)."""
        if not self.gates or self.eased or self.pressing:
            self.most_under_pressure = 0
            return
        if any(tracked.is_newly_granted for tracked in self.live) and not self.busy:
            self.most_under_pressure = max(self.most_under_pressure, self.used)
        wanting = [tracked for tracked in self.live if not tracked.holds and not tracked.loaded]
        first = self._most_important(wanting)
        if first and all(tracked.weight <= self.most_under_pressure - self.used for tracked in first):
            yield f"{first[0].name}: not granted, though as much was granted under the same pressure"

    def _rank_of(self, uid: int) -> tuple[int, int]:
        return self.importance[uid], self.worked.get(uid, 0)

    def _answered(self, tracked: TrackedRequest) -> Iterator[Broken]:
        """Nobody is left without an answer (NPU-LIF-005, -010, -011, NPU-POL-003, NPU-POL-011)."""
        if not tracked.events and not tracked.loaded:
            yield "NPU-LIF-005", f"{tracked.name}: not answered"
        if tracked.cancelled:
            yield "NPU-LIF-012" if tracked.loaded else "NPU-LIF-011", f"{tracked.name}: cancelled, and not completed"
        elif tracked.unloaded:
            yield "NPU-LIF-010", f"{tracked.name}: unloaded, and not completed"
        if not self.gates and tracked.decision != GRANT[1]:
            yield "NPU-POL-003", f"{tracked.name}: not granted under status quo"
        if not self.gates and tracked.asked:
            yield "NPU-POL-003", f"{tracked.name}: asked to unload under status quo"

    def _within_budget(self) -> Iterator[Broken]:
        """No grant goes beyond the budget, nor beyond what pressure leaves of it (NPU-POL-010, -027)."""
        granted = [tracked for tracked in self.live if tracked.is_newly_granted]
        if self.busy and (self.pressing or any(tracked.ungranted for tracked in self.live)):
            return
        most = self._most_left if self.pressed else self.maximum
        if granted and self.used > most:
            what = "under pressure the budget is less than" if most < self.maximum else "the budget is"
            weigh = f"granted and loaded models weigh {self.used}, {what} {self.maximum}"
            yield (
                "NPU-POL-027" if self.pressed else "NPU-POL-010",
                f"{granted[-1].name}: granted though it does not fit: {weigh}",
            )

    def _rightly_displaced(self) -> Iterator[Broken]:
        """Only a stronger app takes room from another, or an equal whose turn it is (NPU-POL-015 to -018)."""
        ungranted = any(tracked.ungranted and tracked.holds for tracked in self.requests)
        if self.pressing or self.replaced or self.busy or ungranted:
            return
        for victim in self.requests:
            new = [event.notification for event in victim.new_events]
            unloaded = victim.is_newly_asked
            lapsed = self.lasting and not victim.loaded
            displaced = unloaded or (CANCELLED in new and not (victim.cancelled or lapsed))
            if displaced and not any(self._may_displace(tracked, victim) for tracked in self.live):
                what = "asked to unload" if unloaded else "cancelled"
                yield self._displacing(victim), f"{victim.name}: {what}, though nobody stronger wants its room"

    def _displacing(self, victim: TrackedRequest) -> str:
        """The rule against those who want room: a weaker app, an equal one, or none but the victim's own."""
        wanting = [self.importance[one.uid] for one in self._wanting() if one.uid != victim.uid]
        if not wanting:
            return "NPU-POL-016"
        return "NPU-POL-017" if min(wanting) <= self.importance[victim.uid] else "NPU-POL-015"

    def _weakest_first(self) -> Iterator[Broken]:
        """No model is asked to leave while one of a less important app stays (NPU-POL-013, -026)."""
        if self.replaced or self.busy or self.finished is not None:
            return
        staying = [tracked for tracked in self.live if tracked.loaded and not tracked.asked]
        asked = [tracked for tracked in self.live if tracked.is_newly_asked]
        for victim, weaker in itertools.product(asked, staying):
            if not victim.ungranted and all(
                table[victim.uid] < table[weaker.uid] for table in (self.importance, self.previous)
            ):
                yield (
                    "NPU-POL-026" if self.pressed else "NPU-POL-013",
                    f"{victim.name}: asked to unload, though {weaker.name}, whose app is less important, stays",
                )

    def _makes_room_under_pressure(self) -> Iterator[Broken]:
        """Models leave until less than the whole budget is held by those that may stay (NPU-POL-026)."""
        if self.pressed and not self.replaced and self._staying > self._most_left:
            yield (
                "NPU-POL-026",
                f"under pressure models that weigh {self._staying} may stay, the whole budget is {self.maximum}",
            )

    def _shrinks_under_pressure(self) -> Iterator[str]:
        """Pressure ought to leave less than a budget of 1, too, though a part of it may be rounded up to all of it."""
        if self.gates and self.pressed and not self.replaced and self._staying >= self.maximum:
            yield f"under pressure models that weigh {self._staying} may stay, the whole budget is {self.maximum}"

    @property
    def _staying(self) -> int:
        """What the models weigh that have budget, and have not been asked to leave."""
        return sum(tracked.weight for tracked in self.live if tracked.holds and not tracked.asked)

    @property
    def _most_left(self) -> int:
        """Pressure leaves less than the whole budget; of one that is 1 the next smaller would be none."""
        return max(1, self.maximum - 1)

    def _opportunistic_last(self) -> Iterator[Broken]:
        """No opportunistic request goes before an earlier normal one of its uid (NPU-REQ-004)."""
        if not self.eased or self.replaced or self.busy:
            return
        for place, favoured in enumerate(self.requests):
            is_granted = favoured.is_newly_granted and favoured.request.priority == self.opportunistic
            for earlier in self.requests[:place] if is_granted else ():
                if earlier.uid == favoured.uid and self._is_passed_over(earlier, favoured):
                    yield (
                        "NPU-REQ-004",
                        f"{earlier.name}: passed over in favour of {favoured.name}, which is opportunistic",
                    )

    def _is_passed_over(self, earlier: TrackedRequest, favoured: TrackedRequest) -> bool:
        was_parked = earlier.earlier_decision == PARKED[1] and earlier.decision == PARKED[1]
        is_normal = earlier.request.priority == ModelPriority.NORMAL and not earlier.ended and not earlier.loaded
        return was_parked and is_normal and earlier.weight <= favoured.weight and not favoured.ungranted

    def _may_displace(self, tracked: TrackedRequest, victim: TrackedRequest) -> bool:
        if tracked.uid == victim.uid or tracked.loaded:
            return False
        if self._ends_the_turn(tracked, victim):
            return True
        if tracked.weight > self.maximum:
            return False
        latest = max(self.worked.get(victim.uid, 0), self.forgotten.get(victim.uid, 0))
        return any(
            (table[tracked.uid], self.worked.get(tracked.uid, 0)) < (table[victim.uid], latest)
            for table in (self.importance, self.previous)
        )

    def _ends_the_turn(self, tracked: TrackedRequest, victim: TrackedRequest) -> bool:
        """Any request that an equal has not loaded does, even one that the budget cannot hold (NPU-POL-018)."""
        is_equal = self.importance[tracked.uid] == self.importance[victim.uid]
        return is_equal and victim.uid == self.finished and victim.loaded

    def _wanting(self) -> list[TrackedRequest]:
        """Requests that hold nothing, and that the whole budget could hold."""
        return [tracked for tracked in self.live if not tracked.holds and tracked.weight <= self.maximum]

    def _most_important(self, wanting: list[TrackedRequest]) -> list[TrackedRequest]:
        """Those of the most important apps, of which the policy may choose any."""
        strongest = min((self.importance[tracked.uid] for tracked in wanting), default=0)
        return [tracked for tracked in wanting if self.importance[tracked.uid] == strongest]

    def _nothing_idle(self) -> Iterator[Broken]:
        """What is free goes to the most important request that waits for it (NPU-LIF-007, -008, NPU-POL-021, -027)."""
        first = self._most_important(self._wanting())
        if not self.eased or not first:
            return
        free = self.maximum - self.used
        if all(tracked.weight <= free for tracked in first):
            yield (
                self._owing(first[0]),
                f"{first[0].name}: not granted, though {free} of {self.maximum} is free and nobody stronger wants it",
            )

    def _owing(self, tracked: TrackedRequest) -> str:
        if tracked.decision == WAIT[1]:
            return "NPU-LIF-007"
        return "NPU-POL-027" if self.pressing else "NPU-POL-021"

    def _has_risen(self, uid: int) -> bool:
        return self.importance[uid] < self.previous.get(uid, self.importance[uid])

    def _weaker_give_way(self) -> Iterator[Broken]:
        """The most important app does not stay parked where less important ones hold enough (NPU-POL-013, -PRI-013)."""
        first = self._most_important(self._wanting())
        if not self.eased or self.pressing or not first or any(tracked.ungranted for tracked in self.live):
            return
        strongest = self.importance[first[0].uid]
        weaker = (tracked for tracked in self.live if tracked.holds and self.importance[tracked.uid] > strongest)
        room = self.maximum - self.used + sum(tracked.weight for tracked in weaker)
        if all(tracked.decision == PARKED[1] and tracked.weight <= room for tracked in first):
            yield (
                "NPU-PRI-013" if self._has_risen(first[0].uid) else "NPU-POL-013",
                f"{first[0].name}: parked, though {room} of {self.maximum} is free or held by less important apps",
            )

    def _nobody_passed_over(self) -> Iterator[Broken]:
        """Nothing is granted that a more important request could have had (NPU-POL-021); smaller ones may (-024).

        What an unload was asked for may be kept for whom it was asked.
        """
        asked = any(tracked.asked for tracked in self.requests if tracked.new_events or not tracked.ended)
        if not self.eased or self.busy or asked:
            return
        granted = [tracked for tracked in self.live if tracked.is_newly_granted]
        for tracked, favoured in itertools.product(self.live, granted):
            fits = tracked.weight <= min(self.maximum, self.maximum - self.used + favoured.weight)
            stronger = self.importance[tracked.uid] < self.importance[favoured.uid]
            if fits and stronger and not tracked.holds and not favoured.ungranted and not self._is_kept(tracked):
                yield (
                    "NPU-POL-021",
                    f"{tracked.name}: passed over in favour of {favoured.name}, whose app is less important",
                )

    def _is_kept(self, tracked: TrackedRequest) -> bool:
        """Room that earlier unloads have brought may be kept for who is as important, and needs more of it."""
        heirs = (other for other in self.live if not other.holds and other.weight > tracked.weight)
        has_unloaded = any(each.asked and not each.dropped for each in self.requests)
        return has_unloaded and any(self.importance[one.uid] <= self.importance[tracked.uid] for one in heirs)

    def _turn_is_over(self) -> Iterator[Broken]:
        """All models of the app that has completed work leave, where an equal one's request is parked (NPU-POL-018)."""
        uid = self.finished
        if uid is None or self.busy:
            return
        staying = [tracked for tracked in self.live if tracked.uid == uid and tracked.loaded and not tracked.asked]
        # What stays under pressure fits what that leaves of the budget, and so does what is no heavier.
        most = self.maximum if self.eased else max((tracked.weight for tracked in staying), default=0)
        if any(self._waits_for(uid, tracked, most) for tracked in self.live):
            for tracked in staying:
                yield (
                    "NPU-POL-018",
                    f"{tracked.name}: not asked to unload, though its app has completed work and an equal one waits",
                )

    def _waits_for(self, uid: int, tracked: TrackedRequest, most: int) -> bool:
        was_parked = tracked.earlier_decision == PARKED[1] and not tracked.loaded
        is_equal = tracked.uid != uid and self.importance[tracked.uid] == self.importance[uid]
        return was_parked and is_equal and tracked.weight <= most
