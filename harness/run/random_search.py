"""Random scenarios, drawn from a case's seed; and the fewest steps of one that still fail."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.errors import InterfaceError

Step = TypeVar("Step")
most_replays = 250
"""While a failure is cut down. Who asks only whether there is one sets 0 in a process of its own."""
MOST_SECONDS = 15.0
"""While a failure is cut down in real time, where a replay lasts as long as the steps that are left, and where a case
says so whose replays are slow: a failure is told within some twenty seconds."""


class DicedStep(msgspec.Struct, frozen=True):
    """What is done, and the dice that say how: a step that is left out changes no other one."""

    do: str
    dice: int


def diced(kinds: Iterable[str], chance: random.Random) -> list[DicedStep]:
    """Steps of these kinds, each with dice of its own."""
    return [DicedStep(kind, chance.randrange(1 << 32)) for kind in kinds]


class Told:
    """What has been done so far, in words, for the message of what fails. said: each step."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        """Put a step in words."""
        self.said.append(text)

    def telling(self) -> AbstractContextManager[None]:
        """Inside, what fails names what was done before, if anything was."""
        return checks.reworded(lambda message: "\n".join([message, *self._told()]))

    def _told(self) -> list[str]:
        return ["What was done:", *_numbered(self.said)] if self.said else []


def first_failure(
    seed: int, examples: int, attempt: Callable[[random.Random, list[Step]], None]
) -> tuple[Exception, list[Step]] | None:
    """Attempt so many scenarios; returns what the first that raises has raised, and its steps. None where none does.

    attempt: draws steps, puts them into the list, and runs them. Each scenario has dice of its own, so that it is the
    same whatever else has been loaded or drawn.
    """
    for number in range(examples):
        steps: list[Step] = []
        try:
            attempt(random.Random(f"{seed} {number}"), steps)
        except Exception as error:
            return error, steps
    return None


def cut_down(
    steps: Sequence[Step],
    error: Failed,
    replay: Callable[[Sequence[Step]], None],
    seconds: float = math.inf,
    now: Callable[[], float] = time.monotonic,
) -> tuple[list[Step], Failed]:
    """Leave out parts, halves first and single steps last, while what is left fails; returns it, and its failure.

    seconds: by `now`; when they have passed no further replay begins.
    """
    left, size, replays = list(steps), len(steps) // 2, 0
    until = now() + seconds
    while size and replays < most_replays and now() < until:
        start = 0
        while start < len(left) and replays < most_replays and now() < until:
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
    seconds: float = math.inf,
) -> None:
    """Attempt so many scenarios; a failure is raised with the fewest steps that bring it about, and they are attached.

    attempt: see first_failure. replay: runs listed steps. seconds: for cutting down; in real time MOST_SECONDS at most.
    What a scenario makes ends with it.
    """

    def attempt_alone(chance: random.Random, steps: list[Step]) -> None:
        with context.short_lived():
            attempt(chance, steps)

    def replay_alone(steps: Sequence[Step]) -> None:
        with context.short_lived():
            replay(steps)

    failure = first_failure(context.seed, examples, attempt_alone)
    if failure is None:
        return
    error, steps = failure
    if isinstance(error, Failed):
        bound = math.inf if context.manifest.virtual_clock else MOST_SECONDS
        steps, error = cut_down(steps, error, replay_alone, min(seconds, bound))
    context.attach(lambda: payload(context, steps))
    raise error


def search_drawn(
    context: CaseContext,
    examples: int,
    draw: Callable[[random.Random], Iterable[str]],
    live: Callable[[Sequence[DicedStep]], None],
) -> None:
    """As search, for scenarios whose steps have dice of their own. draw: what is done; live: runs a scenario."""

    def attempt(chance: random.Random, steps: list[DicedStep]) -> None:
        steps += diced(draw(chance), chance)
        live(steps)

    search(context, examples, attempt, live)


def fail(problem: str, steps: Sequence[Any], *requirements: str) -> None:
    """Raise Failed with all steps so far. requirements: what breaks, where the case is about more."""
    with checks.about(*requirements):
        checks.that(False, f"{problem}\n{_listed(steps)}")


def must(check: Callable[[], object], steps: Sequence[Any]) -> None:
    """Name the steps so far with what a check says."""
    with checks.reworded(lambda message: f"{message}\n{_listed(steps)}"):
        check()


def _listed(steps: Sequence[Any]) -> str:
    return "\n".join(["Steps:", *_numbered(steps)])


def _numbered(steps: Sequence[Any]) -> Iterator[str]:
    return (f"  {number}. {step}" for number, step in enumerate(steps, 1))


def case_of_steps(
    cases: Iterable[Case],
    listed: Any,
    step: type[Step],
    known: Container[str],
    replay: Callable[[CaseContext, Sequence[Step]], None],
    name: str = "do",
) -> Case:
    """The case of a failure file: it runs the steps that `payload` has listed there.

    step: what one is read as. known: the names of those that there are; name: the field that has it. Raises
    DocumentError for a step that there is not, as another version of the suite may have had it.
    """
    found = next(case for case in cases if case.id == listed["id"])
    steps = msgspec.convert(listed["steps"], list[step])  # type: ignore[valid-type]
    for number, one in enumerate(steps):
        if getattr(one, name) not in known:
            place = f"$.payload.steps[{number}].{name}"
            raise DocumentError(f"failure file of {found.id}", place, f"there is no step {getattr(one, name)!r}")

    def run(context: CaseContext) -> None:
        context.attach(lambda: payload(context, steps))
        replay(context, steps)

    return replace(found, run=run)


def payload(context: CaseContext, steps: Sequence[Step]) -> dict[str, Any]:
    """What a failure file holds of a scenario: the case, and the steps."""
    return {"id": context.case.id, "steps": [msgspec.to_builtins(step) for step in steps]}
