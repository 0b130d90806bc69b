"""The slice of a fuzzer that every run includes: a fixed number of inputs that follow from the case's seed."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable

from npu_conformance.fuzz.lib.choices import SIZE, Choices
from npu_conformance.fuzz.lib.target import LARGEST_INPUT, Target
from npu_conformance.harness.run.context import CaseContext


def attack(context: CaseContext, target: Target, runs: int, payload: Callable[[bytes], object]) -> None:
    """Run the target with `runs` inputs; the one that fails goes into the failure file as `payload` makes it."""
    source = random.Random(context.seed)
    for number in range(runs):
        data = target.seeds[source.randrange(len(target.seeds))]
        for _ in range(1 + number % 3):
            data = target.mutate(data, Choices(source.randbytes(SIZE)), LARGEST_INPUT)
        context.attach(functools.partial(payload, data))
        target.run(data)
