"""The guided search: it climbs where a blind one stays below, keeps what is new, and is the same for the same seed."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.engines import evolution, hypothesis_engine


class Word:
    """A target that shows how many letters of a word are right from the left: a stair that can be climbed."""

    name = "word"
    _WORD = b"conformance"

    def __init__(self) -> None:
        self.seeds: Sequence[bytes] = [b"a" * len(self._WORD)]
        self.tried = 0
        self.first = 0

    def mutate(self, data: bytes, choices: Choices, max_size: int) -> bytes:
        position = choices.below(len(data))
        return data[:position] + bytes([97 + choices.below(26)]) + data[position + 1 :]

    def run(self, data: bytes) -> tuple[str, ...]:
        self.tried += 1
        right = next((index for index, letter in enumerate(self._WORD) if data[index] != letter), len(self._WORD))
        if right == len(self._WORD) and not self.first:
            self.first = self.tried
        return (str(right),)

    def pieces(self, data: bytes) -> list[bytes]:
        return []

    def readable(self, data: bytes) -> bytes:
        return data

    def forget(self) -> None:
        """There is no subject."""


def attack(target: Word) -> evolution.Features:
    return lambda data: frozenset(zlib.crc32(feature.encode()) for feature in target.run(data))


def test_it_climbs_where_a_blind_search_does_not() -> None:
    guided, blind = Word(), Word()
    evolution.search(guided, attack(guided), seed=1, runs=30_000)
    hypothesis_engine.search(blind, attack(blind), seed=1, runs=30_000)
    assert guided.first
    assert not blind.first


def test_runs_are_kept_to_and_the_same_for_the_same_seed() -> None:
    tried: list[list[bytes]] = []
    for seed in (5, 5, 6):
        target = Word()
        inputs: list[bytes] = []

        def note(data: bytes, target: Word = target, inputs: list[bytes] = inputs) -> frozenset[int]:
            inputs.append(data)
            return attack(target)(data)

        evolution.search(target, note, seed=seed, runs=500)
        tried.append(inputs)
    assert [len(inputs) for inputs in tried] == [500, 500, 500]
    assert tried[0] == tried[1] != tried[2]


def test_the_corpus_is_run_first_and_may_be_joined() -> None:
    target = Word()
    inputs: list[bytes] = []

    def note(data: bytes) -> frozenset[int]:
        inputs.append(data)
        return attack(target)(data)

    evolution.search(target, note, seed=1, inputs=[b"conformanzz"], runs=3)
    assert [inputs[0], inputs[2]] == [b"conformanzz", b"aaaaaaaaaaa"]
    assert b"conformanzz" in target.seeds


def test_what_is_known_is_not_run_again_and_is_where_the_search_goes_on() -> None:
    target = Word()
    target.seeds = [b"b" * 11, *target.seeds]
    inputs: list[bytes] = []

    def note(data: bytes) -> frozenset[int]:
        inputs.append(data)
        return attack(target)(data)

    known, unknown = b"conformancz", b"xonformance"
    shown = [attack(target)(known), ()]
    evolution.search(target, note, seed=1, inputs=[known, unknown], shown=shown, seeds_run=1, runs=300)
    assert (inputs[0], inputs[2]) == (unknown, b"a" * 11)
    assert known not in inputs[:4]
    assert any(data[:1] + data[-1:] == b"cz" for data in inputs), "what is known is never changed"


def test_time_ends_it() -> None:
    target, now = Word(), [0.0]

    def clock() -> float:
        now[0] += 0.01
        return now[0]

    evolution.search(target, attack(target), seed=1, seconds=1.0, clock=clock)
    assert 90 <= target.tried <= 100
