"""What random scenarios say of missing metrics: the same words for the same cause, with when such are due."""

from __future__ import annotations

from npu_conformance.cts.lib.scenario_metrics import ExpectedRecords
from npu_conformance.cts.lib.scenario_step import Step
from npu_conformance.harness.judge.manager_events import CANCELLED, GRANT, Event
from npu_conformance.harness.judge.manager_model import ManagerModel
from npu_conformance.harness.judge.tracked_request import TrackedRequest
from npu_conformance.specs.npu.types import Atom, ModelLoadRequest, Policy


def _missing(uid: int, *found: Atom) -> list[str]:
    request = ModelLoadRequest(uid % 7)
    events = [Event(kind, request, status) for kind, status in (GRANT, CANCELLED)]
    tracked = TrackedRequest(uid, request, 4, events, events[1:])
    return ExpectedRecords().missing(ManagerModel(Policy.BUDGET, 4, requests=[tracked]), Step("cancel"), (), found)


def test_one_cause_has_one_line_that_says_when_the_record_is_due() -> None:
    (said,) = _missing(10_201)
    assert said.startswith("NpuModelLoadRequestCancelled, which is due for each request that is cancelled")
    assert _missing(10_202) == [said]


def test_what_is_there_and_says_something_else_is_named() -> None:
    (said,) = _missing(10_201, Atom("NpuModelLoadRequestCancelled", {"uid": 10_201, "id": 77}))
    assert said.endswith(": another id in its place")
