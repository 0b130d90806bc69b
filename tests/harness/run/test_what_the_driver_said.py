"""What a red case keeps of the driver: where it raised, died or hung, what it printed, and the last calls."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

import patience
import pytest
from places import HOSTILE

from npu_conformance.harness.report.lines import details
from npu_conformance.harness.run import failures, suites
from npu_conformance.harness.run.recording import with_output
from npu_conformance.harness.run.session import Session
from npu_conformance.harness.run.session_options import SessionOptions
from npu_conformance.harness.subject import serve
from npu_conformance.harness.subject.loading import Isolation
from npu_conformance.harness.subject.plugin_loading import load_plugin
from npu_conformance.harness.wire import wire_log
from npu_conformance.specs.documents.failures import Account, FailureFile, LastCall
from npu_conformance.specs.documents.results import DRIVER_SAYS, CaseResult
from npu_conformance.specs.outcomes import Outcome

VERSION, TYPE = "vts.queries.version_string.not_empty", "vts.queries.type.legal"


@pytest.fixture(autouse=True)
def buffered(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Python prints into a pipe by itself, also where the shell of a developer says otherwise."""
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)


@pytest.fixture(autouse=True)
def _plug_ins_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HOSTILE))


def failed(plugin: str, folder: Path, isolation: Isolation = "process") -> FailureFile:
    """Run a case that passes and then one that fails; return the failure file of that."""
    cases = [case for case in suites.area("vts", "queries").cases() if case.id in (VERSION, TYPE)]
    cases.sort(key=lambda case: case.id == TYPE)
    session = Session(SessionOptions(plugin, isolation=isolation, report=str(folder)))
    try:
        session.start(cases)
        verdicts = session.run_all().verdicts
    finally:
        session.close()
    assert [verdict.outcome for verdict in verdicts if verdict.case == VERSION] == [Outcome.PASS]
    return failures.load(folder / "failures" / f"{TYPE}.json")


@pytest.mark.parametrize("isolation", ["process", "inprocess"])
def test_an_exception_has_file_line_and_traceback(isolation: Isolation, tmp_path: Path) -> None:
    result = failed("dying_plugins:raising", tmp_path, isolation).result
    assert result.outcome is Outcome.FAIL
    assert "dying_plugins.py:" in result.message
    assert result.message.endswith("in raise_an_exception: 'nope'")
    assert result.traceback.startswith("Traceback (most recent call last)")
    assert result.traceback.endswith("KeyError: 'nope'\n")


def test_a_fault_has_its_stack_and_the_call_that_it_died_in(tmp_path: Path) -> None:
    failure = failed("dying_plugins:aborting", tmp_path)
    assert failure.result.outcome is Outcome.CRASH
    assert "SIGABRT (signal 6) at dying_plugins.py:" in failure.result.message
    assert failure.result.traceback.startswith("Fatal Python error: Aborted")
    assert failure.result.signal == 6
    assert failure.driver.calls[-1].method == "device.getType"
    assert failure.driver.calls[-1].answer.startswith("no answer: sent ")


@pytest.mark.parametrize("name", ["hanging", "hanging_fresh"])
def test_a_hang_has_the_stacks_from_before_the_host_was_killed(name: str, tmp_path: Path) -> None:
    failure = failed(f"dying_plugins:{name}", tmp_path)
    assert failure.result.outcome is Outcome.HANG
    assert "in wait_forever" in failure.result.message
    assert "in wait_forever" in failure.result.traceback
    assert failure.driver.stdout == "tile 3 \\x1b[31m\n"
    assert failure.driver.calls[-1].answer.startswith("no answer: sent ")


def test_an_exception_in_a_thread_of_the_driver_is_in_what_it_printed(tmp_path: Path) -> None:
    failure = failed("dying_plugins:threading_badly", tmp_path)
    assert failure.result.outcome is Outcome.FAIL
    assert "Exception in thread" in failure.driver.stderr
    assert failure.driver.stderr.endswith("KeyError: 'nope'\n")


