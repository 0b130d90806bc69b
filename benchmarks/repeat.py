"""Runs a suite many times in random order and compares the verdicts.

    python benchmarks/repeat.py --times 20 -- run vts --plugin reference

What follows `--` is a command line of npu-conformance without --seed, --shuffle and --report. Exit 1 where runs differ.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path

from npu_conformance.cli.main import main as npu_conformance
from npu_conformance.harness.run import results
from npu_conformance.harness.run.folders import RESULTS

Verdicts = dict[str, str]
"""The outcome by the id of a case or configuration."""


def verdicts(folder: Path) -> Verdicts:
    """The outcome of every case and configuration of a run."""
    cases = results.read(folder / RESULTS).cases
    of_configurations = {
        f"{case.case}#{name}": outcome.value for case in cases for name, outcome in case.configurations.items()
    }
    return {**{case.case: case.outcome.value for case in cases}, **of_configurations}


def run(command: list[str], seed: int) -> Verdicts:
    """Run once in a random order, in this process."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
            npu_conformance([*command, "--seed", str(seed), "--shuffle", "--report", folder, "--quiet"])
        return verdicts(Path(folder))


def differences(first: Verdicts, other: Verdicts) -> list[str]:
    """The ids whose verdicts differ. Seeds choose among mutations of a family: those of both runs count."""
    only = {name for name in set(first) ^ set(other) if "#" not in name}
    return sorted(only | {name for name in set(first) & set(other) if first[name] != other[name]})


def main() -> int:
    """Compare the runs with the first one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1, help="runs at once, each process doing many")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    unequal = 0
    with ProcessPoolExecutor(options.jobs) as pool:
        runs = pool.map(partial(run, command), range(options.times))
        first = next(runs)
        for number, verdicts_of_run in enumerate(runs, 2):
            changed = differences(first, verdicts_of_run)
            unequal += bool(changed)
            print(f"run {number}: {len(changed)} of {len(first)} verdicts differ {' '.join(changed[:5])}", flush=True)
    print(f"{options.times} runs of {len(first)} cases, {unequal} with other verdicts than the first")
    return 1 if unequal else 0


if __name__ == "__main__":
    sys.exit(main())
