"""Durations that a driver tells, against what its caller has waited for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.mlts import told_times
from npu_conformance.mlts.lib import told
from npu_conformance.mlts.lib.loaded_model import Inference
from npu_conformance.specs.versions import Version


class Context:
    """What is asked of a case: the version, the promise, and where warnings go."""

    def __init__(self, version: Version = Version.FL8, *, measured_times: bool = False) -> None:
        self.version, self.manifest = version, SimpleNamespace(measured_times=measured_times)
        self.warnings: list[str] = []

    def warn_quality(self, message: str) -> None:
        self.warnings.append(message)


def judged(*in_driver: float | None, seconds: float = 0.002, **more: Any) -> list[str]:
    """The warnings about inferences that took so long each."""
    context = Context(**more)
    told.judge(context, [Inference({}, seconds, None, one) for one in in_driver])  # type: ignore[arg-type]
    return context.warnings


@pytest.mark.parametrize("in_driver", [(), (None, None), (0.001, 0.002), (0.0, 0.001), (0.001, 0.5, 0.001)])
def test_durations_within_the_call_are_good(in_driver: tuple[float | None, ...]) -> None:
    assert judged(*in_driver) == []


def test_a_duration_may_be_rounded_up() -> None:
    assert judged(0.0020009, version=Version.V1_3) == []


def test_durations_beyond_the_call_are_warned_of() -> None:
    assert judged(0.02, 0.02) == ["timeInDriver is 18 ms more than the whole call took, in the median of 2"]


def test_durations_beyond_the_call_break_the_promise() -> None:
    with pytest.raises(Failed, match="18 ms more"):
        judged(0.02, measured_times=True)


@pytest.mark.parametrize("version", [Version.V1_3, Version.FL8])
@pytest.mark.parametrize("measured_times", [False, True])
def test_a_coarse_clock_may_measure_nothing(version: Version, measured_times: bool) -> None:
    assert judged(0.0, 0.0, version=version, measured_times=measured_times) == [
        "timeInDriver of 2 inferences: expected durations, or unavailable, found 0 each time"
    ]


@pytest.mark.parametrize(
    ("part", "seen", "fits"),
    [(1.0, 0.01, True), (0.3, 0.01, True), (0.1, 0.01, False), (10.0, 0.01, False), (0.0, 0.01, False),
     (-1.0, 0.01, False), (0.0, 0.001, True)],
)  # fmt: skip
def test_more_work_is_told_as_it_is_seen(part: float, seen: float, fits: bool) -> None:
    assert told_times.fits([told_times.Turn(part * seen, seen)] * 7) is fits


def test_most_of_the_turns_decide() -> None:
    good, bad = told_times.Turn(0.01, 0.01), told_times.Turn(0.01, 0.2)
    assert told_times.fits([good] * 4 + [bad] * 3)
