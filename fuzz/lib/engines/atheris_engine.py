"""Atheris chooses inputs by the coverage they reach in this project's and the plug-in's Python code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.job import MEMORY_LIMIT, Job
from npu_conformance.fuzz.lib.target import Target

_LARGEST_INPUT = 1 << 14
"""Bytes: libFuzzer lets inputs grow, and each takes longer then. Two seeds joined fit."""


def search(target: Target, attack: Callable[[bytes], None], job: Job) -> None:
    """Attack until the runs or seconds are used up; then the process ends: Atheris never returns.

    The launcher has begun to instrument imports before anything of the project was imported.
    """
    import atheris

    def mutator(data: bytes, max_size: int, seed: int) -> bytes:
        return target.mutate(data, Choices.seeded(seed), max_size)

    limit = f"-runs={job.runs}" if job.runs is not None else f"-max_total_time={int(job.seconds or 1)}"
    arguments = [
        sys.argv[0],
        limit,
        # libFuzzer takes 0 for "choose one".
        f"-seed={job.seed % (2**32 - 1) + 1}",
        f"-max_len={_LARGEST_INPUT}",
        f"-artifact_prefix={job.work}/",
        f"-rss_limit_mb={MEMORY_LIMIT >> 20}",
        *_corpora(target, job),
    ]
    atheris.Setup(arguments, attack, custom_mutator=mutator)
    atheris.Fuzz()


def _corpora(target: Target, job: Job) -> list[str]:
    """The user's folder, where new inputs go, and one with the seeds."""
    seeds = Path(job.work) / "seeds"
    seeds.mkdir()
    for number, data in enumerate(target.seeds):
        (seeds / f"{number:04}").write_bytes(data)
    return [job.corpus, str(seeds)] if job.corpus else [str(seeds)]
