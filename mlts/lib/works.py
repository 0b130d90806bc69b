"""What a thread of a client does, by the work of its plan: it connects, gets ready, and goes from round to round."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

from npu_conformance.corpus import vectors
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.app_connection import ClientSubject
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.repeated_inference import infer
from npu_conformance.mlts.lib.reports import Plan, StoredModel, Work
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Vector
    from npu_conformance.harness.subject.handle import SubjectHandle

_CASE = Case("mlts.stress.client.load", lambda context: None, ())
_IN_A_ROW = 10
"""Inferences of a model before the next one's turn."""
Measured = dict[str, float]
Rounds = Generator[int]
"""Yields 0 when ready, then the number of rounds done, for ever."""


def run(plan: Plan, thread: int, measured: Measured) -> Rounds:
    """Connect with the ticket of this thread and work as planned.

    measured: gets numbers for the report. Raises what a case would raise: Failed, Hung, Crashed.
    """
    subject = connected(plan, plan.tickets[thread])
    try:
        yield from _work(plan)(subject, plan, thread, measured)
    finally:
        subject.close()


def connected(plan: Plan, ticket: str) -> ClientSubject:
    """A connection as planned."""
    return ClientSubject(plan.address, ticket, plan.transports, plan.version, plan.folder, crowd=plan.crowd)


def _work(plan: Plan) -> Callable[[SubjectHandle, Plan, int, Measured], Rounds]:
    if plan.work is Work.INFER:
        return _infer
    if plan.work is Work.LOAD:
        return _load
    if plan.work is Work.NPU:
        from npu_conformance.mlts.lib import npu_app

        return npu_app.work
    if plan.work is Work.LATENCY:
        from npu_conformance.mlts.lib import latency

        return latency.work
    from npu_conformance.mlts.lib import graphs

    return graphs.work


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


def load(subject: SubjectHandle, vector: Vector, *, mapped: bool = False) -> None:
    """Prepare a vector's model and release it. mapped: its constants lie in a file that is mapped.

    Raises Failed where the preparation ends with anything but NONE and a model.
    """
    context = CaseContext(_CASE, subject)
    try:
        pool = context.mapped_pool if mapped else None
        preparation = context.prepare(build_model(vector, context.version, create_pool=pool).model)
        checks.status(preparation.status, {ErrorStatus.NONE}, "prepareModel of a supported model")
        if preparation.prepared_model is None:
            checks.fail("prepareModel of a supported model", "a prepared model", "None")
    finally:
        context.close()


def _vectors(plan: Plan, thread: int) -> list[Vector]:
    """The models of the plan; each thread begins with another one."""
    first = thread % len(plan.models)
    return [load_vector(each) for each in (*plan.models[first:], *plan.models[:first])]


def load_vector(model: StoredModel) -> Vector:
    """The stored vector of a model."""
    return vectors.load(model.operation, model.vector)
