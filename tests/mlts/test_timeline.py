"""What apps of the NPU tell of their phases becomes spans, of those that died as well."""

from __future__ import annotations

from npu_conformance.mlts.lib import timeline
from npu_conformance.mlts.lib.reports import Moment, Verdict
from npu_conformance.mlts.lib.rounds import _MOST_MOMENTS, Measured
from npu_conformance.mlts.lib.supervision import ClientEnd
from npu_conformance.specs.documents.results import NpuSpan


def test_each_phase_ends_where_the_next_begins_and_the_last_with_the_app() -> None:
    moments = (Moment(10.0, "blocked", 0), Moment(10.5, "running", 0), Moment(12.0, "unloading", 4))
    ends = [
        ClientEnd(Verdict.SUCCESS, 4, moments=moments, at=12.25),
        ClientEnd(Verdict.CRASH, 3, moments=(Moment(11.0, "running", 1),), at=11.5),
        ClientEnd(Verdict.HANG, 0, at=50.0),
    ]
    assert timeline.spans(ends) == [
        NpuSpan("app 1", "blocked", 0.0, 0.5),
        NpuSpan("app 1", "running", 0.5, 2.0, inferences=4),
        NpuSpan("app 1", "unloading", 2.0, 2.25),
        NpuSpan("app 2", "running", 1.0, 1.5, inferences=2, death=True),
    ]


def test_without_moments_there_is_no_timeline() -> None:
    assert timeline.spans([ClientEnd(Verdict.SUCCESS, 4)]) == []


def test_a_client_tells_each_moment_once_and_stops_at_a_number() -> None:
    measured = Measured()
    measured.enter("blocked")
    measured.inferences = 2
    measured.enter("running")
    assert [(one.phase, one.inferences) for one in measured.take_moments()] == [("blocked", 0), ("running", 2)]
    assert measured.take_moments() == ()
    for _ in range(_MOST_MOMENTS):
        measured.enter("blocked")
    assert len(measured.take_moments()) == _MOST_MOMENTS - 2
