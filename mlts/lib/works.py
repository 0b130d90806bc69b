"""What a thread of a client does, by the work of its plan: it connects, gets ready, and goes from round to round."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from npu_conformance.harness.run.repeated_inference import infer
from npu_conformance.mlts.lib import graphs, latency, npu_app
from npu_conformance.mlts.lib.reports import Plan, Work
from npu_conformance.mlts.lib.rounds import Measured, Rounds, connected, load, load_vector

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Vector
    from npu_conformance.harness.subject.handle import SubjectHandle

_IN_A_ROW = 10
"""Inferences of a model before the next one's turn."""


def run(plan: Plan, thread: int, measured: Measured) -> Rounds:
    """Connect with the ticket of this thread and work as planned.

    measured: gets numbers for the report. Raises what a case would raise: Failed, Hung, Crashed.
    """
    subject = connected(plan, plan.tickets[thread])
    try:
        yield from _WORKS[plan.work](subject, plan, thread, measured)
    finally:
        subject.close()


def _infer(subject: SubjectHandle, plan: Plan, thread: int, measured: Measured) -> Rounds:
    """One model for ever, or several in turn, each for a few inferences."""
    loaded = _vectors(plan, thread)
    in_a_row = _IN_A_ROW if len(loaded) > 1 else sys.maxsize
    done = 0
    for vector in itertools.cycle(loaded):
        inferences = infer(subject, vector, in_a_row, mapped=plan.mapped)
        for number in inferences:
            if number or not done:
                yield done + number
        done += in_a_row


def _load(subject: SubjectHandle, plan: Plan, thread: int, measured: Measured) -> Rounds:
    """Every round prepares a model anew, and lets it go."""
    loaded = _vectors(plan, thread)
    yield 0
    for number, vector in enumerate(itertools.cycle(loaded), start=1):
        load(subject, vector, mapped=plan.mapped)
        yield number


def _vectors(plan: Plan, thread: int) -> list[Vector]:
    """The models of the plan; each thread begins with another one."""
    first = thread % len(plan.models)
    return [load_vector(each) for each in (*plan.models[first:], *plan.models[:first])]


_WORKS: dict[Work, Callable[[SubjectHandle, Plan, int, Measured], Rounds]] = {
    Work.INFER: _infer,
    Work.LOAD: _load,
    Work.GRAPH_LOAD: graphs.work,
    Work.GRAPH_INFER: graphs.work,
    Work.LATENCY: latency.work,
    Work.NPU: npu_app.work,
}
