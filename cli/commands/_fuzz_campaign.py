"""Runs a campaign for `npu-conformance fuzz`, and tells how it goes."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager

from npu_conformance.cli.commands import _fuzz_findings
from npu_conformance.cli.commands._numbers import require_not_negative, require_positive
from npu_conformance.fuzz.lib.campaign import executors
from npu_conformance.fuzz.lib.campaign.campaign import Campaign, Limits
from npu_conformance.fuzz.lib.campaign.documents import Finding, RoundJob, Settings
from npu_conformance.fuzz.lib.campaign.executors import Workers
from npu_conformance.fuzz.lib.campaign.folder import FINDINGS_FOLDER, CampaignFolder
from npu_conformance.fuzz.lib.campaign.rounds import has_atheris
from npu_conformance.fuzz.lib.campaign.shares import Arm
from npu_conformance.fuzz.lib.target import Fuzzer
from npu_conformance.harness.judge.outcome_table import OK, SUITE_FAILED, WRONG
from npu_conformance.harness.run.interruption import Interruption
from npu_conformance.harness.subject.loading import require_text
from npu_conformance.harness.subject.patience import require_sensible
from npu_conformance.harness.subject.plugin_loading import LoadError, is_elsewhere
from npu_conformance.harness.subject.plugin_options import parse_options
from npu_conformance.specs import versions
from npu_conformance.specs.diagnostics import shell
from npu_conformance.specs.diagnostics.counted import counted

_ATHERIS_FROM = 120.0
"""Seconds: shorter campaigns go without Atheris, whose instrumented imports take 10 s a round."""
_CLEAR = "\r\033[K"


def run(options: argparse.Namespace, fuzzers: Sequence[Fuzzer]) -> int:
    """Run it; returns WRONG where it met a finding, known or new, SUITE_FAILED where a fuzzer did nothing."""
    limits = _limits(options)
    arms = _arms(options, fuzzers, limits)
    settings = _settings(options)
    folder = CampaignFolder(options.corpus, settings)
    interruption = Interruption()
    try:
        with interruption:
            campaign = _run_to_the_end(options, _job(options, settings), arms, limits, folder)
            interruption.pass_over()
            return _end(campaign)
    finally:
        folder.close()


def _run_to_the_end(
    options: argparse.Namespace, job: RoundJob, arms: Sequence[Arm], limits: Limits, folder: CampaignFolder
) -> Campaign:
    """Run to the end, or until somebody interrupts: what is merged by then stays, and what rounds have found."""
    campaign: Campaign | None = None
    try:
        with _workers(options, folder) as workers:
            campaign = Campaign(folder, job, arms, limits, workers, CampaignLine())
            print(_headline(options, arms, folder), flush=True)
            for damage in folder.damaged:
                print(f"{folder.path}: {damage}; the campaign continues without it", flush=True)
            campaign.run()
    except KeyboardInterrupt:
        if campaign is None:
            raise
        folder.take_up()
        print("\ninterrupted: the rounds that were running are lost, except for their findings", flush=True)
    return campaign


def _end(campaign: Campaign) -> int:
    """Sum up, and write the page. Raises LoadError where no fuzzer can attack the plug-in."""
    if campaign.inapplicable.keys() >= {arm.fuzzer for arm in campaign.arms}:
        raise LoadError("; ".join(f"fuzz {name}: {reason}" for name, reason in campaign.inapplicable.items()))
    code = _summed_up(campaign)
    print(f"report: {_fuzz_findings.report(campaign.folder.path)}")
    return code


def _workers(options: argparse.Namespace, folder: CampaignFolder) -> AbstractContextManager[Workers]:
    if options.scheduler:
        return executors.cluster(options.scheduler, options.jobs)
    return executors.local(options.jobs or 1, folder.note)


def _limits(options: argparse.Namespace) -> Limits:
    require_positive("--runs", options.runs)
    require_positive("--jobs", options.jobs)
    require_not_negative("--seed", options.seed)
    require_sensible(options.longest_wait, 1.0)
    return Limits(options.time if options.runs is None else None, options.runs)


def _arms(options: argparse.Namespace, fuzzers: Sequence[Fuzzer], limits: Limits) -> list[Arm]:
    """One arm for each fuzzer and engine. Atheris takes part where it can follow coverage, and has the time."""
    if options.engine is not None:
        return [Arm(fuzzer.name, options.engine) for fuzzer in fuzzers]
    arms = [Arm(fuzzer.name, "evolution") for fuzzer in fuzzers]
    is_python = not is_elsewhere(options.plugin) and not options.plugin.endswith(".so")
    if has_atheris() and is_python and (limits.seconds or 0) >= _ATHERIS_FROM * len(fuzzers):
        arms += [Arm(fuzzer.name, "atheris") for fuzzer in fuzzers]
    return arms


def _settings(options: argparse.Namespace) -> Settings:
    if options.hal is not None:
        try:
            versions.parse(options.hal)
        except ValueError as error:
            raise LoadError(f"--hal: {error}") from None
    given = parse_options(options.plugin_option)
    require_text(options.plugin, given)
    require_text(options.beside, {})
    return Settings(
        format=1,
        plugin=options.plugin,
        options=given,
        hal=options.hal,
        beside=options.beside,
    )


def _job(options: argparse.Namespace, settings: Settings) -> RoundJob:
    return RoundJob(
        fuzzer="",
        plugin=settings.plugin,
        options=settings.options,
        hal=settings.hal,
        engine="evolution",
        seed=options.seed,
        beside=settings.beside,
        at_once=options.jobs or 1,
        longest_wait=options.longest_wait,
    )


def _headline(options: argparse.Namespace, arms: Sequence[Arm], folder: CampaignFolder) -> str:
    names = ", ".join(dict.fromkeys(arm.fuzzer for arm in arms))
    engines = ", ".join(dict.fromkeys(arm.engine for arm in arms))
    before = f"; continues after {counted(len(folder.rounds), 'round')} in {folder.path}" if folder.rounds else ""
    return f"fuzz {names} of {options.plugin}, engine {engines}, seed {options.seed}{before}"


class CampaignLine:
    """The live line on a terminal; elsewhere one line every half a minute. New findings have lines of their own.

    To make a finding smaller may take as long as that: the live line says so, and elsewhere lines tell begin and end.
    """

    _EVERY = 30.0
    _SOON = 1.0
    """Seconds in which most findings are small."""

    def __init__(self) -> None:
        self._told = 0
        self._next = self._EVERY
        self._minimised: set[str] = set()

    def __call__(self, campaign: Campaign) -> None:
        """Show where the campaign is."""
        is_live = sys.stdout.isatty()
        minimised = campaign.workers.under_way.now()
        minimised = {what: seconds for what, seconds in minimised.items() if seconds >= self._SOON}
        if not is_live:
            self._tell_minimised(campaign, set(minimised))
        fresh = campaign.findings[self._told :]
        self._told += len(fresh)
        for finding in fresh:
            print((_CLEAR if is_live else "") + _told(finding), flush=True)
        if is_live:
            making = "".join(f", making the {what} smaller for {seconds:.0f} s" for what, seconds in minimised.items())
            line = f"{campaign.elapsed:.0f} s{making}: {_counts(campaign)}"
            print(_CLEAR + line[: shutil.get_terminal_size().columns - 1], end="", flush=True)
        elif campaign.elapsed >= self._next:
            self._next += self._EVERY
            print(_state(campaign), flush=True)

    def _tell_minimised(self, campaign: Campaign, minimised: set[str]) -> None:
        for what in minimised - self._minimised:
            print(f"{campaign.elapsed:.0f} s: making the {what} smaller", flush=True)
        for what in self._minimised - minimised:
            print(f"{campaign.elapsed:.0f} s: the {what} is as small as it gets", flush=True)
        self._minimised = minimised


def _told(finding: Finding) -> str:
    call = finding.where.partition(" at ")[0].partition(": found ")[0]
    where = "" if finding.message.startswith(call) else f"{finding.where}: "
    return f"{finding.kind.upper()} in {finding.fuzzer}: {where}{finding.message}"


def _state(campaign: Campaign) -> str:
    return f"{campaign.elapsed:.0f} s: {_counts(campaign)}"


def _counts(campaign: Campaign) -> str:
    latest = {line.fuzzer: line for line in campaign.folder.rounds}
    corpus, features = (sum(getattr(line, name) for line in latest.values()) for name in ("corpus", "features"))
    last = f", the last new at {campaign.findings[-1].at:.0f} s" if campaign.findings else ""
    return (
        f"{counted(len(campaign.rounds), 'round')}, {counted(campaign.executions, 'run')} "
        f"({campaign.executions / max(campaign.elapsed, 1e-9):,.0f} a second), corpus {corpus:,}, "
        f"features {features:,}, findings {campaign.folder.count}{last}"
    )


def _summed_up(campaign: Campaign) -> int:
    print((_CLEAR if sys.stdout.isatty() else "") + _state(campaign))
    for name, reason in campaign.inapplicable.items():
        print(f"{name}: not applicable: {reason}")
    for reason, count in Counter(campaign.lost).items():
        print(f"rounds lost: {count}: {reason}")
    found = campaign.findings
    for finding in found:
        print(f"{finding.kind:16}  {finding.where:40}  {campaign.folder.path / FINDINGS_FOLDER / finding.name}")
    again = _met_again(campaign)
    if not found:
        print("nothing new found" + (f"; {again}" if again else ""))
    elif again:
        print(again)
    return max(WRONG if found or again else OK, SUITE_FAILED if _has_failed(campaign) else OK)


def _met_again(campaign: Campaign) -> str:
    """Which findings of earlier runs are met still, in words; empty for none."""
    count = len(campaign.met_again)
    command = shell.joined(["npu-conformance", "fuzz", "triage", str(campaign.folder.path)])
    again = f"{counted(count, 'known finding')} {'was' if count == 1 else 'were'} met again ({command})"
    return again if count else ""


def _has_failed(campaign: Campaign) -> bool:
    """True where nothing came of the campaign, or of one of its fuzzers: every round was lost, or interrupted."""
    lost = {line.fuzzer for line in campaign.rounds if line.lost}
    lost -= {line.fuzzer for line in campaign.rounds if not line.lost} | campaign.inapplicable.keys()
    return bool(lost) or not (campaign.rounds or campaign.findings)
