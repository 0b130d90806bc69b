"""`npu-conformance npu demo`: one app takes the NPU over from another."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path

from npu_conformance.cli.commands._numbers import require_positive
from npu_conformance.cli.commands._output import reserved, write_text
from npu_conformance.cli.errors import UsageError
from npu_conformance.harness.judge.outcome_table import OK, WRONG
from npu_conformance.harness.judge.verdicts import CaseEnded
from npu_conformance.harness.run.interruption import Interruption
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.harness.subject.private_directory import temporary_folder
from npu_conformance.harness.subject.remote import RemoteSubject
from npu_conformance.simulation.demo import processes, sharing, timeline
from npu_conformance.simulation.demo.processes import GoneError, ManagerProcess
from npu_conformance.simulation.demo.takeover import ASSISTANT, CAMERA, TakeoverScenario, Transcript, problems
from npu_conformance.specs.errors import InterfaceError

_APPS = (ASSISTANT, CAMERA, sharing.GALLERY, sharing.TRANSLATOR)
_START_SECONDS = 60.0
"""How long the manager's process may take to listen."""


def execute(options: argparse.Namespace) -> int:
    """Run the take-over; return WRONG where it did not happen, or an inference was wrong."""
    require_positive("--inferences", options.inferences)
    if options.listen and not options.listen.startswith("unix:"):
        raise UsageError(f"--listen: expected unix:PATH, found {options.listen!r}")
    with reserved(options.trace), Interruption(), temporary_folder() as folder:
        try:
            address = options.listen or f"unix:{folder}/npu.socket"
            given = _options(options.plugin, options.plugin_option)
            manager = ManagerProcess(options.plugin, address, given, _START_SECONDS)
        except GoneError as error:
            raise LoadError(str(error)) from None
        try:
            return _run(manager, options)
        finally:
            manager.close()
            if options.listen and address.startswith("unix:"):
                Path(address.removeprefix("unix:")).unlink(missing_ok=True)


def _run(manager: ManagerProcess, options: argparse.Namespace) -> int:
    print(f"manager and driver: {options.plugin} at {manager.address}", flush=True)
    subject = open_subject(manager.address)
    assert isinstance(subject, RemoteSubject)
    try:
        scenario = TakeoverScenario(subject, options.inferences, options.seconds, _Printer())
        with processes.apps(*(spec.name for spec in _APPS)) as apps:
            found = _run_steps(scenario, apps)
            if options.trace is not None:
                write_text(options.trace, _trace(scenario.transcript, apps))
    finally:
        subject.close()
    found += problems(scenario.transcript, options.inferences)
    found += sharing.problems(scenario.transcript, subject.manifest.npu_schedules_executions)
    done = {spec.name: sum(event.number > 0 for event in scenario.transcript.of(spec.name)) for spec in _APPS}
    print("inferences, every output compared: " + ", ".join(f"{name} {count}" for name, count in done.items()))
    pauses = sum(event.is_pause for event in scenario.transcript.works.get(sharing.GALLERY.uid, ()))
    ours, theirs = sharing.overtaken(scenario.transcript)
    print(f"while the translator had {ours}, the gallery had {theirs}, and received {pauses} pauses")
    for problem in found:
        print(f"wrong: {problem}", file=sys.stderr)
    print("no take-over" if found else "the camera took over, and the assistant came back")
    return WRONG if found else OK


def _trace(transcript: Transcript, apps: Sequence[processes.AppProcess]) -> str:
    events = {(app.name, app.pid): transcript.of(app.name) for app in apps}
    works = {spec.name: transcript.works.get(spec.uid, ()) for spec in _APPS}
    return timeline.trace(events, transcript.moments, transcript.budget, works)


def _run_steps(scenario: TakeoverScenario, apps: Sequence[processes.AppProcess]) -> list[str]:
    assistant, camera, gallery, translator = apps
    try:
        scenario.set_up()
        scenario.start(assistant, ASSISTANT)
        scenario.start(camera, CAMERA)
        scenario.run(assistant, camera)
        sharing.run(scenario, gallery, translator)
    except (GoneError, CaseEnded, InterfaceError) as ended:
        return [str(ended)]
    finally:
        with contextlib.suppress(CaseEnded, InterfaceError):
            scenario.collect_work()
    return []


def _options(plugin: str, given: Sequence[str]) -> list[str]:
    """The options that are given; the reference's time goes by itself only where it is asked to."""
    has_clock = any(option.startswith("clock=") for option in given)
    return [*given] if has_clock or plugin != "reference" else ["clock=real", *given]


class _Printer:
    """Prints one line for each thing that happens, with milliseconds since the first."""

    def __init__(self) -> None:
        self._began: int | None = None

    def __call__(self, time_ns: int, who: str, text: str) -> None:
        self._began = time_ns if self._began is None else self._began
        print(f"{(time_ns - self._began) / 1e6:9.1f} ms  {who:<10} {text}", flush=True)
