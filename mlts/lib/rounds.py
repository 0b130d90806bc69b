"""What the works of clients share: connections, stored models, and one that is loaded and released."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import TYPE_CHECKING

from npu_conformance.corpus import vectors
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.harness.run.app_connection import ClientSubject
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.preparation import model_of
from npu_conformance.mlts.lib.reports import Moment, Plan, StoredModel
from npu_conformance.specs.documents.results import NpuPhase

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Vector
    from npu_conformance.harness.subject.handle import SubjectHandle

_CASE = Case("mlts.stress.client.load", lambda context: None, ())
_MOST_MOMENTS = 2000
"""A client tells of no more moments than these, so that hours of a full run fit on a page."""


class Measured(dict[str, float]):
    """What a client noticed: numbers by name, and moments of an app of the NPU.

    inferences: that the app has done so far.
    """

    def __init__(self) -> None:
        super().__init__()
        self.inferences = 0
        self._moments: list[Moment] = []
        self._told = 0

    def enter(self, phase: NpuPhase) -> None:
        """The app comes into a phase now."""
        if self._told + len(self._moments) < _MOST_MOMENTS:
            self._moments.append(Moment(time.monotonic(), phase, self.inferences))

    def take_moments(self) -> tuple[Moment, ...]:
        """What has come since the last call. Other threads may come into phases meanwhile."""
        taken = tuple(self._moments)
        del self._moments[: len(taken)]
        self._told += len(taken)
        return taken


Rounds = Generator[int]
"""Yields 0 when ready, then the number of rounds done, for ever."""


def connected(plan: Plan, ticket: str) -> ClientSubject:
    """A connection as planned."""
    return ClientSubject(plan.address, ticket, plan.transports, plan.version, plan.folder, crowd=plan.crowd)


def load(subject: SubjectHandle, vector: Vector, *, mapped: bool = False) -> None:
    """Prepare a vector's model and release it. mapped: its constants lie in a file that is mapped.

    Raises Failed where the preparation ends with anything but NONE and a model.
    """
    context = CaseContext(_CASE, subject)
    try:
        pool = context.mapped_pool if mapped else None
        model_of(context.prepare(build_model(vector, context.version, create_pool=pool).model))
    finally:
        context.close()


def load_vector(model: StoredModel) -> Vector:
    """The stored vector of a model."""
    return vectors.load(model.operation, model.vector)
