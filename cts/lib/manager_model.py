"""What must hold whatever happens: a small model of a manager's promises, judged from what its clients see.

It predicts no decision. It keeps what each client was told and did, and after each step, once everything has arrived,
names each promise that is broken. So any policy may decide as it likes within the rules.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from npu_conformance.cts.lib.manager_client import CANCELLED, COMPLETE, GRANT, WAIT, Event
from npu_conformance.specs.npu.types import ModelLoadRequest, Policy, UnloadReason

DEFAULT_WEIGHTS: Mapping[int, int] = {0: 1, 1: 2, 2: 4}


@dataclass(eq=False)
class Wish:
    """A request as its client knows it. said: what was said so far, unload requests without reason.

    told: what was said in the newest step. loaded, unloaded, cancelled: what the client did about it.
    dropped: the policy it belonged to is gone.
    """

    uid: int
    request: ModelLoadRequest
    weight: int
    events: list[Event] = field(default_factory=list)
    told: list[Event] = field(default_factory=list)
    loaded: bool = False
    ungranted: bool = False
    unloaded: bool = False
    cancelled: bool = False
    dropped: bool = False
    dead: bool = False

    @property
    def name(self) -> str:
        """For messages."""
        return f"request {self.request.id} of uid {self.uid}"

    @property
    def ended(self) -> bool:
        """It has been completed, or nothing more may be said of it."""
        return self.dropped or self.dead or self.completed

    @property
    def completed(self) -> bool:
        """Its client was told that it is over."""
        return any(event.kind == "complete" for event in self.events)

    @property
    def decision(self) -> int | None:
        """The newest decision."""
        return next((event.status for event in reversed(self.events) if event.kind == "decision"), None)

    @property
    def asked(self) -> bool:
        """Its client was asked to unload it."""
        return any(event.kind == "unload" for event in self.events)

    @property
    def holds(self) -> bool:
        """It has budget: it is granted, or in memory."""
        return not self.ended and (self.loaded or self.decision == GRANT[1])


@dataclass
class Model:
    """All wishes, and what the test did to the device. previous: importances before the newest step."""

    policy: Policy = Policy.STATUS_QUO
    maximum: int = 0
    weights: Mapping[int, int] = field(default_factory=lambda: DEFAULT_WEIGHTS)
    wishes: list[Wish] = field(default_factory=list)
    importance: dict[int, int] = field(default_factory=dict)
    previous: dict[int, int] = field(default_factory=dict)
    worked: dict[int, int] = field(default_factory=dict)
    pressed: bool = False
    """So severe that the budget has to be reduced."""
    eased: bool = True
    """No pressure at all: whatever is less than severe may cost budget or not."""
    pressing: bool = False
    """Pressure has changed in the newest step."""
    replaced: bool = False
    """The policy was replaced in the newest step."""

    @property
    def gates(self) -> bool:
        """The policy keeps a budget."""
        return self.policy is not Policy.STATUS_QUO

    @property
    def live(self) -> list[Wish]:
        """Requests that have not ended."""
        return [wish for wish in self.wishes if not wish.ended]

    @property
    def used(self) -> int:
        """What granted and loaded models weigh together."""
        return sum(wish.weight for wish in self.wishes if wish.holds)

    def weight(self, size: int) -> int:
        """Of a size class under the policy; 0 for one that is none, which only status quo may accept."""
        return 1 if self.policy is Policy.TURN_TAKING else self.weights.get(size, 0)

    def begin(self) -> None:
        """A step begins."""
        self.previous = dict(self.importance)
        self.pressing = self.replaced = False
        for wish in self.wishes:
            wish.told = []

    def replace_policy(self, policy: Policy, maximum: int) -> None:
        """The policy was set: all requests end, heard of at most once more."""
        self.policy, self.maximum, self.replaced = policy, maximum, True
        for wish in self.live:
            wish.dropped = True

    def hear(self, wish: Wish, event: Event) -> None:
        """A callback has arrived."""
        wish.events.append(event)
        wish.told.append(event)

    def broken(self) -> Iterator[str]:
        """Name each promise that is broken after a step."""
        for wish in self.wishes:
            yield from self._in_order(wish)
            if not wish.ended:
                yield from self._answered(wish)
        if not self.gates:
            return
        yield from self._within_budget()
        yield from self._rightly_displaced()
        yield from self._nothing_idle()
        yield from self._nobody_passed_over()

    def _in_order(self, wish: Wish) -> Iterator[str]:
        """Each callback was allowed where it came (NPU-LIF-006, -010 to -013, -016, -019, -022)."""
        told = [(event.kind, event.status) for event in wish.told]
        before = wish.events[: len(wish.events) - len(told)]
        if told and (wish.dead or any(event.kind == "complete" for event in before)):
            yield f"{wish.name}: {wish.told[0]} after its end"
        if told and wish.dropped and not self.replaced:
            yield f"{wish.name}: {wish.told[0]} though its policy was replaced before"
        if told.count(GRANT) > 1:
            yield f"{wish.name}: granted {told.count(GRANT)} times at once"
        if GRANT in told and wish.loaded and not (wish.ungranted and GRANT not in [(e.kind, e.status) for e in before]):
            yield f"{wish.name}: granted though it is loaded"
        if any(kind == "unload" for kind, _ in told) and not wish.loaded:
            yield f"{wish.name}: asked to unload though it was not reported as loaded"
        if sum(kind == "complete" for kind, _ in told) > 1:
            yield f"{wish.name}: completed {told.count(CANCELLED) + told.count(COMPLETE)} times"
        if COMPLETE in told and not wish.unloaded:
            yield f"{wish.name}: COMPLETE though its client unloaded nothing"
        if CANCELLED in told and not self._may_cancel(wish):
            yield f"{wish.name}: cancelled though it is {'loaded' if wish.loaded else 'parked'}"
        for event in wish.told:
            if event.kind == "unload" and event.status not in (None, *UnloadReason):
                yield f"{wish.name}: unload reason {event.status} is not defined"

    def _may_cancel(self, wish: Wish) -> bool:
        """The manager may cancel what was granted or waits for it; parked and loaded requests only its client may."""
        if wish.cancelled or wish.dropped or self.pressing:
            return True
        return not wish.loaded and wish.decision in (GRANT[1], WAIT[1])

    def _answered(self, wish: Wish) -> Iterator[str]:
        """Nobody is left without an answer (NPU-LIF-005, -010, -011, NPU-POL-003, NPU-POL-011)."""
        if not wish.events and not wish.loaded:
            yield f"{wish.name}: not answered"
        if wish.cancelled or wish.unloaded:
            yield f"{wish.name}: {'cancelled' if wish.cancelled else 'unloaded'}, and not completed"
        if not self.gates and wish.decision != GRANT[1]:
            yield f"{wish.name}: not granted under status quo"
        if not self.gates and wish.asked:
            yield f"{wish.name}: asked to unload under status quo"

    def _within_budget(self) -> Iterator[str]:
        """No grant goes beyond the budget, nor beyond what pressure leaves of it (NPU-POL-010, -027)."""
        granted = [wish for wish in self.live if any((each.kind, each.status) == GRANT for each in wish.told)]
        most = self.maximum - 1 if self.pressed else self.maximum
        if granted and self.used > most:
            what = "under pressure the budget is less than" if self.pressed else "the budget is"
            yield f"{granted[-1].name}: granted; granted and loaded models weigh {self.used}, {what} {self.maximum}"

    def _rightly_displaced(self) -> Iterator[str]:
        """Only a stronger app takes room from another, or an equal whose turn it is (NPU-POL-015 to -018)."""
        if self.pressing or self.replaced or any(wish.ungranted and wish.holds for wish in self.wishes):
            return
        for victim in self.wishes:
            told = [(event.kind, event.status) for event in victim.told]
            unloaded = any(kind == "unload" for kind, _ in told)
            displaced = unloaded or (CANCELLED in told and not victim.cancelled)
            if displaced and not any(self._may_displace(wish, victim) for wish in self.live):
                what = "asked to unload" if unloaded else "cancelled"
                yield f"{victim.name}: {what}, though nobody stronger wants its room"

    def _may_displace(self, wish: Wish, victim: Wish) -> bool:
        if wish.uid == victim.uid or wish.loaded or wish.weight > self.maximum:
            return False
        return any(
            (table[wish.uid], self.worked.get(wish.uid, 0)) < (table[victim.uid], self.worked.get(victim.uid, 0))
            for table in (self.importance, self.previous)
        )

    def _nothing_idle(self) -> Iterator[str]:
        """What is free goes to the most important request that waits for it (NPU-LIF-007, -008, NPU-POL-021, -027)."""
        wanting = [wish for wish in self.live if not wish.holds and wish.weight <= self.maximum]
        if not self.eased or not wanting:
            return
        strongest = min(self.importance[wish.uid] for wish in wanting)
        first = [wish for wish in wanting if self.importance[wish.uid] == strongest]
        free = self.maximum - self.used
        if all(wish.weight <= free for wish in first):
            yield f"{first[0].name}: not granted, though {free} of {self.maximum} is free and nobody stronger wants it"

    def _nobody_passed_over(self) -> Iterator[str]:
        """Nothing is granted that a more important request could have had (NPU-POL-021); smaller ones may (-024).

        What an unload was asked for may be kept for whom it was asked.
        """
        if not self.eased or any(wish.asked for wish in self.wishes if wish.told or not wish.ended):
            return
        granted = [wish for wish in self.live if any((each.kind, each.status) == GRANT for each in wish.told)]
        for wish, favoured in itertools.product(self.live, granted):
            fits = wish.weight <= min(self.maximum, self.maximum - self.used + favoured.weight)
            stronger = self.importance[wish.uid] < self.importance[favoured.uid]
            if fits and stronger and not wish.holds and not favoured.ungranted:
                yield f"{wish.name}: passed over in favour of {favoured.name}, whose app is less important"
