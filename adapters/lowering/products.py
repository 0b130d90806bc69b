"""BATCH_MATMUL."""

from __future__ import annotations

from npu_conformance.adapters.lowering.context import Step


def batch_matmul(step: Step) -> None:
    """BATCH_MATMUL. LiteRT has none of int32 that gives int32, and refuses it."""
    step.graph.emit(
        "BATCH_MATMUL",
        [step.tensor(0), step.tensor(1)],
        step.output(),
        "BatchMatMul",
        adjX=bool(step.scalar(2)),
        adjY=bool(step.scalar(3)),
    )
