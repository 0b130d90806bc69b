"""PAD, PAD_V2."""

from __future__ import annotations

import numpy as np

from npu_conformance.adapters.lowering.context import Step
from npu_conformance.adapters.lowering.operands import LoweringError, check_size


def pad(step: Step) -> None:
    """PAD with a real zero."""
    step.graph.emit("PAD", [step.tensor(0), _paddings(step)], step.output(), "Pad")


def pad_v2(step: Step) -> None:
    """PAD_V2: NNAPI gives the value for a quantised tensor as a stored integer, LiteRT wants it typed as the tensor."""
    kind = step.kind(step.tensor(0))
    fill = step.graph.constant(np.array(step.scalar(2)).astype(kind.dtype), kind.quantization)
    step.graph.emit("PADV2", [step.tensor(0), _paddings(step), fill], step.output(), "PadV2")


def _paddings(step: Step) -> int:
    paddings = step.value(1)
    if paddings.shape != (len(step.dimensions(0)), 2) or paddings.min() < 0:
        raise LoweringError("paddings that are negative or not a pair for each axis")
    check_size([size + sum(pair) for size, pair in zip(step.dimensions(0), paddings.tolist(), strict=True)])
    return step.integers(paddings)
