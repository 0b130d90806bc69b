"""Rounds in processes of their own: what dies, hangs, raises or goes wrong is a finding, and the round goes on."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import msgspec
import pytest
from fuzzed_rounds import DRIVERS, job, zero_points
from patience import eventually
from places import HOSTILE

from npu_conformance.fuzz.lib.attack import CURRENT, FOUND, KEPT, TALLY, FullError, ending_of
from npu_conformance.fuzz.lib.campaign import deaths, rounds
from npu_conformance.fuzz.lib.campaign.documents import (
    Doubt,
    Kept,
    RoundJob,
    RoundResult,
    Sighting,
    Start,
    Tally,
    Unmerged,
)
from npu_conformance.fuzz.lib.campaign.round_process import RoundProcess, Stopped, Watch
from npu_conformance.fuzz.lib.campaign.rounds import run_round
from npu_conformance.fuzz.lib.campaign.under_way import UnderWay
from npu_conformance.fuzz.lib.current_input import CurrentInput
from npu_conformance.fuzz.lib.ending import Ending
from npu_conformance.fuzz.lib.worker import START
from npu_conformance.harness.judge.verdicts import Crashed
from npu_conformance.harness.subject.holdings import children_of
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.versions import NEWEST

SIX = 'getSupportedOperations: raised ValueError at fuzzed_drivers.py in _meet_six: raise ValueError("six")'
MANIFEST = Manifest(name="gone", vendor="tests", version="1")
NEEDS_ATHERIS = pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="atheris is not installed")


@pytest.mark.parametrize(
    ("bug", "kind", "where", "seed"),
    [
        ("zero_point", "wrong-status", SIX, 0),
        ("kill", "crash", "SIGKILL", 1),
        ("exit", "crash", "status 0", 2),
        ("sanitizer", "crash", "AddressSanitizer: heap-use-after-free in match of driver.c", 2),
        ("hang", "hang", "no end in fuzzed_drivers._meet_six", 2),
    ],
)
def test_a_finding_is_made_small_and_the_round_goes_on(bug: str, kind: str, where: str, seed: int, six: bytes) -> None:
    """seed: with 1 it is met once more, with 2 it is not; each time costs a process."""
    noted: list[str] = []

    class Noted(UnderWay):
        def note(self, who: object, what: str) -> None:
            noted.append(what)

    found = run_round(job(bug, six, seed=seed, runs=10), under_way=Noted())
    assert f"{kind} in models ({where})" in noted or kind == "wrong-status"  # which takes no time
    assert noted[-1] == ""
    (sighting,) = found.sightings
    assert (sighting.kind, sighting.where) == (kind, where)
    assert zero_points(sighting.data).count(6) == 1
    assert len(sighting.data) < len(six)
    started = 0.0 if found.killers else found.start_seconds  # of several processes, it is that of all
    assert started < sighting.after < found.start_seconds + found.seconds
    assert found.executions > 5
    assert found.kept
    assert len(found.killers) == (0 if bug == "zero_point" else {1: 2, 2: 1}[seed])
    assert found.start is not None
    assert found.start.hal_version == NEWEST


@pytest.mark.parametrize("bug", ["zero_point", "kill"])
def test_a_finding_is_told_of_before_it_is_small(bug: str, six: bytes) -> None:
    """A campaign that is killed meanwhile has it: see CampaignFolder.note."""
    noted: list[Unmerged] = []
    found = run_round(job(bug, six, seed=2, runs=10), note=noted.append)
    assert all((one.fuzzer, one.seed, one.start) == ("models", 2, found.start) for one in noted)
    first, *_, last = (one.sighting for one in noted)
    assert {first.signature, last.signature} == {one.signature for one in found.sightings}
    assert len(last.data) < len(first.data)
    assert last.data == found.sightings[0].data


def test_behind_a_death_the_seeds_go_on_where_they_were(six: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: list[RoundJob] = []

    class Dying(RoundProcess):
        """Dies with its 11th input, having tried 10."""

        def watch(self) -> None:
            jobs.append(self._job)
            (self._folder / START).write_bytes(
                msgspec.json.encode(Start(hal_version=NEWEST, seconds=1.0, manifest=MANIFEST))
            )
            (self._folder / deaths.OUTPUT).write_text("")
            (self._folder / TALLY).write_bytes(msgspec.json.encode(Tally(tried=10)))
            (self._folder / KEPT).write_bytes(msgspec.json.encode(Kept(data=b"new", features=(7,))) + b"\n")
            for _ in range(11):
                self.current.begin(six)
            self.returncode = 1

    monkeypatch.setattr(rounds, "RoundProcess", Dying)
    monkeypatch.setattr(rounds, "_reduced", lambda job, death, watch: death)
    found = run_round(job("none", b"one", b"two", runs=22))
    assert [one.seeds_run for one in jobs] == [0, 3]
    assert (jobs[1].inputs, jobs[1].shown) == ((b"one", b"two", b"new"), ((), (), (7,)))
    assert found.seeds_run == 6


def test_a_finding_outlives_the_process_that_makes_it_smaller(six: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "_reduced", lambda job, death, watch: death)
    found = run_round(job("fragile", six, runs=1))
    assert [(one.kind, one.where) for one in found.sightings] == [
        ("wrong-status", SIX),
        ("crash", "status 4"),
    ]
    assert found.sightings[0].data == six


def test_a_mistake_of_the_fuzzer_is_no_crash_of_the_driver(six: bytes) -> None:
    found = run_round(job("unsettles", six, runs=5))
    (sighting,) = found.sightings
    assert (sighting.kind, sighting.where) == ("harness-defect", "RuntimeError in fuzzed_drivers._unsettled")
    assert (sighting.data, found.killers, found.problem) == (six, (), "")


@pytest.mark.parametrize(
    ("error", "ending", "kinds"),
    [
        (Crashed("prepareModel: died"), Ending.STOPPED, ["crash"]),
        (ZeroDivisionError(), Ending.STOPPED, ["harness-defect"]),
        (LoadError("gone"), Ending.UNLOADED, []),
        (FullError("full"), Ending.FULL, []),
    ],
)
def test_what_is_raised_outside_of_inputs_stops_a_round(
    error: BaseException, ending: Ending, kinds: list[str], tmp_path: Path
) -> None:
    assert ending_of(error, tmp_path) == ending
    lines = (tmp_path / FOUND).read_bytes().splitlines() if kinds else []
    assert [msgspec.json.decode(line, type=Sighting).kind for line in lines] == kinds


def test_memory_that_the_driver_has_taken_is_no_mistake_of_the_fuzzer(tmp_path: Path) -> None:
    with pytest.raises(MemoryError):
        ending_of(MemoryError(), tmp_path)


def test_a_plug_in_that_cannot_be_loaded_again_costs_the_round_and_no_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, six: bytes
) -> None:
    death = Sighting(kind="crash", where="here", message="died", data=six, execution=7)

    class Ended(RoundProcess):
        def watch(self) -> None:
            folder = self._folder
            (folder / START).write_bytes(msgspec.json.encode(Start(hal_version=NEWEST, seconds=1.0, manifest=MANIFEST)))
            (folder / FOUND).write_bytes(msgspec.json.encode(death) + b"\n")
            (folder / deaths.OUTPUT).write_text("plug-in drv: gone")
            self.current.begin(six)
            self.current.end(Ending.UNLOADED)
            self.returncode = Ending.UNLOADED

    monkeypatch.setattr(rounds, "RoundProcess", Ended)
    found = run_round(job("none", runs=9))
    assert (found.sightings, found.problem) == ((death,), "plug-in drv: gone")


@pytest.mark.parametrize("status", [*Ending, 77])
def test_a_driver_ends_with_a_status_that_the_fuzzer_has_a_meaning_for(
    status: int, six: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "_reduced", lambda job, death, watch: death)
    found = run_round(job(f"exit-{status}", six, runs=1))
    assert [(one.kind, one.where) for one in found.sightings] == [("crash", f"status {status}")]
    assert found.sightings[0].data == six
    assert found.problem == ""


@pytest.mark.parametrize(
    ("printed", "kind"), [("", "crash"), ("==5== ERROR: libFuzzer: out-of-memory (used: 2049Mb)\n", "memory")]
)
def test_memory_is_what_libfuzzer_says(printed: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / deaths.OUTPUT).write_text(printed)
    assert deaths.sighting(tmp_path, Ending.OUT_OF_MEMORY, b"", 1, 0).kind == kind


def test_descriptors_that_remain_are_a_finding(six: bytes) -> None:
    found = run_round(job("leak", *[six] * 200, runs=600))
    (sighting,) = found.sightings
    assert (sighting.kind, sighting.where) == ("leak", "descriptors")
    assert sighting.message == "3 descriptors remain after 3 runs of one input"
    assert zero_points(sighting.data).count(6) == 1
    assert len(sighting.data) < len(six)


def test_memory_that_a_fuzzer_may_not_have_is_a_finding(six: bytes) -> None:
    (sighting,) = run_round(job("memory", six, runs=1)).sightings
    assert sighting.kind == "memory"
    assert zero_points(sighting.data).count(6) == 1


def test_a_finding_is_a_line_that_a_terminal_only_shows(six: bytes) -> None:
    (sighting,) = run_round(job("escapes", six, runs=1)).sightings
    assert "\\x1b]0;six\\x07" in sighting.message
    assert sighting.message.isprintable()


def test_a_known_finding_is_counted(six: bytes) -> None:
    known = f"wrong-status: {SIX}"
    found = run_round(job("zero_point", six, six, known=(known,)))
    assert found.sightings == ()
    assert found.repeats[known] >= 2


@pytest.mark.parametrize("fuzzer", ["models", "differential"])
@pytest.mark.parametrize(("bug", "known"), [("zero_point", f"wrong-status: {SIX}"), ("kill", "crash: SIGKILL")])
def test_a_known_finding_whose_own_input_passes_is_another(bug: str, known: str, fuzzer: str, six: bytes) -> None:
    """Its cause was mended; what is met by its name now has another one. An input that still fails is the known one."""
    mended = six.replace(b'"zeroPoint":6', b'"zeroPoint":0', 1) if fuzzer == "models" else b"no vector"
    doubt = Doubt(fuzzer=fuzzer, data=mended)
    found = run_round(job(bug, six, runs=3, seed=2, known=(known,), doubted={known: doubt}))
    (sighting,) = found.sightings
    assert (sighting.signature, sighting.is_another) == (known, True)
    assert len(sighting.data) < len(six)
    still = {known: Doubt(fuzzer="models", data=six + b" ")}
    found = run_round(job(bug, six, runs=3, seed=2, known=(known,), doubted=still))
    assert (found.sightings, list(found.repeats)) == ((), [known])


def test_what_conforms_has_no_finding() -> None:
    found = run_round(job("none", runs=200))
    assert (found.sightings, found.repeats, found.executions) == ((), {}, 200)


def test_atheris_that_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(LoadError, match="engine atheris: it is not installed"):
        run_round(job("none", engine="atheris"))


@NEEDS_ATHERIS
def test_atheris_goes_on_after_a_finding_and_keeps_inputs(six: bytes) -> None:
    found = run_round(job("zero_point", six, engine="atheris", runs=300))
    assert [sighting.where for sighting in found.sightings] == [SIX]
    assert found.executions >= 300
    assert any(kept.features for kept in found.kept)


def test_a_python_whose_path_no_shebang_can_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "my python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(python))
    assert run_round(job("none", runs=1)).executions == 1


def test_what_cannot_be_loaded_is_one_line() -> None:
    with pytest.raises(LoadError, match="unknown plug-in 'nonsense'"):
        run_round(job("none", plugin="nonsense"))


@pytest.mark.parametrize("limit", [{"runs": 20}, {"runs": None, "seconds": 1.0}])
def test_a_driver_that_dies_before_the_first_input_ends_the_round(limit: dict[str, object]) -> None:
    found = run_round(job("uncounted", fuzzer="cache", **limit))
    assert [(sighting.kind, sighting.where) for sighting in found.sightings] == [("crash", "status 3")]
    assert found.executions == 0


def test_a_driver_that_dies_of_its_first_model_does_so_in_an_input() -> None:
    found = run_round(job("unprepared", fuzzer="requests", runs=1))
    assert [(sighting.kind, sighting.where, b"vector" in sighting.data) for sighting in found.sightings] == [
        ("crash", "status 3", True)
    ]
    assert found.executions == 1


@pytest.mark.parametrize(
    ("fuzzer", "engine", "reason"),
    [
        ("burst", "evolution", "there are no bursts before HAL 1.2"),
        ("cache", "hypothesis", "there are no compilation caches before HAL 1.2"),
        ("memory_domain", "evolution", "there are no memory domains before HAL 1.3"),
        ("manager", "evolution", "the plug-in has no manager"),
    ],
)
def test_what_a_fuzzer_cannot_attack_is_no_finding(fuzzer: str, engine: str, reason: str) -> None:
    found = run_round(job("none", fuzzer=fuzzer, engine=engine, hal="1.0"))
    assert (found.inapplicable, found.sightings, found.executions) == (reason, (), 0)


@pytest.mark.parametrize("fuzzer", ["burst", "memory_domain"])
def test_what_no_input_can_attack_ends_the_round_before_the_first(fuzzer: str) -> None:
    """Half a million inputs said so, one after the other."""
    found = run_round(job("nothing", fuzzer=fuzzer, runs=None, seconds=600.0))
    assert found.inapplicable.startswith("the device prepares no model of those")
    assert (found.sightings, found.executions, found.seeds_run) == ((), 0, 0)
    tried = run_round(job("none", fuzzer=fuzzer, runs=3))
    assert (tried.inapplicable, tried.executions) == ("", 3)


@pytest.mark.parametrize(
    ("printed", "noted", "status", "ending"),
    [
        ("", Ending.OVER, 0, Ending.OVER),
        ("\nDone 5", None, 0, Ending.OVER),
        ("\nDone 5", None, 3, None),
        ("", Ending.FULL, 74, Ending.FULL),
        ("", Ending.FULL, -6, None),
        ("", None, 0, None),
        ("", None, -1, None),
    ],
)
def test_a_round_of_atheris_is_over_when_either_says_so(
    printed: str, noted: Ending | None, status: int, ending: Ending | None, tmp_path: Path
) -> None:
    """Atheris ends the process itself; what has nothing to attack never begins it."""
    process = RoundProcess(job("none", engine="atheris"), tmp_path, Watch())
    process.returncode = status
    (tmp_path / deaths.OUTPUT).write_text(printed)
    if noted is not None:
        CurrentInput(tmp_path / CURRENT).end(noted)
    assert process.ending() == ending
    process.current.close()


def test_a_round_that_is_stopped_leaves_no_process(six: bytes) -> None:
    stop, before = threading.Event(), set(children_of(os.getpid()))
    stop.set()
    with pytest.raises(Stopped):
        run_round(job("hang", six), stop)
    assert set(children_of(os.getpid())) <= before


def test_a_round_dies_with_the_process_that_wanted_it(tmp_path: Path) -> None:
    program = textwrap.dedent(f"""
        import sys
        sys.path[:0] = {[str(HOSTILE), *sys.path]!r}
        from npu_conformance.fuzz.lib.campaign.documents import RoundJob
        from npu_conformance.fuzz.lib.campaign.rounds import run_round
        run_round(RoundJob(fuzzer="models", plugin="{DRIVERS}", options={{}}, hal=None, engine="evolution",
                           seed=0, seconds=600.0))
    """)
    parent = subprocess.Popen([sys.executable, "-c", program], env={**os.environ, "TMPDIR": str(tmp_path)})
    while not (children := children_of(parent.pid)):
        assert parent.poll() is None
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    assert children
    eventually(lambda: not any(Path(f"/proc/{child}/cmdline").exists() for child in children))


def test_results_travel() -> None:
    found = RoundResult(fuzzer="models", engine="evolution", executions=1, seconds=1.0, start_seconds=0.5)
    assert msgspec.json.decode(msgspec.json.encode(found), type=RoundResult) == found
