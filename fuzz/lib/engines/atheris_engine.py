"""Atheris chooses inputs by the coverage they reach in this project's and the plug-in's Python code."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from npu_conformance.fuzz.lib.attack import CURRENT, Attack, FullError, ending_of
from npu_conformance.fuzz.lib.campaign.documents import RoundJob
from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.current_input import CurrentInput
from npu_conformance.fuzz.lib.memory_limit import MEMORY_LIMIT

CORPUS = "corpus"
"""The folder of a round where libFuzzer puts what it keeps."""
_SEEDS = "seeds"
_LARGEST_INPUT = 1 << 14
"""Bytes: libFuzzer lets inputs grow, and each takes longer then. Two seeds joined fit."""


def search(attack: Attack, job: RoundJob, folder: Path) -> None:
    """Attack until the runs or seconds are used up; then the process ends: Atheris never returns.

    The launcher has begun to instrument imports before anything of the project was imported.
    """
    import atheris

    def mutator(data: bytes, max_size: int, seed: int) -> bytes:
        return attack.target.mutate(data, Choices.seeded(seed), max_size)

    def attacked(data: bytes) -> None:
        try:
            attack(data)
        except (FullError, Exception) as error:
            # Atheris would call it a crash, and end the process with a status of its own.
            ending = ending_of(error, folder)
            CurrentInput(folder / CURRENT).end(ending)
            os._exit(ending)

    limit = f"-runs={job.runs}" if job.runs is not None else f"-max_total_time={int(job.seconds or 1)}"
    arguments = [
        sys.argv[0],
        limit,
        # libFuzzer takes 0 for "choose one".
        f"-seed={job.seed % (2**32 - 1) + 1}",
        f"-max_len={_LARGEST_INPUT}",
        f"-artifact_prefix={folder}/",
        f"-rss_limit_mb={MEMORY_LIMIT >> 20}",
        *_corpora(attack, job, folder),
    ]
    atheris.Setup(arguments, attacked, custom_mutator=mutator)
    atheris.Fuzz()


def _corpora(attack: Attack, job: RoundJob, folder: Path) -> list[str]:
    """A folder for what is kept, empty at first, and one with what to start from."""
    kept, seeds = folder / CORPUS, folder / _SEEDS
    kept.mkdir()
    seeds.mkdir()
    for number, data in enumerate((*job.inputs, *attack.target.seeds)):
        (seeds / f"{number:05}").write_bytes(data)
    return [str(kept), str(seeds)]
