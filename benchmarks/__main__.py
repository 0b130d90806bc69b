"""`python -m benchmarks [GROUP..]`: measure, print the table, exit 1 where an aim is missed.

`--check` measures the ratios alone, and compares them with those in baseline.json.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict
from functools import partial
from pathlib import Path

from benchmarks import (
    bench_burst,
    bench_cluster,
    bench_cold,
    bench_fuzz,
    bench_fuzz_only,
    bench_graphs,
    bench_items,
    bench_manager,
    bench_models,
    bench_mutations,
    bench_networks,
    bench_npu,
    bench_ratios,
    bench_runtime,
    bench_simulation,
    bench_throughput,
    bench_wire,
    check,
)
from benchmarks.figures import Figure, busy

_QUIET = 0.5
"""The machine counts as quiet up to so many other processes for each processor."""


GROUPS: dict[str, Callable[[], Iterable[Figure]]] = {
    "wire": bench_wire.figures,
    "burst": bench_burst.figures,
    "cluster": bench_cluster.figures,
    "cold": bench_cold.figures,
    "fuzz": bench_fuzz.figures,
    "fuzz_only": bench_fuzz_only.figures,
    "graphs": bench_graphs.figures,
    "items": bench_items.figures,
    "manager": bench_manager.figures,
    "models": bench_models.figures,
    "mutations": bench_mutations.figures,
    "networks": bench_networks.figures,
    "npu": bench_npu.figures,
    "ratios": bench_ratios.figures,
    "runtime": bench_runtime.figures,
    "simulation": bench_simulation.figures,
    "throughput": partial(bench_throughput.figures, None),
}


def main() -> int:
    """Run the groups that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure speed, as ratios in one run.")
    parser.add_argument("groups", metavar="GROUP", nargs="*", help=f"{', '.join(GROUPS)}; default all")
    parser.add_argument("--json", metavar="FILE", help="write the figures")
    parser.add_argument("--onnx-python", metavar="PATH", help="a Python interpreter that has onnx, for the comparison")
    parser.add_argument("--check", action="store_true", help="exit 1 where a ratio is lost by more than a quarter")
    parser.add_argument("--store", action="store_true", help="keep the ratios for later checks")
    arguments = parser.parse_args()
    if arguments.check or arguments.store:
        if arguments.groups or arguments.json or arguments.onnx_python:
            parser.error("--check and --store measure the ratios alone, and take nothing else")
        return _ratios(store=arguments.store)
    groups = GROUPS | {"throughput": partial(bench_throughput.figures, arguments.onnx_python)}
    unknown = [name for name in arguments.groups if name not in groups]
    if unknown:
        parser.error(f"no group {unknown[0]}; there are {', '.join(groups)}")
    _print_machine()
    measured = []
    for name in arguments.groups or groups:
        for figure in groups[name]():
            measured.append(figure)
            print(_row(figure), flush=True)
    print(f"afterwards {busy():.1f} processes for each processor")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps([asdict(figure) for figure in measured], indent=1) + "\n")
    return int(any(figure.verdict == "MISSED" for figure in measured))


def _ratios(*, store: bool) -> int:
    """Compare the ratios with those that are stored, or store them."""
    _print_machine()
    if store:
        check.store(bench_ratios.figures())
        return 0
    lost, gone = False, check.stored()
    for figure in check.judged(bench_ratios.figures(), check.stored()):
        print(_row(figure), flush=True)
        lost |= figure.verdict == "MISSED"
        gone.pop(figure.name)
    for name in gone:
        print(f"{name:42} GONE: it is in {check.BASELINE.name}, and was not measured")
    return int(lost or bool(gone))


def _print_machine() -> None:
    now = datetime.datetime.now(datetime.UTC)
    state = "quiet" if busy() <= _QUIET else "BUSY: figures by the clock are too high"
    cores = len(os.sched_getaffinity(0))
    print(f"{now:%Y-%m-%d}, Python {platform.python_version()}, {platform.machine()}, {cores} processors")
    print(f"{busy():.1f} processes for each processor: {state}\n")


def _row(figure: Figure) -> str:
    value = f"{figure.value:.3g}" if figure.value < 1000 else f"{figure.value:.0f}"
    text = f"{figure.name:42} {value:>8} {figure.unit:8} {figure.aimed_at:18} {figure.verdict:6} {figure.compared}"
    return text.rstrip()


if __name__ == "__main__":
    sys.exit(main())
