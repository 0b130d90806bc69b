"""--longest-wait: no run waits for longer, however slow a manifest calls the driver; --patience: the user may."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest
from places import HOSTILE

from npu_conformance.cli.commands._options import add_plugin_options, session_options
from npu_conformance.cli.main import main
from npu_conformance.harness.judge.verdicts import Hung
from npu_conformance.harness.subject.loading import Handling, open_subject
from npu_conformance.harness.subject.patience import limited
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.harness.subject.remote import RemoteSubject
from npu_conformance.specs.manifest import Deadlines, Manifest


def manifest(time_scale: float, **deadlines: float) -> Manifest:
    """A manifest that says how slow its driver is."""
    return Manifest(name="slow", vendor="tests", version="1", time_scale=time_scale, deadlines=Deadlines(**deadlines))


def waits(found: Manifest) -> dict[str, float]:
    """The deadlines in seconds, time_scale included."""
    names = ("prepare", "execute", "call", "start")
    return {name: round(getattr(found.deadlines, name) * found.time_scale, 6) for name in names}


def test_no_deadline_is_longer_than_the_limit_and_the_shorter_ones_stay() -> None:
    slow = manifest(10.0, prepare=600.0, execute=1.0, call=5.0, start=2.0)
    found = limited(slow, 60.0)
    assert waits(found) == {"prepare": 60.0, "execute": 10.0, "call": 50.0, "start": 20.0}
    assert found.time_scale == 2.0, "60 s are twice the longest of the usual deadlines"
    assert limited(slow, None) is slow
    assert limited(manifest(1.0), 3600.0) == manifest(1.0)
    assert waits(limited(manifest(1000.0, call=3600.0), 2.0)) == dict.fromkeys(waits(slow), 2.0)


@pytest.mark.parametrize("isolation", ["process", "inprocess"])
def test_a_driver_that_allows_itself_weeks_hangs_by_the_limit(isolation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HOSTILE))
    subject = open_subject("dying_plugins:hanging_for_ever", isolation=isolation, handling=Handling(longest_wait=1.0))  # type: ignore[arg-type]
    try:
        assert subject.manifest.deadlines.call * subject.manifest.time_scale == 1.0
        if isolation == "process":
            assert subject.interfaces.device is not None
            with pytest.raises(Hung, match=r"no answer within 1 s \(host killed\)"):
                subject.interfaces.device.get_type()
    finally:
        subject.close()


def test_an_import_that_does_not_end_is_told_by_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sleeping_plugin.py").write_text("import time\n\ntime.sleep(100)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    where = r"no answer within 1 s \(host killed\); it was at sleeping_plugin\.py:3 in <module>"
    with pytest.raises(LoadError, match=where):
        open_subject("sleeping_plugin:plugin", handling=Handling(longest_wait=1.0))


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf"])
def test_a_limit_that_is_none_is_one_line(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "vts.queries", "--plugin", "reference", "--longest-wait", seconds]) == 2
    assert capsys.readouterr().err == (
        f"npu-conformance: --longest-wait: expected a positive number of seconds, found {seconds}\n"
    )


def test_patience_stretches_what_the_manifest_says_up_to_what_one_may_say() -> None:
    slow = manifest(2.0, call=3.0)
    assert waits(limited(slow, None, 10.0)) == {"prepare": 200.0, "execute": 100.0, "call": 60.0, "start": 600.0}
    assert limited(slow, None, 1000.0).time_scale == 1000.0
    assert waits(limited(slow, 90.0, 10.0))["call"] == 60.0
    assert waits(limited(slow, 90.0, 10.0))["prepare"] == 90.0


@pytest.mark.parametrize("isolation", ["process", "inprocess"])
def test_a_driver_in_a_debugger_may_take_its_time(isolation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HOSTILE))
    handling = Handling(patience=20.0)
    subject = open_subject("faulty_plugins:single", isolation=isolation, handling=handling)  # type: ignore[arg-type]
    try:
        usual = Manifest(name="x", vendor="v", version="1")
        assert subject.manifest.time_scale == 20.0 * usual.time_scale
        if isinstance(subject, RemoteSubject):
            assert subject._main.seconds_for("device.getType") == 20.0 * subject.manifest.deadlines.call
    finally:
        subject.close()


def test_patience_counts_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    handling = Handling(start_seconds=0.01, patience=0.03)
    with pytest.raises(LoadError, match=r"initialize: no answer within 0.0003 s"):
        open_subject(f"exec:{sys.executable} -IS {HOSTILE / 'hosts.py'} start_silent", handling=handling)


@pytest.mark.parametrize("factor", ["0", "0.5", "1001", "nan", "inf"])
def test_a_factor_that_is_none_is_one_line(factor: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "vts.queries", "--plugin", "reference", "--patience", factor]) == 2
    assert capsys.readouterr().err == f"npu-conformance: --patience: expected a factor from 1 to 1000, found {factor}\n"


def test_a_replay_waits_no_longer() -> None:
    parser = argparse.ArgumentParser()
    add_plugin_options(parser)
    parsed = parser.parse_args(["--plugin", "reference", "--longest-wait", "2.5"])
    assert session_options(parsed).plugin_words == "--plugin reference --longest-wait 2.5"
    parsed = parser.parse_args(["--plugin", "reference", "--patience", "100"])
    assert session_options(parsed).plugin_words == "--plugin reference --patience 100"
