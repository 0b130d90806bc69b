"""`npu-conformance fuzz`: attacks a Python plug-in with models or with lines of the wire."""

from __future__ import annotations

import argparse
from pathlib import Path

from npu_conformance.cli.errors import UsageError
from npu_conformance.fuzz.lib import supervisor
from npu_conformance.fuzz.lib.inputs import Finding
from npu_conformance.fuzz.lib.job import Job
from npu_conformance.harness.judge.outcome_table import OK, WRONG
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.specs import documents, versions

_RUNS = 10_000
_SECONDS = "seconds to spend on made inputs; the start is not counted, nor are Atheris' seeds, which it tries all first"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("target", choices=("models", "wire"), help="models for a device, or lines for its server")
    parser.add_argument(
        "--plugin", metavar="P", required=True, help="a Python plug-in: entry point, package.module:name"
    )
    parser.add_argument("--plugin-option", metavar="NAME=VALUE", action="append", default=[], help="repeatable")
    parser.add_argument("--hal", metavar="VERSION", help="HAL version to test as: 1.0 1.1 1.2 1.3 fl5 fl6 fl7 fl8")
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument("--runs", metavar="N", type=int, help=f"inputs to try (default: {_RUNS})")
    limit.add_argument("--seconds", metavar="S", type=float, help=_SECONDS)
    limit.add_argument("--replay", metavar="FILE", type=Path, help="run the input of a finding file again")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="seed of the inputs; printed")
    parser.add_argument("--corpus", metavar="DIR", type=Path, help="further inputs to start from; Atheris adds to them")
    parser.add_argument("--artifacts", metavar="DIR", type=Path, default=Path(".npu-conformance/fuzz"), help="findings")
    parser.add_argument(
        "--engine", choices=("atheris", "hypothesis"), help="default: Atheris, which follows coverage, if installed"
    )


def execute(options: argparse.Namespace) -> int:
    """Fuzz, or replay one finding; return WRONG where something was found."""
    job = _job(options)
    print(f"fuzz {job.target} of {job.plugin}, engine {job.engine}, seed {job.seed}", flush=True)
    outcome = supervisor.run(job, options.artifacts)
    rate = outcome.runs / outcome.seconds if outcome.seconds else 0.0
    if outcome.finding is None:
        print(
            f"nothing found in {outcome.runs} runs, {outcome.seconds:.1f} s ({rate:.0f} a second) "
            f"after a start of {outcome.start_seconds:.1f} s"
        )
        return OK
    print(f"{outcome.finding.verdict.upper()} in run {outcome.runs}: {outcome.finding.message}")
    print(f"input: {outcome.file}")
    return WRONG


def _job(options: argparse.Namespace) -> Job:
    _check(options)
    given, plugin_options = None, _plugin_options(options.plugin_option)
    hal = options.hal
    if options.replay is not None:
        finding = documents.read(options.replay, Finding)
        if finding.target != options.target:
            raise UsageError(f"{options.replay}: it is a finding of {finding.target}, not of {options.target}")
        given, hal = finding.input, hal or finding.hal_version
    return Job(
        target=options.target,
        plugin=options.plugin,
        options=plugin_options,
        hal=hal,
        engine="hypothesis" if given is not None else options.engine or supervisor.default_engine(),
        runs=_RUNS if options.runs is None and options.seconds is None else options.runs,
        seconds=options.seconds,
        seed=options.seed,
        corpus=str(options.corpus.resolve()) if options.corpus else None,
        work="",
        input=given,
    )


def _check(options: argparse.Namespace) -> None:
    for name in ("runs", "seconds"):
        value = getattr(options, name)
        if value is not None and value <= 0:
            raise UsageError(f"--{name}: expected a positive number, found {value:g}")
    if options.seed < 0:
        raise UsageError(f"--seed: expected a number from 0 up, found {options.seed}")
    if options.corpus is not None and not options.corpus.is_dir():
        raise UsageError(f"--corpus {options.corpus}: no such folder")
    if options.hal is not None:
        try:
            versions.parse(options.hal)
        except ValueError as error:
            raise LoadError(f"--hal: {error}") from None


def _plugin_options(given: list[str]) -> dict[str, str]:
    wrong = [option for option in given if "=" not in option]
    if wrong:
        raise UsageError(f"--plugin-option: expected NAME=VALUE, found {wrong[0]!r}")
    return dict(option.split("=", 1) for option in given)
