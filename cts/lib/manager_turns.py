"""Whose turn it is, where two equals wait for room."""

from __future__ import annotations

from npu_conformance.cts.lib.manager_client import GRANT, PARKED
from npu_conformance.cts.lib.manager_fixture import RequestedModel
from npu_conformance.harness.judge import checks


def judge_turn(due: RequestedModel, other: RequestedModel) -> None:
    """Of two parked requests of equals, of which one fits now, one alone is granted.

    It ought to be that of the app that has completed work less recently, `due` (NPU-POL-023, a SHOULD).
    """
    one_is_served(due, other)
    served = [model for model in (due, other) if GRANT in model.received]
    checks.equal(len(served), 1, "requests granted after one large model was unloaded")
    served[0].receives(PARKED, GRANT)
    (other if served[0] is due else due).receives(PARKED)
    if served[0] is other:
        context = due.app.fixture.context
        context.warn_quality(f"{other.name} is served before {due.name}, whose app completed work earlier")


def one_is_served(one: RequestedModel, other: RequestedModel) -> None:
    """Wait until one of two requests has a grant."""
    one.app.fixture.wait(lambda: GRANT in one.received + other.received)
