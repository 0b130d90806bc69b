"""Cases of random models and drivers: one for each seed, which is the number in the id."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Protocol

from npu_conformance.harness.run.cases import Case, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.versions import Version


class Run(Protocol):
    """What a case does."""

    def __call__(self, context: CaseContext, seed: int) -> None: ...


def seeded(
    area: str,
    seeds: int,
    run: Run,
    requirements: tuple[str, ...],
    *,
    in_smoke: int = 0,
    what: str = "model and the drivers",
    first: int = 0,
) -> Iterator[Case]:
    """The cases of an area, for the seeds from `first` on that are below `seeds`.

    in_smoke: so many of them are in the smallest scope. what: of the seed, for a reader.
    """
    for seed in range(first, seeds):
        yield Case(
            f"{area}.seeds.seed_{seed}",
            functools.partial(run, seed=seed),
            requirements,
            f"The {what} of seed {seed}.",
            "runtime",
            since=Version.V1_3,
            scope=Scope.SMOKE if seed < in_smoke else Scope.DEFAULT,
        )
