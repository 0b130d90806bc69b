"""The budget policy, and turn taking as its smallest case.

Every model weighs something, and granted and loaded ones together weigh no more than the ceiling: the maximum, or what
pressure leaves of it. Requests have one order of strength (Request.ranked). A request that does not fit takes the room
of weaker uids' requests, the weakest first and only as many as it needs, or it takes nothing and is parked. A loaded
model is asked to unload and keeps its room until then; any other request is cancelled.

Room that an unload will bring belongs to the request on whose behalf it was asked for: that is its claim. The part of
claims that is not free yet is `owed`, and what models asked to unload still occupy is `leaving`, so that `room` is what
a further request could have, now or after unloads that are under way.

Uids of one priority take turns: when one completes work it becomes the weakest of them, and if another of them has a
parked request, all its models are asked to unload, for that request. So a request that fits waits for at most as many
completions of its equals as its weight, each followed by an unload (NPU-POL-029).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from npu_conformance.reference.manager.decisions import Decide, Decision, Kind
from npu_conformance.reference.manager.loading_policy import LoadingPolicy
from npu_conformance.reference.manager.pressure import Pressure
from npu_conformance.reference.manager.requests import Entry, Request, State, Uid
from npu_conformance.reference.manager.sorted_keys import SortedKeys
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.types import ModelSize, Policy, UnloadReason

_PREEMPTION, _ROTATION = UnloadReason.FOREGROUND_PREEMPTION, UnloadReason.ROTATION


class Budget(LoadingPolicy):
    """The policy that the module describes. holders: every request with room or a claim that can be taken away."""

    number, name = Policy.BUDGET, "budget"

    def __init__(self, decide: Decide, weights: Mapping[int, int], maximum: int) -> None:
        super().__init__(decide)
        self._weights = weights
        self._limit = maximum
        self.maximum = self.ceiling = maximum
        self._leaving = 0
        self._owed = 0
        self._holders: SortedKeys[Entry] = SortedKeys()
        self._parked: dict[int, SortedKeys[Entry]] = {size: SortedKeys() for size in weights}
        self._claimants: SortedKeys[Entry] = SortedKeys()

    @property
    def room(self) -> int:
        """What nobody has or claims, once the models asked to unload are gone; negative beyond the ceiling."""
        return self.ceiling - self.used + self._leaving - self._owed

    def check(self, size: int) -> None:
        """Raise IllegalArgument for an unknown size class (NPU-REQ-010)."""
        if size not in self._weights:
            raise IllegalArgument(f"unknown size class {size}")

    def requested(self, request: Request) -> None:
        """Grant the request, let it wait, or park it."""
        request.weight = self._weights[request.model.size]
        self._park(request)
        if not self._place(request, _PREEMPTION):
            heavy = request.weight > self.ceiling
            because = "heavier than the budget" if heavy else "stronger or equal uids hold the budget"
            self.decide(Decision(Kind.PARK, request, because))
        else:  # a large victim may have left more than was needed
            self._reconsider(_PREEMPTION)

    def loaded(self, request: Request) -> None:
        """Count the model; one without a grant is asked to unload again (NPU-LIF-026)."""
        if request.state is State.GRANTED:
            request.state = State.LOADED
            self.decide(Decision(Kind.LOADED, request, "after its grant"))
        elif request.state in (State.PARKED, State.WAITING):
            self._loaded_ungranted(request)

    def released(self, requests: Iterable[Request]) -> None:
        """Give the room of these requests to those for whom they were asked to unload, then to others."""
        beneficiaries = [request.freed_for for request in requests if request.freed_for is not None]
        for request in requests:
            self._leave(request)
        self._hand_out(beneficiaries)
        self._reconsider(_PREEMPTION)

    def rank_changes(self, uid: Uid) -> None:
        """Take the uid's requests out of the order."""
        for request in uid.requests.values():
            self._unlist(request)

    def rank_changed(self, uid: Uid, reason: UnloadReason) -> None:
        """Put them back, and look whether a request is now stronger than one that holds room."""
        for request in uid.requests.values():
            self._list(request)
        self._reconsider(reason)

    def turn_ended(self, uid: Uid) -> None:
        """Rotate: all models of the uid leave for the strongest parked request among its equals (NPU-POL-018)."""
        for request in uid.requests.values():
            self._list(request)
        next_in_turn = self._next_in_turn(uid)
        if next_in_turn is not None:
            for request in uid.requests.values():
                if request.state is State.LOADED:
                    self._displace(request, next_in_turn, _ROTATION)
                    self._claim(next_in_turn)
            self._settle(next_in_turn)
        self._reconsider(_ROTATION)

    def set_pressure(self, pressure: Pressure) -> None:
        """Raise the ceiling, or lower it and let the weakest go until it holds (NPU-POL-026, -027)."""
        self.ceiling = pressure.ceiling(self._limit)
        self._owe_again()
        self._enforce(pressure.reason)
        self._hand_out(())
        self._reconsider(_PREEMPTION)

    def _place(self, request: Request, reason: UnloadReason) -> bool:
        """Give a parked request room if possible; return False where it stays parked, and nothing was taken away."""
        victims = self._victims(request)
        if victims is None:
            return False
        for victim in victims:
            self._displace(victim, request, reason)
        self._claim(request)
        self._settle(request)
        return True

    def _victims(self, request: Request) -> list[Request] | None:
        """Whom a request would displace: as many as needed, weakest first, none as strong (NPU-POL-013, -015, -020).

        None: not enough. A uid is as strong as itself, so that no uid displaces its own (NPU-POL-016). The claim of
        a parked request is no more than a place in the queue: a stronger request takes it.
        """
        if request.weight > self.ceiling:
            return None
        needed = request.weight - request.claim - self.room
        victims = []
        for victim in map(_request, reversed(self._holders)):
            if needed <= 0 or victim.entry <= request.entry:
                break
            if victim.uid.rank > request.uid.rank or victim.state is State.PARKED:
                victims.append(victim)
                needed -= victim.claim or victim.weight
        return victims if needed <= 0 else None

    def _displace(self, victim: Request, beneficiary: Request | None, reason: UnloadReason) -> None:
        """Take away the room of a request, on behalf of another or because of pressure."""
        whom = beneficiary or "pressure"
        if victim.state is State.LOADED:
            self._ask(victim, beneficiary, reason, f"room for {whom}")
        elif victim.state is State.PARKED:
            self._unlist(victim)
            self._drop_claim(victim)
            self._list(victim)
        else:
            self._leave(victim)
            self.decide(Decision(Kind.CANCEL, victim, f"not loaded, and in the way of {whom}"))

    def _ask(self, request: Request, beneficiary: Request | None, reason: UnloadReason, because: str) -> None:
        self._unlist(request)
        request.state, request.freed_for = State.ASKED, beneficiary
        self._leaving += request.weight
        self.decide(Decision(Kind.UNLOAD, request, because, reason))

    def _claim(self, request: Request) -> None:
        """Set room aside for the request, up to its weight; what is free already is secured."""
        wanted = min(request.weight - request.claim, self.room)
        self._unlist(request)
        request.claim += wanted
        self._owed += wanted
        self._list(request)
        self._secure(request)

    def _secure(self, request: Request) -> None:
        free = max(0, self.ceiling - self.used)
        part = min(free, request.claim - request.secured)
        request.secured += part
        self.used += part
        self._owed -= part
        self._take_over(request)

    def _take_over(self, request: Request) -> None:
        """Take free room that weaker requests have set aside: the stronger one goes first, the weaker ones wait on."""
        for weaker in map(_request, reversed(self._claimants)):
            if weaker.entry <= request.entry or request.secured == request.claim:
                return
            part = min(weaker.secured, request.claim - request.secured)
            weaker.secured -= part
            request.secured += part

    def _owe_again(self) -> None:
        """Owe claims, the weakest first, what they had secured and is free no longer: somebody else occupies it."""
        for request in map(_request, reversed(self._claimants)):
            part = min(request.secured, max(0, self.used - self.ceiling))
            request.secured -= part
            self.used -= part
            self._owed += part

    def _settle(self, request: Request) -> None:
        """Send a claimant what it has reached: a grant, or once that everything is under way."""
        if request.secured == request.weight:
            self._unlist(request)
            request.state, request.claim, request.secured = State.GRANTED, 0, 0
            self._list(request)
            self.decide(Decision(Kind.GRANT, request, "it fits"))
        elif request.claim == request.weight and request.state is State.PARKED:
            self._unlist(request)
            request.state = State.WAITING
            self._list(request)
            self.decide(Decision(Kind.WAIT, request, "others were asked to unload"))

    def _hand_out(self, beneficiaries: Iterable[Request]) -> None:
        """Secure claims with free room: first those for which it was freed, then by strength."""
        claimants = [request for request in beneficiaries if request.claim]
        if self._owed:
            claimants += map(_request, self._claimants)
        for request in claimants:
            if request.claim:
                self._secure(request)
                self._settle(request)

    def _reconsider(self, reason: UnloadReason) -> None:
        """Place parked requests, the strongest first, while one of them can be placed.

        Of each weight only the strongest is looked at: what it cannot have, no weaker one of that weight can.
        """
        while any(self._place(request, reason) for request in self._candidates()):
            pass
        self._hand_out(())

    def _candidates(self) -> list[Request]:
        heads = [_request(head) for parked in self._parked.values() if (head := parked.first()) is not None]
        partly = [request for request in map(_request, self._claimants) if request.state is State.PARKED]
        return sorted({*heads, *partly}, key=_strength)

    def _next_in_turn(self, uid: Uid) -> Request | None:
        """The strongest parked request that fits of another uid with the same priority."""
        found = []
        for parked in self._parked.values():
            equals = map(_request, parked.after((uid.priority,)))
            first = next((request for request in equals if request.uid is not uid), None)
            if first is not None and first.uid.priority == uid.priority and first.weight <= self.ceiling:
                found.append(first)
        return min(found, key=_strength, default=None)

    def _enforce(self, reason: UnloadReason) -> None:
        """Take from the weakest until all that is held fits, and nobody waits for what cannot be."""
        for request in [*map(_request, self._claimants)]:
            if request.weight > self.ceiling:
                self._displace(request, None, reason)
        while self.room < 0 and (weakest := next(reversed(self._holders), None)) is not None:
            self._displace(_request(weakest), None, reason)

    def _loaded_ungranted(self, request: Request) -> None:
        """Count a model that does not fit, and ask it to unload: one that fits has been granted."""
        self._unlist(request)
        self._drop_claim(request)
        request.state = State.LOADED
        self.used += request.weight
        self._owe_again()
        self._list(request)
        self.decide(Decision(Kind.LOADED_UNGRANTED, request, "it does not fit"))
        self._ask(request, None, UnloadReason.NO_GRANT, "loaded without a grant")
        self._hand_out(())
        self._reconsider(_PREEMPTION)

    def _park(self, request: Request) -> None:
        request.state = State.PARKED
        self._list(request)

    def _leave(self, request: Request) -> None:
        """Take the request out of all lists."""
        self._unlist(request)
        self._drop_claim(request)
        if request.state in (State.GRANTED, State.LOADED, State.ASKED):
            self.used -= request.weight
        if request.state is State.ASKED:
            self._leaving -= request.weight
        request.state, request.freed_for = State.ENDED, None

    def _drop_claim(self, request: Request) -> None:
        self.used -= request.secured
        self._owed -= request.claim - request.secured
        request.claim = request.secured = 0

    def _list(self, request: Request) -> None:
        """Enter the request in the lists of its state and claim."""
        request.entry = request.ranked()
        for order in self._orders(request):
            order.add(request.entry)

    def _unlist(self, request: Request) -> None:
        for order in self._orders(request):
            order.remove(request.entry)

    def _orders(self, request: Request) -> Iterator[SortedKeys[Entry]]:
        if request.state is State.PARKED:
            yield self._parked[request.model.size]
        if request.claim or request.state in (State.GRANTED, State.LOADED):
            yield self._holders
        if request.claim:
            yield self._claimants


class TurnTaking(Budget):
    """One model at a time in the whole system, whatever its size (NPU-POL-004)."""

    number, name = Policy.TURN_TAKING, "turntaking"

    def __init__(self, decide: Decide) -> None:
        super().__init__(decide, dict.fromkeys(ModelSize, 1), 1)


def _request(entry: Entry) -> Request:
    assert entry[4] is not None
    return entry[4]


def _strength(request: Request) -> Entry:
    return request.entry
