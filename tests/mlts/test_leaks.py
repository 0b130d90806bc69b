"""What counts as a leak: steady growth with the work, and neither steps nor what comes and goes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, cast

import pytest
from msgspec.structs import replace
from patience import eventually

from npu_conformance.harness.judge.verdicts import Crashed
from npu_conformance.harness.subject.holdings import COUNTS, Holdings, descendants
from npu_conformance.mlts.lib import driver, leaks
from npu_conformance.mlts.lib.clients import Load
from npu_conformance.mlts.lib.leaks import steady_growth

START = Holdings(descriptors=20, shared_mappings=4, threads=6, processes=1, memory=90_000)
ROUNDS = (40, 40, 40)


def samples(name: str, *values: int) -> list[Holdings]:
    return [replace(START, **{name: value}) for value in values]


@pytest.mark.parametrize("name", COUNTS)
def test_one_thing_a_round_is_a_leak(name: str) -> None:
    assert steady_growth(samples(name, 10, 50, 90, 130), ROUNDS) == {name: 120}


def test_one_thing_in_four_rounds_is_a_leak_and_less_is_not() -> None:
    assert steady_growth(samples("threads", 10, 20, 30, 40), ROUNDS) == {"threads": 30}
    assert steady_growth(samples("threads", 10, 19, 28, 37), ROUNDS) == {}


@pytest.mark.parametrize(
    "values",
    [(10, 10, 10, 10), (10, 200, 200, 200), (10, 70, 130, 131), (10, 90, 50, 130), (130, 90, 50, 10), (10, 12, 14, 16)],
)
def test_steps_and_what_comes_and_goes_are_no_leak(values: tuple[int, ...]) -> None:
    assert steady_growth(samples("descriptors", *values), ROUNDS) == {}


def test_a_pool_of_threads_that_comes_to_its_size_during_few_rounds_is_no_leak() -> None:
    assert steady_growth(samples("threads", 6, 9, 12, 14), (4, 4, 4)) == {}


def test_growth_is_steady_by_the_work_between_two_looks() -> None:
    assert steady_growth(samples("descriptors", 10, 110, 120, 150), (100, 10, 30)) == {"descriptors": 140}
    assert steady_growth(samples("descriptors", 10, 110, 112, 142), (100, 10, 30)) == {}


def test_memory_leaks_by_mebibytes() -> None:
    assert steady_growth(samples("memory", 0, 5_000, 10_000, 15_000), ROUNDS) == {"memory": 15_000}
    assert steady_growth(samples("memory", 0, 4_000, 8_000, 12_000), ROUNDS) == {}


def test_a_cache_that_fills_is_no_leak() -> None:
    assert steady_growth(samples("memory", 0, 40_000, 60_000, 65_000), ROUNDS) == {}


@pytest.mark.parametrize("few", [[], [START], samples("threads", 10, 100)])
def test_too_few_looks_show_nothing(few: list[Holdings]) -> None:
    assert steady_growth(few, ROUNDS[: max(0, len(few) - 1)]) == {}


@pytest.mark.parametrize(
    ("reported", "looked_at"),
    [
        ((10, 20, 30, 40, 60, 80, 100), [20, 40, 60, 80]),
        ((5, 65, 66, 70, 76, 81, 90), [65, 76, 90]),  # whoever watches had no processor for a while
    ],
)
def test_looks_lie_apart(reported: Sequence[int], looked_at: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_process_of", lambda _: 0)
    monkeypatch.setattr(driver, "held_by_family", lambda _: START)
    monkeypatch.setattr(driver.Watch, "_visit", lambda _: None)
    watch = driver.Watch(cast(Any, None), cast(Any, None))
    watch.expect(Load(1, 1, 100))
    for rounds in reported:
        watch.observe(rounds)
    assert watch._rounds_at == looked_at


def test_growth_is_told_in_words() -> None:
    assert leaks.told({"shared_mappings": 3, "memory": 9}) == "3 shared mappings, 9 KiB of private memory"


def test_holdings_are_those_of_the_whole_family() -> None:
    program = "import subprocess, sys; subprocess.Popen(['sleep', '60']); print(flush=True); sys.stdin.read()"
    parent = subprocess.Popen(
        [sys.executable, "-S", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0
    )
    try:
        assert parent.stdout is not None
        parent.stdout.readline()
        (child,) = descendants(parent.pid)
        found = leaks.held_by_family(parent.pid)
        assert found is not None
        assert (found.processes, found.threads) == (2, 2)
        assert found.memory > 0
        name = "sleep\00060\0"
        eventually(lambda: (who := leaks.identity_of(child)) is not None and who.command == name)
    finally:
        os.killpg(parent.pid, 9)
        parent.communicate()
    assert leaks.held_by_family(parent.pid) is None
    assert leaks.identity_of(parent.pid) is None
    assert descendants(parent.pid) == []


def test_of_a_process_out_of_sight_nothing_is_known() -> None:
    assert leaks.held_by_family(0) is None


def test_a_process_that_is_gone_without_a_word_is_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_process_of", lambda _: 1)
    monkeypatch.setattr(driver, "held_by_family", lambda _: None)
    monkeypatch.setattr(driver.Watch, "_visit", lambda _: None)
    watch = driver.Watch(cast(Any, None), cast(Any, None))
    with pytest.raises(Crashed, match="the driver's process is gone"):
        watch._check_repeated(lambda: None, "visits")
