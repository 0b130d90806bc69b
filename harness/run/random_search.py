"""Random scenarios, drawn by Hypothesis from a case's seed; and the fewest steps of one that still fail."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec

from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import InterfaceError

Step = TypeVar("Step")
_MOST_REPLAYS = 250
"""While a failure is cut down."""


def first_failure(
    seed: int, examples: int, attempt: Callable[[random.Random, list[Step]], None]
) -> tuple[Exception, list[Step]] | None:
    """Attempt so many scenarios; returns what the first that raises has raised, and its steps. None where none does.

    attempt: draws steps, puts them into the list, and runs them.
    """
    import hypothesis
    from hypothesis import strategies

    ended: list[tuple[Exception, list[Step]]] = []

    def live(drawn: int) -> None:
        if ended:
            return
        steps: list[Step] = []
        try:
            attempt(random.Random(f"{seed} {drawn}"), steps)  # Hypothesis likes some numbers, whatever the seed
        except Exception as error:  # Hypothesis would look for more of it: the caller raises it
            ended.append((error, steps))

    limits = hypothesis.settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    hypothesis.seed(seed)(limits(hypothesis.given(strategies.integers(0, 2**62))(live)))()
    return ended[0] if ended else None


def cut_down(
    steps: Sequence[Step], error: Failed, replay: Callable[[Sequence[Step]], None]
) -> tuple[list[Step], Failed]:
    """Leave out parts, halves first and single steps last, while what is left fails; returns it, and its failure."""
    left, size, replays = list(steps), len(steps) // 2, 0
    while size and replays < _MOST_REPLAYS:
        start = 0
        while start < len(left) and replays < _MOST_REPLAYS:
            fewer = left[:start] + left[start + size :]
            replays += 1
            try:
                replay(fewer)
            except Failed as found:
                left, error = fewer, found
            except InterfaceError:  # another problem, or none: a step that needed what was left out
                start += size
            else:
                start += size
        size //= 2
    return left, error


def search(
    context: CaseContext,
    examples: int,
    attempt: Callable[[random.Random, list[Step]], None],
    replay: Callable[[Sequence[Step]], None],
) -> None:
    """Attempt so many scenarios; a failure is raised with the fewest steps that bring it about, and they are attached.

    attempt: see first_failure. replay: runs listed steps.
    """
    failure = first_failure(context.seed, examples, attempt)
    if failure is None:
        return
    error, steps = failure
    if isinstance(error, Failed):
        steps, error = cut_down(steps, error, replay)
    context.attach(lambda: payload(context, steps))
    raise error


def payload(context: CaseContext, steps: Sequence[Step]) -> dict[str, Any]:
    """What a failure file holds of a scenario: the case, and the steps."""
    return {"id": context.case.id, "steps": [msgspec.to_builtins(step) for step in steps]}
