"""Judges a subject that executes what breaks a clause."""

from __future__ import annotations

from npu_conformance.corpus.vector_types import ANDROID
from npu_conformance.corpus.vectors import Vector
from npu_conformance.harness.judge.compare import RunningCase
from npu_conformance.harness.judge.verdicts import Failed


def judge_taken(context: RunningCase, vector: Vector, who: str) -> None:
    """Fail where every implementation must refuse the vector; warn where Android's own one computes something.

    who: the subject, in messages.
    """
    clause = vector.rejected.clause if vector.rejected else ""
    message = f"{who} executes what breaks {clause or 'its specification'}"
    if ANDROID not in vector.taken_by:
        raise Failed(f"{message}: expected a rejection, found NONE")
    context.warn_quality(f"{message}; Android's own implementation does, too, and its tests do not try it")
