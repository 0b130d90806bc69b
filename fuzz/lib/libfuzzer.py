"""A fuzzer as ClusterFuzzLite and OSS-Fuzz want it: libFuzzer's own options, and a finding ends the process.

A campaign of this project (`npu-conformance fuzz`) does more: it goes on after a finding, makes it small and keeps it.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from npu_conformance.fuzz.lib.campaign.documents import RoundJob
from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.inputs import digest
from npu_conformance.fuzz.lib.target import LARGEST_INPUT, NOT_JUDGED, Target, fuzzer_named
from npu_conformance.fuzz.lib.worker import attacked_by, target_of

PLUGIN = "NPU_PLUGIN"
"""The environment variable that names the plug-in to attack instead of the reference."""


def attack(name: str) -> None:
    """Run libFuzzer with the words of the command line; it never returns. A finding is an exception of the input."""
    import atheris

    target = _target(name)

    def run(data: bytes) -> None:
        with suppress(*NOT_JUDGED):
            target.run(data[:LARGEST_INPUT])

    def mutator(data: bytes, max_size: int, seed: int) -> bytes:
        return target.mutate(data, Choices.seeded(seed), max_size)

    atheris.Setup(sys.argv, run, custom_mutator=mutator)
    atheris.Fuzz()


def write_seeds(name: str, folder: Path) -> None:
    """Write what the search starts from, a file each, named by its digest."""
    folder.mkdir(parents=True, exist_ok=True)
    for data in _target(name).seeds:
        (folder / digest(data)).write_bytes(data)


def _target(name: str) -> Target:
    plugin, fuzzer = os.environ.get(PLUGIN, "reference"), fuzzer_named(name)
    job = RoundJob(fuzzer=name, plugin=plugin, options={}, hal=None, engine="atheris", seed=0)
    return target_of(fuzzer, attacked_by(job))
