"""`npu-conformance npu simulate`: the manager and the scheduling HAL of the reference, with many apps."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import msgspec

from npu_conformance.cli.commands._output import print_json, reserved, write_text
from npu_conformance.cli.errors import UsageError
from npu_conformance.harness.judge.outcome_table import OK, WRONG
from npu_conformance.simulation import generate, page, table, world
from npu_conformance.simulation.report import PolicyReport
from npu_conformance.simulation.violation import Violation
from npu_conformance.specs import documents
from npu_conformance.specs.npu import scenario as scenarios
from npu_conformance.specs.npu.scenario import Scenario

_APPS, _MINUTES = 100, 10
_MOST_APPS, _MOST_MINUTES = 100_000, 24 * 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument(
        "scenario", nargs="?", type=Path, help="a scenario file; without one, a scenario is made from the seed"
    )
    parser.add_argument("--apps", metavar="N", type=int, help=f"apps of the scenario that is made (default: {_APPS})")
    parser.add_argument("--minutes", metavar="M", type=int, help=f"how long it lasts (default: {_MINUTES})")
    parser.add_argument("--seed", metavar="N", type=int, help="seed of what is drawn (default: the file's, or 0)")
    parser.add_argument(
        "--policy", metavar="NAME", action="append", help="simulate only this policy of the scenario; repeatable"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--html", metavar="FILE", type=Path, help="write a page with tables and plots")
    parser.add_argument("--write-scenario", metavar="FILE", type=Path, help="write the scenario to a file, and stop")


def execute(options: argparse.Namespace) -> int:
    """Simulate; return WRONG where the manager or the HAL breaks a promise.

    The speed is printed on stderr.
    """
    scenario = _scenario(options)
    if options.write_scenario is not None:
        write_text(options.write_scenario, msgspec.json.format(msgspec.json.encode(scenario), indent=1).decode() + "\n")
        return OK
    try:
        with reserved(options.html):
            report = world.simulate(scenario, _Stopwatch().tell)
            if options.html is not None:
                write_text(options.html, page.page(report))
    except Violation as violation:
        print(f"npu-conformance: {violation}", file=sys.stderr)
        return WRONG
    if options.json:
        print_json(report)
    else:
        print("\n".join(table.lines(report)))
    return OK


class _Stopwatch:
    """Prints how fast each policy was simulated."""

    def __init__(self) -> None:
        self._started = time.perf_counter()

    def tell(self, report: PolicyReport) -> None:
        now = time.perf_counter()
        seconds, self._started = now - self._started, now
        rate = report.events / max(seconds, 1e-9)
        print(f"{report.policy}: {report.events} events in {seconds:.1f} s, {rate:.0f} a second", file=sys.stderr)


def _scenario(options: argparse.Namespace) -> Scenario:
    scenario = _made(options) if options.scenario is None else _read(options)
    if options.policy is None:
        return scenario
    titles = [choice.title for choice in scenario.policies]
    for name in options.policy:
        if name not in titles:
            raise UsageError(f"--policy {name}: the scenario has {', '.join(titles)}")
    return msgspec.structs.replace(
        scenario, policies=tuple(choice for choice in scenario.policies if choice.title in options.policy)
    )


def _read(options: argparse.Namespace) -> Scenario:
    if options.apps is not None or options.minutes is not None:
        raise UsageError("--apps and --minutes: only without a scenario file, which sets both")
    scenario = documents.read(options.scenario, Scenario, named=True)
    scenarios.check(scenario, str(options.scenario))
    return scenario if options.seed is None else msgspec.structs.replace(scenario, seed=options.seed)


def _made(options: argparse.Namespace) -> Scenario:
    apps = _within("--apps", options.apps, _APPS, _MOST_APPS)
    minutes = _within("--minutes", options.minutes, _MINUTES, _MOST_MINUTES)
    return generate.generate(apps, options.seed or 0, minutes)


def _within(name: str, given: int | None, default: int, most: int) -> int:
    if given is not None and not 1 <= given <= most:
        raise UsageError(f"{name}: expected a number from 1 to {most}, found {given}")
    return default if given is None else given
