"""The reference runtime on top of a driver that lives in another process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from places import HOSTILE

from npu_conformance.adapters.stacked.reaching import reached
from npu_conformance.cts import generated
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.engine import Engine, EngineOptions
from npu_conformance.harness.run.events import Log
from npu_conformance.harness.run.scope import Scope
from npu_conformance.harness.subject.loading import LoadError, open_subject
from npu_conformance.specs.documents.results import CaseResult, Event
from npu_conformance.specs.outcomes import Outcome

SERVE = f"{sys.executable} -m npu_conformance.harness.subject.serve"


class Kept(Log):
    def write(self, event: Event) -> None:
        self.add(event)


@pytest.fixture(autouse=True)
def _drivers_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HOSTILE))


def stacked(folder: Path, hal: str, **options: str) -> str:
    """Names a runtime over the driver in a process of its own."""
    words = " ".join(f"--plugin-option={name}={value}" for name, value in {"hal": hal, **options}.items())
    return f"stacked:exec:{SERVE} below_the_runtime:plugin --inherited {folder} {words}"


def case(operation: str, name: str) -> Case:
    return next(one for one in generated.cases_under(operation) if one.id.endswith(f".{name}"))


def _refused() -> Case:
    """A case that executes nothing."""
    return next(one for one in generated.cases_under("ADD") if one.requirements == ("FW-GEN-005",))


def run(spec: str, *cases: Case, scope: Scope = Scope.DEFAULT) -> list[CaseResult]:
    subject, log = open_subject(spec), Kept()
    try:
        Engine(cases, subject, log, EngineOptions(scope=scope)).run()
    finally:
        subject.close()
    return [log.results[one.id] for one in cases]


@pytest.mark.parametrize("hal", ["1.1", "1.3", "fl8"])
def test_every_way_to_execute_reaches_the_driver(hal: str, tmp_path: Path) -> None:
    """Synchronous or not, by bursts of either kind, with fences, from the cache, with memory of the driver's own."""
    (found,) = run(stacked(tmp_path, hal), case("ADD", "float32_none_same"), scope=Scope.FULL)
    assert found.outcome is Outcome.PASS, [(part.name, part.message) for part in found.configurations]
    assert found.executed_by["reference-npu"] == ("ADD",)
    assert len(found.configurations) > 20


@pytest.mark.parametrize(
    ("way", "outcome", "words"),
    [("dies", Outcome.CRASH, "the driver's last words"), ("hangs", Outcome.HANG, "the driver below")],
)
def test_a_driver_that_ends_is_the_verdict_of_its_case(way: str, outcome: Outcome, words: str, tmp_path: Path) -> None:
    """The CPU does not take its place, since the case names its device, and the next case has a new one."""
    valid = case("ADD", "float32_none_column")
    ended, behind = run(stacked(tmp_path, "1.3", executing=way), valid, _refused())
    assert (ended.outcome, behind.outcome) == (outcome, Outcome.PASS)
    told = "".join(part.message + part.stderr for part in ended.configurations)
    assert way == "hangs" or words in told
    assert way == "hangs" or {part.signal for part in ended.configurations if part.outcome is outcome} == {11}


def test_a_driver_that_somebody_else_starts_is_waited_for(tmp_path: Path) -> None:
    """Here a loop of a shell does, as a service manager would."""
    address = f"unix:{tmp_path}/socket"
    option = "--plugin-option=executing=dies"
    serve = f"{SERVE} below_the_runtime:plugin --listen {address} --plugin-option=hal=1.3 {option}"
    with subprocess.Popen(["sh", "-c", f"while true; do {serve}; done"], start_new_session=True) as manager:
        try:
            valid = case("ADD", "float32_none_column")
            reached(address, {}).close()  # it takes its time to listen
            ended, behind = run(f"stacked:{address}", valid, _refused())
        finally:
            os.killpg(manager.pid, signal.SIGKILL)
    assert (ended.outcome, behind.outcome) == (Outcome.CRASH, Outcome.PASS), (ended, behind)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("stacked:exec:./no_such_driver", "no command ./no_such_driver"),
        ("stacked:exec:", "expected a command, found none"),
        ("stacked:unix:/nowhere/driver.sock", "/nowhere/driver.sock"),
        ("stacked:tcp:localhost", "localhost"),
    ],
)
def test_what_cannot_be_reached_is_one_line(spec: str, words: str) -> None:
    with pytest.raises(LoadError, match=words) as error:
        open_subject(spec)
    assert "\n" not in str(error.value)


def test_a_driver_with_a_runtime_of_its_own_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="reference has a runtime of its own; use it without stacked:"):
        open_subject(f"stacked:exec:{SERVE} reference --inherited {tmp_path}")


def test_it_does_not_run_in_the_harness_process() -> None:
    with pytest.raises(LoadError, match="cannot run with isolation inprocess"):
        open_subject("stacked:unix:/somewhere", isolation="inprocess")