def test_what_another_case_made_it_print_is_not_in_it(tmp_path: Path) -> None:
    failure = failed("dying_plugins:raising", tmp_path)
    assert failure.driver.stdout == failure.result.stdout == "tile 3 \\x1b[31m\n"
    assert [call.method for call in failure.driver.calls[-2:]] == ["device.getVersionString", "device.getType"]
    assert failure.driver.calls[-2].answer == '"fine"'
    assert failure.driver.calls[-2].seconds < 0 < failure.driver.calls[-1].seconds


def test_a_command_has_the_end_of_both_streams(tmp_path: Path) -> None:
    driver = failed(f"exec:{sys.executable} -IS {HOSTILE / 'hosts.py'} wrong_and_loud", tmp_path).driver
    assert driver.stdout.endswith("\nout: the end\n")
    assert driver.stderr.endswith("\nerr: the end\\x07\n")
    assert 64 << 10 <= len(driver.stdout) < 80_000


@pytest.fixture
def listening(tmp_path: Path) -> str:
    """A driver on a socket, in a thread that ends with the tests."""
    ready = threading.Event()
    arguments = (load_plugin("dying_plugins:raising"), f"unix:{tmp_path}/socket")
    told = {"announce": lambda address: ready.set()}
    threading.Thread(target=serve.serve, args=arguments, kwargs=told, daemon=True).start()
    assert ready.wait(patience.SECONDS)
    return f"unix:{tmp_path}/socket"


def test_a_server_has_the_place_and_the_calls(listening: str, tmp_path: Path) -> None:
    failure = failed(listening, tmp_path / "report")
    assert ": raised KeyError at " in failure.result.message
    assert failure.driver.calls[-1].method == "device.getType"
    assert "KeyError" in failure.driver.calls[-1].answer


REFUSED = r'{"code":-32001,"message":"no \"tile\" fits","data":{"status":2}}'


@pytest.mark.parametrize(
    ("message", "found", "calls", "says"),
    [
        ("expected NONE, found GENERAL_FAILURE", "", [REFUSED], 'no "tile" fits'),
        ("", "GENERAL_FAILURE", [REFUSED, "null"], 'no "tile" fits'),
        ("expected NONE, found INVALID_ARGUMENT", "", [REFUSED], ""),
        ("output: 3 of 5 elements", "", [REFUSED], ""),
        ('found GENERAL_FAILURE: no "tile" fits', "", [REFUSED], ""),
        ("found GENERAL_FAILURE", "", [REFUSED.replace("no ", "later "), "null", REFUSED], 'no "tile" fits'),
        ("found GENERAL_FAILURE", "", ['{"code":-32001,"message":"","data":{"status":2}}'], ""),
    ],
)
def test_a_status_has_the_reason_of_the_driver(message: str, found: str, calls: list[str], says: str) -> None:
    result = CaseResult(case=TYPE, outcome=Outcome.FAIL, own_outcome=Outcome.FAIL, message=message, found=found)
    account = Account(calls=tuple(LastCall(seconds=1.0, caller="suite", method="m", answer=one) for one in calls))
    told = with_output(result, account)
    assert told.notes.get(DRIVER_SAYS, "") == says
    assert (f"the driver's last reason: {says}" in details(told)) == bool(says)


def test_the_wire_log_has_every_message_of_both_sides(tmp_path: Path) -> None:
    file = tmp_path / "wire.jsonl"
    wire_log.begin(file)
    try:
        failed("dying_plugins:raising", tmp_path)
    finally:
        wire_log.end()
    entries = [json.loads(line) for line in file.read_text().splitlines()]
    asked = [entry for entry in entries if entry["message"].get("method") == "device.getType"]
    assert [(entry["direction"], entry["case"]) for entry in asked] == [("to driver", TYPE)]
    answers = [entry for entry in entries if entry["message"].get("id") == asked[0]["message"]["id"]]
    assert answers[-1]["direction"] == "from driver"
    assert answers[-1]["message"]["error"]["code"] == -32603
    size = file.stat().st_size
    failed("dying_plugins:raising", tmp_path)
    assert file.stat().st_size == size
