"""What holds for every fuzzer: its short case passes, odd inputs are passed over, findings replay."""

from __future__ import annotations

import importlib
from contextlib import closing
from typing import Any

import msgspec
import pytest

from npu_conformance.fuzz import AREAS
from npu_conformance.fuzz.lib.choices import SIZE, Choices
from npu_conformance.fuzz.lib.histories import HistoryTarget
from npu_conformance.fuzz.lib.inputs import lines_of
from npu_conformance.fuzz.lib.target import LARGEST_INPUT, Attacked, Target, fuzzer_named
from npu_conformance.harness.judge.verdicts import CaseEnded
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import open_subject

HISTORIES = ("burst", "cache", "manager", "memory_domain", "runtime", "scheduling")
"""The fuzzers whose inputs are histories."""

NO_HISTORIES = (b"", b"{}", b"\xff", b'[{"do":"fly"}]', b'[{"do":"\xff"}]')


def area(name: str) -> Any:
    """The area of a fuzzer."""
    return importlib.import_module(f"npu_conformance.fuzz.{name}")


def target_of(name: str, subject: SubjectHandle) -> Target:
    return fuzzer_named(name).target(Attacked(subject, "reference", {}))


@pytest.mark.parametrize("name", AREAS)
def test_the_short_case_passes_on_the_reference(name: str) -> None:
    (case,) = area(name).cases()
    with closing(open_subject("reference")) as subject, closing(CaseContext(case, subject, seed=5)) as context:
        case.run(context)
        assert context.is_flawless
        assert context.payload is not None, "no input reached the reference"


@pytest.mark.parametrize("name", HISTORIES)
def test_what_is_no_history_is_passed_over(name: str) -> None:
    with closing(open_subject("reference", isolation="inprocess")) as subject:
        for data in NO_HISTORIES:
            assert list(target_of(name, subject).run(data)) == []


@pytest.mark.parametrize(
    ("name", "history", "seen"),
    [
        ("burst", '[{"do":"open","vector":"NO/vector"},{"do":"execute"}]', {"Open nothing", "Execute nothing"}),
        ("cache", '[{"do":"save","model":"no/model"},{"do":"swap"},{"do":"restore"}]', {"Save nothing"}),
        ("manager", '[{"do":"load","id":4294967296}]', set()),
        ("memory_domain", '[{"do":"execute","model":4,"inputs":[-102]},{"do":"read"},{"do":"free"}]', {"Read nothing"}),
        ("runtime", '[{"do":"call","name":"fly"}]', set()),
        ("runtime", '[{"do":"built","kind":7}]', set()),
        ("scheduling", '[{"do":"pass","ms":-1},{"do":"cancel_work","uid":4294967296}]', {""}),
    ],
)
def test_steps_that_nobody_can_take_do_nothing(name: str, history: str, seen: set[str]) -> None:
    with closing(open_subject("reference", isolation="inprocess")) as subject:
        found = set(target_of(name, subject).run(history.encode()))
    assert found >= seen
    assert bool(found) is bool(seen)


@pytest.mark.parametrize("name", HISTORIES)
def test_mutations_and_pieces_are_histories(name: str) -> None:
    with closing(open_subject("reference", isolation="inprocess")) as subject:
        target, data = target_of(name, subject), b"[]"
        assert isinstance(target, HistoryTarget)
        for seed in range(300):
            data = target.mutate(data, Choices.seeded(seed), LARGEST_INPUT)
            assert target.histories.decoded(data) is not None
            assert len(msgspec.json.decode(data)) <= target.histories.most
        assert all(target.histories.decoded(piece) is not None for piece in target.pieces(data))
        assert target.mutate(b"no history", Choices(bytes(SIZE)), LARGEST_INPUT) == b"no history"


class _Silent:
    """Interfaces that nobody may ask."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} is asked outside of any input")


@pytest.mark.parametrize("name", AREAS)
def test_nothing_but_inputs_asks_the_subject(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its death while an input is chosen, cut or shown would be put down to another one."""
    with closing(open_subject("reference", isolation="inprocess")) as subject, monkeypatch.context() as silence:
        target = target_of(name, subject)
        silence.setattr(subject, "interfaces", _Silent())
        for seed in range(60):
            data = target.mutate(target.seeds[seed % len(target.seeds)], Choices.seeded(seed), LARGEST_INPUT)
            target.readable(data)
            assert all(target.pieces(data))


REPLAYED = {
    "burst": (
        "burst_drivers:plugin",
        "releases-known",
        '[{"do":"open","vector":"ADD/float16_none_row"},{"do":"release","token":9}]',
        "release of token 9",
    ),
    "cache": (
        "cache_drivers:plugin",
        "forgets-token",
        '[\n{"do":"save","model":"sum/one"},\n{"do":"restore","token":1}\n]',
        "expected GENERAL_FAILURE, found NONE",
    ),
    "manager": (
        "managed_drivers:plugin",
        "completes-twice",
        '[{"do":"ask"},{"do":"load"},{"do":"policy"}]',
        "completed 2 times",
    ),
    "memory_domain": (
        "buffer_drivers:plugin",
        "fresh-has-zeros",
        '[\n{"do":"allocate","inputs":[[0,0]]}\n]',
        "copyTo of a buffer without content",
    ),
    "scheduling": (
        "scheduled_drivers:plugin",
        "ends-twice",
        '[{"do":"run"},{"do":"fail_work","uid":10201},{"do":"run"},{"do":"cancel"}]',
        "ends 2 times",
    ),
}
"""By fuzzer: a driver, its bug, a history that shows it, and what is said of it."""


@pytest.mark.parametrize("isolation", ["process", "inprocess"])
@pytest.mark.parametrize("name", REPLAYED)
def test_a_finding_replays(name: str, isolation: Any) -> None:
    plugin, bug, history, said = REPLAYED[name]
    case = area(name).case_from(msgspec.to_builtins(lines_of(history.encode())))
    with (
        closing(open_subject(plugin, {"bug": bug}, isolation)) as subject,
        closing(CaseContext(case, subject)) as context,
    ):
        with pytest.raises(CaseEnded, match=said):
            case.run(context)
        assert context.payload is not None
