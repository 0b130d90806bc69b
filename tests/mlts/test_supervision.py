"""The supervision of client processes: four ends told apart, and no client left behind on any way out."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from patience import SECONDS, eventually
from raising import raised

from npu_conformance.harness.judge.verdicts import Crashed, Failed, Hung
from npu_conformance.mlts.lib import clients
from npu_conformance.mlts.lib.reports import Plan, StoredModel, Verdict
from npu_conformance.mlts.lib.supervision import ClientEnd, ClientProgramError, Patience, run_clients
from npu_conformance.specs.versions import Version

PROGRAM = """
import json, os, signal, sys, time
plan = json.loads(sys.stdin.readline())
channel = int(sys.argv[1])
def say(**message):
    os.write(channel, json.dumps(message).encode() + b"\\n")
def progress(number):
    say(type="progress", rounds=number)
def report(verdict, number, **more):
    say(type="report", verdict=verdict, rounds=number, **more)
kinds = {
    "waits": "progress(0); sys.stdin.readline(); report('success', plan['rounds'])",
    "succeeds": "for n in range(1, plan['rounds'] + 1): progress(n)\\nreport('success', plan['rounds'])",
    "until_stopped": "progress(0); told = [os.read(0, 1), os.read(0, 1)]; report('success', told.index(b's'))",
    "fails": "progress(1); report('failure', 1, message='output y: expected 1, found 2')",
    "segfaults": "progress(1); print('last words', file=sys.stderr, flush=True); os.kill(os.getpid(), signal.SIGSEGV)",
    "exits": "progress(1); progress(2); os._exit(3)",
    "hangs": "progress(1); time.sleep(600)",
    "never_starts": "time.sleep(600)",
    "closes": "os.close(channel); time.sleep(600)",
    "lingers": "report('success', plan['rounds']); time.sleep(600)",
    "floods": "os.write(1, b'x' * 1000000); os.write(2, b'y' * 1000000); report('success', plan['rounds'])",
    "garbles": "os.write(channel, b'{nonsense}\\\\n')",
    "rambles": "os.write(channel, b'x' * (3 << 20))",
    "is_broken": "report('failure', 0, defect='NameError: vector')",
    "has_a_child": '''
child = os.fork()
if child:
    open(plan['address'], 'w').write(str(child))
    report('success', plan['rounds'])
else:
    time.sleep(600)
''',
}
exec(kinds[plan["models"][0]["vector"]])
"""
COMMAND = (sys.executable, "-S", "-E", "-c", PROGRAM)
PATIENCE = Patience(start=SECONDS, step=SECONDS)
IMPATIENCE = Patience(start=0.3, step=0.3)


def plan(kind: str, rounds: int = 3, address: str = "") -> Plan:
    return Plan(
        address=address,
        tickets=("",),
        transports=(),
        version=Version.V1_3,
        models=(StoredModel("", kind),),
        rounds=rounds,
    )


def end(kind: str, patience: Patience = PATIENCE) -> ClientEnd:
    return run_clients([plan(kind)], patience, COMMAND)[0]


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_client_that_reports_success_succeeded() -> None:
    assert end("succeeds") == ClientEnd(Verdict.SUCCESS, 3)


def test_a_client_that_reports_a_reason_failed() -> None:
    assert end("fails") == ClientEnd(Verdict.FAILURE, 1, "output y: expected 1, found 2")


def test_a_client_that_dies_by_a_signal_crashed() -> None:
    found = end("segfaults")
    assert (found.verdict, found.rounds, found.signal) == (Verdict.CRASH, 1, signal.SIGSEGV)
    assert found.message == "killed by SIGSEGV without a report after 1 round"
    assert found.stderr == "last words\n"


def test_a_client_that_exits_without_a_word_crashed() -> None:
    found = end("exits")
    assert (found.verdict, found.rounds, found.signal) == (Verdict.CRASH, 2, 0)
    assert found.message == "exited with 3 without a report after 2 rounds"


def test_a_client_that_falls_silent_hung() -> None:
    found = end("hangs", Patience(start=SECONDS, step=0.3))
    assert (found.verdict, found.rounds) == (Verdict.HANG, 1)
    assert found.message == "silent for 0.3 s after 1 round"


def test_a_client_that_never_starts_hung() -> None:
    found = end("never_starts", IMPATIENCE)
    assert (found.verdict, found.rounds, found.message) == (Verdict.HANG, 0, "silent for 0.3 s after 0 rounds")


def test_a_client_that_closes_its_pipe_and_goes_on_hung() -> None:
    found = end("closes", Patience(start=SECONDS, step=0.3))
    assert (found.verdict, found.message) == (Verdict.HANG, "closed its pipe after 0 rounds and went on")


@pytest.mark.parametrize("kind", ["lingers", "floods"])
def test_a_report_stands_whatever_else_the_client_does(kind: str) -> None:
    assert end(kind).verdict is Verdict.SUCCESS


@pytest.mark.parametrize(("kind", "message"), [("garbles", "nonsense"), ("rambles", "end"), ("is_broken", "NameError")])
def test_a_broken_client_program_is_no_verdict(kind: str, message: str) -> None:
    with pytest.raises(ClientProgramError, match=message):
        end(kind)


def test_four_ends_side_by_side_do_not_disturb_one_another() -> None:
    plans = [plan(kind) for kind in ("hangs", "succeeds", "segfaults", "fails", "succeeds")]
    ends = run_clients(plans, Patience(start=SECONDS, step=2.0), COMMAND)
    assert [found.verdict for found in ends] == [
        Verdict.HANG,
        Verdict.SUCCESS,
        Verdict.CRASH,
        Verdict.FAILURE,
        Verdict.SUCCESS,
    ]


def test_ready_clients_wait_for_the_slow_one_without_being_taken_for_hung() -> None:
    ends = run_clients([plan("waits"), plan("never_starts"), plan("waits")], Patience(2.0, SECONDS), COMMAND)
    assert [found.verdict for found in ends] == [Verdict.SUCCESS, Verdict.HANG, Verdict.SUCCESS]


def test_a_client_that_goes_on_is_stopped_when_all_others_have_ended() -> None:
    goes_on = msgspec.structs.replace(plan("until_stopped"), until_stopped=True)
    ends = run_clients([goes_on, plan("waits"), plan("exits")], PATIENCE, COMMAND)
    assert [end.verdict for end in ends] == [Verdict.SUCCESS, Verdict.SUCCESS, Verdict.CRASH]
    assert ends[0].rounds == 1


def test_the_rounds_of_all_clients_are_observed() -> None:
    seen: list[int] = []
    run_clients([plan("succeeds", 5), plan("succeeds", 7)], PATIENCE, COMMAND, seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 12


def test_children_of_a_client_die_with_it(tmp_path: Path) -> None:
    address = tmp_path / "child"
    run_clients([plan("has_a_child", address=str(address))], PATIENCE, COMMAND)
    eventually(lambda: not is_alive(int(address.read_text())))


def test_clients_started_before_one_that_can_not_start_are_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def popen(*arguments: object, **options: object) -> subprocess.Popen[bytes]:
        if len(started) == 2:
            raise OSError("no more processes")
        process: subprocess.Popen[bytes] = real(*arguments, **options)  # type: ignore[call-overload]
        started.append(process)
        return process

    monkeypatch.setattr(subprocess, "Popen", popen)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError, match="no more processes"):
        run_clients([plan("hangs")] * 3, PATIENCE, COMMAND)
    assert [process.returncode for process in started] == [-signal.SIGKILL] * 2
    assert len(os.listdir("/proc/self/fd")) == before


def test_no_descriptor_is_left_open() -> None:
    before = len(os.listdir("/proc/self/fd"))
    run_clients([plan("succeeds"), plan("segfaults")], PATIENCE, COMMAND)
    assert len(os.listdir("/proc/self/fd")) == before


def test_the_real_client_dies_when_its_starter_does() -> None:
    reading, writing = os.pipe()
    command = [sys.executable, "-m", "npu_conformance.mlts.lib.worker", str(writing)]
    client = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[writing], start_new_session=True)
    assert client.stdin is not None
    os.close(writing)
    client.stdin.close()  # before any plan: the client ends, by its own error
    assert client.wait(SECONDS) != 0
    os.close(reading)


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        (ClientEnd(Verdict.CRASH, 1, "killed by SIGSEGV", 11), Crashed),
        (ClientEnd(Verdict.HANG, 1, "silent"), Hung),
        (ClientEnd(Verdict.FAILURE, 1, "wrong"), Failed),
        (ClientEnd(Verdict.SUCCESS, 9), Failed),
    ],
)
def test_each_end_has_its_outcome(found: ClientEnd, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        clients.judge(found, 10)


def test_a_complete_success_passes() -> None:
    assert raised(clients.judge, ClientEnd(Verdict.SUCCESS, 10), 10) is None


def test_a_client_with_a_time_has_to_do_something_in_it() -> None:
    assert raised(clients.judge, ClientEnd(Verdict.SUCCESS, 1), 0) is None
    with pytest.raises(Failed, match="no round"):
        clients.judge(ClientEnd(Verdict.SUCCESS, 0), 0)


VICTIM = msgspec.structs.replace(plan("dies", 10), die_after=4)


def test_a_death_as_planned_is_no_crash() -> None:
    end = ClientEnd(Verdict.CRASH, 4, "killed by SIGKILL", signal.SIGKILL)
    assert raised(clients.judge_as_planned, VICTIM, end) is None


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        (ClientEnd(Verdict.CRASH, 3, "killed by SIGKILL", signal.SIGKILL), Crashed),
        (ClientEnd(Verdict.CRASH, 4, "killed by SIGSEGV", signal.SIGSEGV), Crashed),
        (ClientEnd(Verdict.CRASH, 4, "the driver is gone"), Crashed),
        (ClientEnd(Verdict.HANG, 4, "silent"), Hung),
        (ClientEnd(Verdict.FAILURE, 2, "wrong"), Failed),
        (ClientEnd(Verdict.SUCCESS, 10), Failed),
    ],
)
def test_any_other_end_of_a_victim_counts(found: ClientEnd, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        clients.judge_as_planned(VICTIM, found)
