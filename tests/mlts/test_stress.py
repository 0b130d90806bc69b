"""The stress cases against real hosts: conforming drivers pass, and each way to break under load is told apart."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from places import HOSTILE

from npu_conformance.harness.judge.verdicts import CaseEnded, NotApplicable
from npu_conformance.harness.run.cases import Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.mlts import stress
from npu_conformance.mlts.lib import driver
from npu_conformance.specs import ids, requirements
from npu_conformance.specs.outcomes import Outcome

WELL = {"driver": "pass", "leaks": "pass"}
CASES = {case.id.rpartition(".")[2]: case for case in stress.cases()}


@pytest.fixture(autouse=True)
def _drivers_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(HOSTILE))
    yield
    sys.modules.pop("stressed_drivers", None)


def run(name: str, end: str) -> tuple[dict[str, str], CaseContext]:
    """Run a case in smoke size; the outcome of each client, and its context. No client may be left behind."""
    subject = open_subject("stressed_drivers:plugin", {"end": end})
    try:
        context = CaseContext(CASES[name], subject, scope=Scope.SMOKE)
        CASES[name].run(context)
    finally:
        subject.close()
    assert descendants() == []
    return {name: record.details.outcome.value for name, record in context.configurations.items()}, context


def descendants() -> list[str]:
    """Command lines of the clients that this process has started and that still run."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            command = (entry / "cmdline").read_text()
        except (OSError, ValueError, IndexError):
            continue
        if parent == os.getpid() and "mlts.lib.worker" in command:
            found.append(command)
    return found


def test_a_conforming_driver_passes() -> None:
    assert run("processes", "none")[0] == {"client_1": "pass", "client_2": "pass", **WELL}


def test_what_is_said_of_crashes_without_one_is_none() -> None:
    outcomes, context = run("processes", "talk")
    assert outcomes == {"client_1": "pass", "client_2": "pass", **WELL}
    assert context.configurations["driver"].warnings == []


@pytest.mark.parametrize(("end", "words"), [("renew", "ended under load and were replaced"), ("lose", "Fatal signal")])
def test_a_death_without_a_failed_call_is_told_beside_the_success(end: str, words: str) -> None:
    """ML-CRS-014. A worker that is renewed in order looks like one that died."""
    outcomes, context = run("processes", end)
    assert outcomes == {"client_1": "pass", "client_2": "pass", **WELL}
    (warning,) = context.configurations["driver"].warnings
    assert words in warning


@pytest.mark.parametrize(
    ("line", "is_crash"),
    [
        ("==123==ERROR: AddressSanitizer: heap-use-after-free on address 0x6020", True),
        ("terminate called after throwing an instance of 'std::bad_alloc'", True),
        ("terminate called without an active exception", True),
        ("Aborted (core dumped)", True),
        ("Segmentation fault", True),
        ("F libc: Fatal signal 11 (SIGSEGV), code 1", True),
        ("*** *** *** *** *** *** *** ***", True),
        ("*** stack smashing detected ***: terminated", True),
        ("free(): double free or corruption (fasttop)", True),
        ("I npu: compiled with AddressSanitizer", False),
        ("I npu: terminate called for session 4", False),
        ("I npu: core dumped states: 0", False),
        ("I npu: Segmentation fault handler is installed", False),
    ],
)
def test_what_a_death_leaves_in_a_log_is_told_from_talk(line: str, is_crash: bool) -> None:
    assert (driver._CRASH.search(line) is not None) is is_crash


def test_a_killed_client_disturbs_nobody() -> None:
    assert run("early_termination", "none")[0] == {"victim_1": "pass", "client_2": "pass", **WELL}


def test_a_driver_that_dies_with_a_client_crashes_the_other() -> None:
    assert run("early_termination", "fragile")[0] == {"victim_1": "pass", "client_2": "crash"}


@pytest.mark.parametrize("end", ["refuse", "miscompute"])
def test_a_driver_that_fails_under_load_fails(end: str) -> None:
    outcomes, context = run("processes", end)
    assert outcomes == {"client_1": "fail", "client_2": "fail", **WELL}
    assert "rounds: inference 6" in context.configurations["client_1"].details.message


def test_a_driver_that_hangs_under_load_hangs() -> None:
    outcomes, context = run("processes", "hang")
    assert outcomes == {"client_1": "hang", "client_2": "hang"}
    assert "no answer within 2 s" in context.configurations["client_1"].details.message


def test_a_driver_that_dies_under_load_crashes() -> None:
    outcomes, context = run("processes", "crash")
    assert outcomes == {"client_1": "crash", "client_2": "crash"}
    assert context.restarts >= 1


def test_a_subject_in_this_process_is_not_stressed_by_others() -> None:
    subject = open_subject("stressed_drivers:plugin", {"end": "none"}, "inprocess")
    try:
        with pytest.raises(NotApplicable, match="process of its own") as raised:
            CASES["processes"].run(CaseContext(CASES["processes"], subject, scope=Scope.SMOKE))
    finally:
        subject.close()
    assert isinstance(raised.value, CaseEnded)
    assert raised.value.outcome is Outcome.NOT_APPLICABLE


def test_cases_have_legal_ids_and_known_requirements() -> None:
    for case in CASES.values():
        assert ids.parse(case.id).suite == "mlts"
        assert case.description
        assert all(requirements.requirement(identifier) for identifier in case.requirements)
