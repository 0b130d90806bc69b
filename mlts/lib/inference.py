"""What a client process of a stress test does: it prepares a stored vector's model, and executes it again and again."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.corpus import vectors
from npu_conformance.harness.run.app_connection import ClientSubject
from npu_conformance.harness.run.repeated_inference import infer
from npu_conformance.mlts.lib.reports import Plan


def run(plan: Plan) -> Iterator[int]:
    """Connect to the implementation as planned and execute; yields 0 when ready, then the number of inferences."""
    vector = vectors.load(plan.operation, plan.vector)
    subject = ClientSubject(plan.address, plan.ticket, plan.transports, plan.version, plan.folder)
    try:
        yield from infer(subject, vector, plan.inferences)
    finally:
        subject.close()
