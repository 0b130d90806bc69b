"""Hypothesis chooses seeds and choices: no coverage, but everywhere, and the same inputs for the same seed."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator

from npu_conformance.fuzz.lib.choices import SIZE, Choices
from npu_conformance.fuzz.lib.target import LARGEST_INPUT, Target

_BATCH = 1000
_INPUTS = 25
"""Inputs made of one draw: drawing costs Hypothesis ten times as much as making and judging an input."""
_MOST_MUTATIONS = 2


def search(
    target: Target,
    attack: Callable[[bytes], object],
    *,
    seed: int,
    runs: int | None = None,
    seconds: float | None = None,
) -> None:
    """Attack until the runs or seconds are used up."""
    ends = time.monotonic() + seconds if seconds is not None else float("inf")
    done = 0
    while time.monotonic() < ends and (runs is None or done < runs):
        count = _BATCH if runs is None else min(_BATCH, runs - done)
        _run_batch(target, attack, seed * 1_000_003 + done, count, ends)
        done += count


def _run_batch(target: Target, attack: Callable[[bytes], object], seed: int, count: int, ends: float) -> None:
    import hypothesis
    from hypothesis import strategies

    left = count

    def once(drawn: bytes) -> None:
        nonlocal left
        for choices in _choices(drawn, min(left, _INPUTS)):
            if time.monotonic() > ends:
                return
            left -= 1
            attack(_input(target, choices))

    limits = hypothesis.settings(
        max_examples=-(-count // _INPUTS),
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    hypothesis.seed(seed)(limits(hypothesis.given(strategies.binary(min_size=SIZE, max_size=SIZE))(once)))()


def _choices(drawn: bytes, count: int) -> Iterator[Choices]:
    """What Hypothesis drew, and more that follows from it."""
    yield from [Choices(drawn)][:count]
    source = random.Random(drawn)
    for _ in range(count - 1):
        yield Choices(source.randbytes(SIZE))


def _input(target: Target, choices: Choices) -> bytes:
    data = choices.pick(target.seeds)
    for _ in range(1 + choices.below(_MOST_MUTATIONS)):
        data = target.mutate(data, choices, LARGEST_INPUT)
    return data
