"""Histories whose steps are about the same things, and what tells them apart."""

from __future__ import annotations

import msgspec
import pytest

from npu_conformance.fuzz.lib import manager_steps
from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.findings import Found
from npu_conformance.fuzz.lib.histories import TIME, Histories, Stage, Traces, encoded, orders
from npu_conformance.fuzz.lib.json_edits import Grammar
from npu_conformance.harness.judge.verdicts import NotApplicable

_FRESH, _KNOWN = 7, 1234


class Use(msgspec.Struct, tag_field="do", tag="use"):
    """Things and a time."""

    things: list[int]
    after: int = 0


class Drop(msgspec.Struct, tag_field="do", tag="drop"):
    """A thing, or none."""

    thing: int | None = None


NAMES = {"things": "thing", "thing": "thing", "after": TIME}


def _histories(names: dict[str, str]) -> Histories[Use | Drop]:
    def fresh(choices: Choices) -> Use | Drop:
        found: tuple[Use | Drop, ...] = Use([_FRESH, _FRESH]), Drop(_FRESH), Drop()
        return choices.pick(found)

    return Histories(msgspec.json.Decoder(list[Use | Drop]), fresh, Grammar(), names=names)


def _mutated(names: dict[str, str]) -> bytes:
    histories, start = _histories(names), encoded([Use([_KNOWN], 100)])
    return b"".join(histories.mutated(start, Choices.seeded(seed), [start], 65535) for seed in range(300))


def test_fresh_steps_are_often_about_what_is_there() -> None:
    related, apart = _mutated(NAMES), _mutated({})
    assert b'"thing":1234' in related
    assert b"[7,1234]" in related
    assert all(b'"after":%d' % near in related for near in (99, 100, 101))
    assert b'"thing":1234' not in apart


def test_a_history_is_told_by_what_each_thing_went_through() -> None:
    def features(*steps: tuple[Use | Drop, str]) -> set[str]:
        traces = Traces(NAMES)
        return {feature for step, outcome in steps for feature in traces.features(step, outcome)}

    used, dropped, other = (Use([1]), "fine"), (Drop(1), "gone for good"), (Drop(2), "gone for good")
    assert "thing Use fine > Drop gone > Use fine" in features(used, dropped, used)
    assert "thing Use fine > Drop gone > Use fine" not in features(used, other, used)
    assert features(used, used, used, used) == features(used, used, used)


def test_orders_have_each_two_events_once() -> None:
    events: list[list[Use | Drop]] = [[Drop(1)], [Use([2]), Use([3])]]
    found = [encoded(steps) for steps in orders([Drop(0)], events, [Drop(9)])]
    assert len(found) == len(set(found)) == 2**2
    assert encoded([Drop(0), Use([2]), Use([3]), Drop(1), Drop(9)]) in found


def test_fields_that_have_their_defaults_are_changed_as_well() -> None:
    changed: set[str] = set()
    for seed in range(400):
        made = msgspec.json.decode(
            manager_steps.histories.mutated(b'[{"do":"ask"}]', Choices.seeded(seed), [b"[]"], 10_000)
        )
        changed |= set(made[0]) if len(made) == 1 else set()
    assert changed >= {"app", "id", "size", "priority", "deaf"}


def test_a_thing_that_is_renamed_keeps_its_history() -> None:
    steps = b'[{"do":"ask","id":3},{"do":"load","id":3},{"do":"ask","app":2},{"do":"cancel","id":3,"app":1}]'
    made = {manager_steps.histories.mutated(steps, Choices.seeded(seed), [b"[]"], 10_000) for seed in range(400)}
    ids = [[step.get("id", 1) for step in msgspec.json.decode(data)] for data in made]
    assert [2**31 - 1, 2**31 - 1, 1, 2**31 - 1] in ids
    assert [-(2**31), -(2**31), 1, -(2**31)] in ids


def test_a_history_that_grows_too_long_loses_steps_and_stays_one() -> None:
    histories, start = _histories(NAMES), encoded([Use([_KNOWN, _KNOWN], 100)] * 3)
    for seed in range(100):
        made = histories.mutated(start, Choices.seeded(seed), [start], 100)
        assert len(made) <= 100
        assert histories.decoded(made) is not None


def test_what_was_begun_before_it_could_not_go_on_is_a_past_as_well() -> None:
    """What fails behind it is tried again where nothing was before."""
    ends: list[Exception | None] = [NotApplicable("no more"), Found("wrong-status", "odd", "odd"), None]
    renewed: list[str] = []

    def play(steps: list[Use]) -> tuple[str, ...]:
        ended = ends.pop(0)
        if ended is not None:
            raise ended
        return ()

    stage = Stage(play, lambda: renewed.append("again"))
    with pytest.raises(NotApplicable):
        stage.run([])
    with pytest.raises(Found, match="only after other histories"):
        stage.run([])
    assert renewed == ["again"]


def test_a_step_is_said_twice_in_other_words() -> None:
    steps = b'[{"do":"policy"},{"do":"ask","app":2,"id":3,"size":77}]'
    made = {manager_steps.histories.mutated(steps, Choices.seeded(seed), [b"[]"], 10_000) for seed in range(600)}
    twice = [found for data in made if len(found := msgspec.json.decode(data)) == 3]
    asked = [(one[1], one[2]) for one in twice if one[1].get("size") == one[2].get("size") == 77]
    assert any(first == again for first, again in asked)
    assert any(first != again for first, again in asked)
