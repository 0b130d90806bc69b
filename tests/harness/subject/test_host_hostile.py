"""The zoo of hostile hosts: each gets its verdict, and the handle serves the next case."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from patience import SECONDS
from places import HOSTILE

from npu_conformance.harness.judge.verdicts import CaseEnded, Crashed, Failed, Hung
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.engine import Engine
from npu_conformance.harness.run.replay import Discard
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import Handling, LoadError, open_subject
from npu_conformance.harness.subject.remote import RemoteSubject
from npu_conformance.specs.errors import DeadObject
from npu_conformance.specs.manifest import Deadlines
from npu_conformance.specs.neuralnetworks.hal import Device
from npu_conformance.specs.outcomes import Outcome

HOSTS = HOSTILE / "hosts.py"

VERDICTS: dict[str, tuple[type[CaseEnded], str]] = {
    "segv": (Crashed, "killed by SIGSEGV (signal 11)"),
    "sigkill": (Crashed, "killed by SIGKILL (signal 9)"),
    "exit_0": (Crashed, "exited with status 0"),
    "exit_3": (Crashed, "exited with status 3"),
    "last_words": (Crashed, "last stderr: assertion failed: tile != 0"),
    "sanitized": (
        Crashed,
        "exited with status 1 at driver.c:459 in match; last stderr: AddressSanitizer: heap-buffer-overflow",
    ),
    "hang": (Hung, "no answer within 1 s"),
    "garbage": (Failed, r"not JSON"),
    "not_an_object": (Failed, "Expected `object`, got `array`"),
    "deep": (Failed, "recursion"),
    "neither": (Failed, "neither method, result nor error"),
    "wrong_type": (Failed, "a result of the wrong type at $: Expected `int`, got `str`"),
    "wrong_id": (Failed, "answer to request 4711, which is not outstanding"),
    "no_id": (Failed, "an answer without an id, as to a notification, which has none"),
    "null_id": (Failed, "what?"),
    "half_then_exit": (Crashed, "half a line"),
    "half_a_line": (Failed, "half a line, and not its end within 1 s"),
    "huge_line": (Failed, "longer than the limit of 67108864 bytes"),
    "unsolicited": (Failed, "object -99 was never given"),
    "unknown_method": (Failed, "no method harness.exec"),
    "chatter": (Hung, "no answer within 1 s"),
    "deaf": (Hung, "it did not read what it was sent"),
    "fork_child": (Crashed, "exited with status 5"),
    "late": (Hung, "no answer within 1 s"),
    "close_and_live": (Crashed, "lives on"),
}

START_ERRORS = {
    "start_exit": "no such board",
    "start_segv": "SIGSEGV",
    "start_garbage": "not JSON: ",
    "bad_manifest": "$.manifest.vendor: Expected `str`, got `int`; $.manifest: Object contains unknown field `colour`",
}


@contextmanager
def hostile(mode: str) -> Iterator[SubjectHandle]:
    """A handle on a hostile host."""
    subject = open_subject(f"exec:{sys.executable} -IS {HOSTS} {mode}")
    try:
        yield subject
    finally:
        subject.close()


def device_of(subject: SubjectHandle) -> Device:
    """The device; these hosts have one."""
    assert subject.interfaces.device is not None
    return subject.interfaces.device


@pytest.mark.parametrize("mode", VERDICTS)
def test_misbehaviour_gets_its_verdict_and_the_next_case_runs(mode: str) -> None:
    kind, text = VERDICTS[mode]
    with hostile(mode) as subject:
        with pytest.raises(CaseEnded) as caught:
            device_of(subject).get_type()
        assert caught.value.about == (("NNHAL-WIRE-001",) if kind is Failed else ())
        assert type(caught.value) is kind
        assert text in str(caught.value)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 500
        assert not subject.alive()
        subject.restart()
        assert subject.alive()
        assert isinstance(subject, RemoteSubject)
        subject._main.deadlines = Deadlines(call=SECONDS)  # what is to be answered gets the time of a busy machine
        assert device_of(subject).get_version_string() == "fine"


def test_signal_and_stderr_are_kept() -> None:
    with hostile("last_words") as subject:
        with pytest.raises(Crashed) as caught:
            device_of(subject).get_type()
        assert caught.value.signal == 6
        assert caught.value.stderr == "assertion failed: tile != 0\n"


def test_what_a_sanitizer_found_is_the_cause() -> None:
    with hostile("sanitized") as subject:
        with pytest.raises(Crashed) as caught:
            device_of(subject).get_type()
        assert caught.value.cause == "AddressSanitizer: heap-buffer-overflow in match of driver.c"


def test_stale_objects_are_dead_and_harmless() -> None:
    with hostile("segv") as subject:
        stale = device_of(subject)
        with pytest.raises(Crashed):
            stale.get_type()
        with pytest.raises(DeadObject):
            stale.get_type()
        subject.restart()
        with pytest.raises(DeadObject):
            stale.get_version_string()
        assert device_of(subject).get_version_string() == "fine"


def test_second_answer_is_found_at_the_next_call() -> None:
    with hostile("twice") as subject:
        assert device_of(subject).get_type() == 1
        with pytest.raises(Failed, match="answer to request 2, which is not outstanding any more"):
            device_of(subject).get_version_string()


@pytest.mark.parametrize(("mode", "ends"), [("wrong_type", "got `str`: .*"), ("twice", "any more: .*")])
def test_who_hung_up_is_told(mode: str, ends: str, make_case: Callable[..., Case]) -> None:
    """A subject that breaks the protocol would answer; its connection is ended for that."""

    def ask(context: CaseContext) -> None:
        assert context.device is not None
        context.device.get_type()
        context.subject.wait_until(lambda: False, SECONDS)  # a second answer may come when the first is read

    asking = make_case("asking", ask)
    with hostile(mode) as subject:
        result = Engine([asking], subject, Discard()).run().results[0]
    assert result.outcome is Outcome.FAIL
    assert re.search(f"{ends}; the connection was ended for it$", result.message)
    assert "callback" not in result.message


def test_flood_neither_blocks_nor_fills_memory() -> None:
    with hostile("flood") as subject:
        assert device_of(subject).get_type() == 1
        assert device_of(subject).get_version_string() == "fine"


def test_descendants_in_other_sessions_are_killed() -> None:
    mark = f"mark-of-{os.getpid()}"
    with hostile(f"fork_child {mark}") as subject:
        assert _processes_with(mark)
        with pytest.raises(Crashed):
            device_of(subject).get_type()
        assert not _processes_with(mark)


@pytest.mark.parametrize("mode", START_ERRORS)
def test_host_that_does_not_come_up_is_a_load_error(mode: str) -> None:
    with pytest.raises(LoadError) as caught:
        open_subject(f"exec:{sys.executable} -IS {HOSTS} {mode}")
    assert START_ERRORS[mode] in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith("schemas manifest --check FILE") == (mode == "bad_manifest")


def test_host_that_never_speaks_is_a_load_error() -> None:
    with pytest.raises(LoadError, match=r"initialize: no answer within 0.3 s \(host killed\)"):
        open_subject(f"exec:{sys.executable} -IS {HOSTS} start_silent", handling=Handling(start_seconds=0.3))


def _processes_with(argument: str) -> set[int]:
    """Processes with this argument on their command line."""
    found = set()
    for entry in os.listdir("/proc"):
        try:
            line = Path(f"/proc/{entry}/cmdline").read_bytes() if entry.isdigit() else b""
        except (FileNotFoundError, ProcessLookupError):
            continue
        if argument.encode() in line.split(b"\0"):
            found.add(int(entry))
    return found


def test_last_words_are_those_of_the_host_that_died() -> None:
    with hostile("last_words") as subject:
        assert isinstance(subject, RemoteSubject)
        with pytest.raises(Crashed, match="tile != 0"):
            device_of(subject).get_type()
        subject.restart()
        os.kill(subject._endpoint.process(), signal.SIGKILL)
        with pytest.raises(Crashed) as caught:
            device_of(subject).get_type()
        assert "last stderr" not in str(caught.value)
        assert caught.value.stderr == ""
        assert "tile != 0" in subject.account().stderr  # of the case, which both belong to


def test_a_host_that_the_suite_has_killed_did_not_die_by_itself() -> None:
    with hostile("last_words") as subject:
        assert isinstance(subject, RemoteSubject)
        subject._endpoint.kill()
        with pytest.raises(Crashed, match="the suite had killed the host process") as caught:
            device_of(subject).get_type()
        assert caught.value.signal == 0
