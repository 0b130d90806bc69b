"""A subject that dies is restarted, and the target that attacks it stays the same: all know one thing."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from npu_conformance.fuzz.lib.attack import Attack
from npu_conformance.fuzz.lib.campaign.documents import Doubt, RoundJob
from npu_conformance.fuzz.lib.engines import evolution
from npu_conformance.fuzz.lib.native_coverage import NativeCoverage
from npu_conformance.fuzz.lib.target import Attacked, Target
from npu_conformance.harness.judge.verdicts import Crashed
from npu_conformance.harness.subject.handle import SubjectHandle


class Fragile:
    """Dies of every input that begins with x; mutations are of what has been run."""

    name = "fragile"

    def __init__(self) -> None:
        self.seeds: Any = [b"x", b"ab"]
        self.ran: list[bytes] = []
        self.known: list[int] = []
        self.forgotten = 0

    def mutate(self, data: bytes, choices: Any, max_size: int) -> bytes:
        self.known.append(len(self.ran))
        return b"a" + data[:8]

    def run(self, data: bytes) -> tuple[str, ...]:
        self.ran.append(data)
        if data[:1] == b"x":
            raise Crashed("gone")
        return (str(len(data)),)

    def pieces(self, data: bytes) -> list[bytes]:
        return []

    def readable(self, data: bytes) -> bytes:
        return data

    def forget(self) -> None:
        self.forgotten += 1


@pytest.fixture
def restarts() -> list[str]:
    return []


def attack_of(target: Target, folder: Path, restarts: list[str], other: Target | None = None, **more: Any) -> Attack:
    def another(name: str) -> Target:
        assert (name, other is not None) == ("other", True)
        return cast(Target, other)

    job = RoundJob(fuzzer="fragile", plugin="p", options={}, hal=None, engine="evolution", seed=0, **more)
    coverage = NativeCoverage(folder / "coverage")
    return Attack(job, target, folder, lambda: restarts.append("again"), os.getpid, coverage, another)


def test_the_search_goes_on_with_the_target_that_inputs_are_run_on(tmp_path: Path, restarts: list[str]) -> None:
    target = Fragile()
    attack = attack_of(target, tmp_path, restarts)
    evolution.search(target, attack, seed=1, runs=20)
    assert attack.target is target
    assert target.forgotten == len(restarts) > 0
    assert target.known[-1] > 10, "what was run behind a death tells mutations nothing"


def test_a_death_by_the_input_of_another_fuzzer_is_followed_by_a_restart(tmp_path: Path, restarts: list[str]) -> None:
    target, other = Fragile(), Fragile()
    doubted = {"crash: gone": Doubt(fuzzer="other", data=b"xy")}
    attack = attack_of(target, tmp_path, restarts, other, known=("crash: gone",), doubted=doubted)
    attack(b"x")
    assert other.ran == [b"xy"]
    assert (target.forgotten, other.forgotten) == (2, 1)
    assert len(restarts) == 2, "once behind the input, and once behind the known one"


def test_both_implementations_begin_anew() -> None:
    """Which of them has died, nobody asks."""
    restarted: list[str] = []
    sides = [cast(SubjectHandle, SimpleNamespace(restart=lambda name=name: restarted.append(name))) for name in "ab"]
    Attacked(sides[0], "p", {}, sides[1]).restart()
    assert restarted == ["a", "b"]
