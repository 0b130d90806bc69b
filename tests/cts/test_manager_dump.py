"""Dumps of an NPU Manager are read whatever their layout."""

from __future__ import annotations

import pytest

from npu_conformance.cts.lib import manager_dump
from npu_conformance.cts.lib.manager_dump import DumpedApp, ManagerDump
from npu_conformance.specs.npu.types import Policy

_AOSP = """Policy: budget
    Max: 6
    Requests:
        10300 [android.one]: LOADED
        10301 [android.two]: NOT_PRIORITIZED

Priorities:
    1000 [system] 0
    10300 [android.one] 100
    10301 [] 400
"""
_OTHER = """NPU Manager, up 73 s
Policy: Budget (Max = 6, used 4)
Requests: 2

  #7 [android.one] (10300) loaded, 4 of 6
  #8 [android.two] (10301) parked

Recent: 10300 [android.one] granted
Priorities:

  system   1000 [system] priority 0
  app      10300 [android.one] priority 100
  app      10301 [] priority 400

Pushes: 3 to [android.one]
"""


def _priorities(dump: ManagerDump) -> list[tuple[int, str, int | None]]:
    return [(line.uid, line.package, line.priority) for line in dump.priorities]


@pytest.mark.parametrize("text", [_AOSP, _OTHER], ids=["aosp", "other"])
def test_a_dump_is_read_in_any_layout(text: str) -> None:
    dump = manager_dump.read(text)
    assert (dump.policy, dump.maximum) == (Policy.BUDGET, 6)
    assert [(line.uid, line.package) for line in dump.requests] == [(10300, "android.one"), (10301, "android.two")]
    assert _priorities(dump) == [(1000, "system", 0), (10300, "android.one", 100), (10301, "", 400)]


def test_states_are_in_the_words_of_the_manager() -> None:
    assert manager_dump.read(_AOSP).requests[0] == DumpedApp(10300, "android.one", "LOADED")
    assert manager_dump.read(_OTHER).states_of(10300) == ["#7  loaded, 4 of 6"]


@pytest.mark.parametrize(
    ("words", "policy"),
    [("statusquo", Policy.STATUS_QUO), ("TURN_TAKING", Policy.TURN_TAKING), ("budget", Policy.BUDGET), ("", None)],
)
def test_policies_are_known_by_their_letters(words: str, policy: Policy | None) -> None:
    assert manager_dump.read(f"Policy: {words}\n\nPriorities:\n").policy is policy


def test_what_a_dump_does_not_say_is_missing() -> None:
    assert manager_dump.read("usage: cmd npu") == ManagerDump(None, None, (), ())


@pytest.mark.parametrize("text", ["[" * 200_000, "1[" * 200_000], ids=["brackets", "uids"])
def test_a_line_of_open_brackets_is_read_in_one_pass(text: str) -> None:
    """In time that grows with the square of its length this took minutes."""
    assert manager_dump.read(f"Policy: budget\n{text}").requests == ()


@pytest.mark.parametrize("text", ["max {}", "Requests:\n{} [a] x", "Requests:\n[a] ({})", "Priorities:\n1 [a] {}"])
def test_numbers_of_thousands_of_digits_are_none(text: str) -> None:
    dump = manager_dump.read("Policy: budget\n" + text.format("9" * 5000))
    assert dump.maximum is None
    assert [app.priority for app in dump.priorities] in ([], [None])
