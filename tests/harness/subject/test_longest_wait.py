"""--longest-wait: no manifest makes a run wait for longer, however slow it says that the driver is."""

from __future__ import annotations

import argparse

import pytest
from places import HOSTILE

from npu_conformance.cli.commands._options import add_plugin_options, session_options
from npu_conformance.cli.main import main
from npu_conformance.harness.judge.verdicts import Hung
from npu_conformance.harness.subject.loading import Handling, open_subject
from npu_conformance.harness.subject.patience import limited
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


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf"])
def test_a_limit_that_is_none_is_one_line(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "vts.queries", "--plugin", "reference", "--longest-wait", seconds]) == 2
    assert capsys.readouterr().err == (
        f"npu-conformance: --longest-wait: expected a positive number of seconds, found {seconds}\n"
    )


def test_a_replay_waits_no_longer() -> None:
    parser = argparse.ArgumentParser()
    add_plugin_options(parser)
    parsed = parser.parse_args(["--plugin", "reference", "--longest-wait", "2.5"])
    assert session_options(parsed).plugin_words == "--plugin reference --longest-wait 2.5"
