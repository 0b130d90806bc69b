"""`run -n N`: this command again, once for each shard, and one report of what they recorded."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from npu_conformance.harness import baseline, selection, shards, waivers
from npu_conformance.harness.cases import Case
from npu_conformance.harness.partition import partition
from npu_conformance.harness.selection import Wanted
from npu_conformance.harness.session import EVENTS, FAILURES, ROOT, Summary, conclude
from npu_conformance.harness.waivers import Waivers


def run(options: argparse.Namespace, cases: list[Case], wanted: Wanted, selected: selection.Selected) -> Summary:
    """Run the shards, merge their events and conclude."""
    parts = partition(cases, options.processes)
    folder = Path(options.report) if options.report else ROOT / f"{_plain(options.plugin)}"
    directories = [folder / "shards" / str(number) for number in range(1, len(parts) + 1)]
    commands = [
        _command(options, f"{number}/{len(parts)}", directory) for number, directory in enumerate(directories, 1)
    ]
    codes = shards.run_shards(commands, directories)
    collected = [
        shards.collect(number, [case.id for case in part], code, directory)
        for number, (part, code, directory) in enumerate(zip(parts, codes, directories, strict=True), 1)
    ]
    log = shards.merge(collected, folder / EVENTS)
    _gather_failures(folder, directories)
    shutil.rmtree(folder / "shards")
    applied = waivers.load(Path(options.waivers)) if options.waivers else Waivers()
    compared = baseline.load(Path(options.baseline), log.header.digests) if options.baseline else None
    return conclude(log, folder, applied, compared)


def _command(options: argparse.Namespace, shard: str, directory: Path) -> list[str]:
    command = ["run", *options.targets, "--plugin", options.plugin, "--shard", shard, "--report", str(directory)]
    command += ["--scope", options.scope, "--seed", str(options.seed), "--isolation", options.isolation]
    for flag, values in (("--plugin-option", options.plugin_option), ("--transport", options.transport)):
        for value in values:
            command += [flag, value]
    for flag, value in (
        ("-k", options.expression), ("--hal", options.hal), ("--vectors", options.vectors),
        ("--waivers", options.waivers), ("--budget", options.budget), ("--stop-after", options.stop_after),
    ):  # fmt: skip
        if value:
            command += [flag, str(value)]
    return [*command, *(["--shuffle"] if options.shuffle else []), "--quiet", "--part"]


def _gather_failures(folder: Path, directories: list[Path]) -> None:
    target = folder / FAILURES
    shutil.rmtree(target, ignore_errors=True)
    for directory in directories:
        for file in (directory / FAILURES).glob("*.json"):
            target.mkdir(parents=True, exist_ok=True)
            file.replace(target / file.name)


def _plain(plugin: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in plugin)
