"""The quality verdict: how good a result is against a run in float64. It only warns.

Of floats the bound is counted in ULP of the output type and scaled by the magnitude of the data: for a sum, the sum
of the absolute products, since cancellation is no mistake of the driver's. It grows with the square root of the
reduction length, as rounding errors of an honest sum do. Results below the smallest normal number may be flushed to
zero. Quantised results may be a step off, yet not all of them to one side: rounding down is an error of half a step.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

MOVES = frozenset({
    "RESHAPE", "SQUEEZE", "EXPAND_DIMS", "TRANSPOSE", "CONCATENATION", "SPLIT", "SLICE", "STRIDED_SLICE",
    "GATHER", "TILE", "PAD", "PAD_V2", "MIRROR_PAD", "SPACE_TO_DEPTH", "DEPTH_TO_SPACE", "SPACE_TO_BATCH_ND",
    "BATCH_TO_SPACE_ND", "CHANNEL_SHUFFLE", "REVERSE", "SELECT", "PACK", "EMBEDDING_LOOKUP", "HASHTABLE_LOOKUP",
    "RELU", "RELU1", "RELU6", "MAXIMUM", "MINIMUM", "MAX_POOL_2D", "REDUCE_MAX", "REDUCE_MIN", "TOPK_V2", "ABS",
    "NEG", "FILL", "FLOOR", "RESIZE_NEAREST_NEIGHBOR",
})  # fmt: skip
"""Operations that choose or copy values: no rounding at all."""
TRANSCENDENTAL = frozenset({
    "LOGISTIC", "TANH", "EXP", "LOG", "SIN", "POW", "ELU", "SOFTMAX", "LOG_SOFTMAX", "HARD_SWISH",
    "LOCAL_RESPONSE_NORMALIZATION", "INSTANCE_NORMALIZATION",
    "LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_LSTM",
})  # fmt: skip
"""Curves, which are approximated; HARD_SWISH reaches its flat end by a difference of large numbers."""
ZERO_SIGN_FIXED = frozenset({
    "RESHAPE", "SQUEEZE", "EXPAND_DIMS", "TRANSPOSE", "CONCATENATION", "SPLIT", "SLICE", "STRIDED_SLICE",
    "GATHER", "TILE", "SPACE_TO_DEPTH", "DEPTH_TO_SPACE", "SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND",
    "CHANNEL_SHUFFLE", "REVERSE", "SELECT", "PACK", "ABS", "NEG", "MUL", "DIV", "ADD", "SUB",
    "RESIZE_NEAREST_NEIGHBOR", "PAD", "PAD_V2", "MIRROR_PAD", "EMBEDDING_LOOKUP", "HASHTABLE_LOOKUP",
})  # fmt: skip
"""Operations, without fused activation, whose zeros have a sign that IEEE 754 or the copying fixes."""
_ELEMENTARY_ULP = {
    "DIV": 2.5, "SQRT": 3.0, "RSQRT": 4.0, "CAST": 0.5, "DEQUANTIZE": 1.0, "L2_NORMALIZATION": 8.0,
    "AXIS_ALIGNED_BBOX_TRANSFORM": 8.0, "DETECTION_POSTPROCESSING": 8.0, "GENERATE_PROPOSALS": 8.0,
    "BOX_WITH_NMS_LIMIT": 16.0, "HEATMAP_MAX_KEYPOINT": 64.0,
}  # fmt: skip
"""A corner of a box is some five operations and an exponential away, a score of soft suppression several of these."""
_TRANSCENDENTAL_ULP = 64.0
_SMALLEST_CURVE = 2.0**-5
"""Curves are approximated to an absolute error: below this, ULP are counted as if the value were this large."""
_GRID_ELEMENTS = 8
_ONE_SIDED_ELEMENTS, _ONE_SIDED_STEPS = 10, 0.25
"""So many elements that are off, all to one side, are no chance where this is so many steps in the mean of all."""


class Exact(msgspec.Struct, frozen=True):
    """The results of a run in float64.

    values: the results, before rounding to the output type. reduction_length: products summed for one element (1 for
    none). magnitude: sum of the absolute products of each element; None where the value itself is the measure. lost:
    how far an element is off for what its inputs lose as half floats, as those of a relaxed model may.
    """

    values: Array
    reduction_length: int = 1
    magnitude: Array | None = None
    activation: bool = False
    lost: Array | None = None


def allowed_ulp(operation: str, reduction_length: int) -> float:
    """Return how many ULP of the magnitude an element may be off."""
    if operation in MOVES:
        return 0.0
    base = _TRANSCENDENTAL_ULP if operation in TRANSCENDENTAL else _ELEMENTARY_ULP.get(operation, 1.0)
    return base + (4.0 + math.sqrt(reduction_length) if reduction_length > 1 else 0.0)


def judge(actual: Array, exact: Exact, operation: str, *, relaxed: bool = False) -> list[str]:
    """Return a line for each thing that is worse than it could be; none where all is well.

    actual: float32 or float16. relaxed: the model allows the range and the precision of float16 (NNHAL-MODEL-059), so
    ULP and what is lost by storing the result are float16's.
    """
    findings = [_beyond_bound(actual, exact, operation, relaxed)]
    if not relaxed:
        findings.append(_half_inside(actual, exact, operation))
    if operation in ZERO_SIGN_FIXED and not exact.activation:
        findings.append(_lost_zero_signs(actual, exact, operation))
    return [finding for finding in findings if finding]


def one_sided(actual: Array, expected: Array, zero_point: int, operation: str) -> str:
    """A line where quantised results are all off to one side, or all to 0; empty where they are not."""
    import numpy as np

    steps = actual.astype(np.int64) - expected
    outwards = steps * np.sign(expected.astype(np.int64) - zero_point)
    for off, side in ((steps, "one side"), (outwards, "the side of 0")):
        wrong = off[off != 0]
        is_many = wrong.size >= _ONE_SIDED_ELEMENTS and abs(off.mean()) >= _ONE_SIDED_STEPS
        if is_many and (wrong[0] < 0 or side == "one side") and (np.sign(wrong) == np.sign(wrong[0])).all():
            return (
                f"{operation}: {wrong.size} of {off.size} quantised elements are off, all to {side}, by "
                f"{abs(off.mean()):.2g} steps in the mean: are they truncated instead of rounded?"
            )
    return ""


def _beyond_bound(actual: Array, exact: Exact, operation: str, relaxed: bool) -> str:
    import numpy as np

    kind = np.finfo(np.float16 if relaxed else actual.dtype)
    finite = np.isfinite(exact.values)
    scale = np.abs(exact.values) if exact.magnitude is None else np.maximum(exact.magnitude, np.abs(exact.values))
    if operation in TRANSCENDENTAL:
        scale = np.maximum(scale, _SMALLEST_CURVE)
    scale = np.where(finite & np.isfinite(scale), scale, 0.0)
    ulp = np.maximum(float(kind.eps) * scale, float(kind.smallest_subnormal))
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(actual.astype(np.float64) - exact.values)
        representable = exact.values.astype(kind.dtype).astype(np.float64)
        rounding = np.abs(representable - exact.values)
    # Half an ULP is lost by storing the result at all; what overflows the type is not judged.
    bound = allowed_ulp(operation, exact.reduction_length) * ulp + rounding + float(kind.smallest_normal)
    if exact.lost is not None:
        bound = bound + exact.lost
    bad = finite & np.isfinite(representable) & ~(error <= bound)
    if not bad.any():
        return ""
    counted = np.where(bad, np.nan_to_num(error / ulp, nan=np.inf, posinf=np.inf), 0.0)
    worst = tuple(int(index) for index in np.unravel_index(int(counted.argmax()), counted.shape))
    allowed = allowed_ulp(operation, exact.reduction_length)
    return (
        f"{operation}: {int(bad.sum())} of {actual.size} elements beyond the quality bound; element {list(worst)}: "
        f"exact {float(exact.values[worst]):.9g}, actual {float(actual[worst]):.9g}, "
        f"{float(counted[worst]):.4g} ULP, allowed {allowed:.4g}"
    )


def _half_inside(actual: Array, exact: Exact, operation: str) -> str:
    """Float32 results that all lie on float16's grid, where the exact ones do not, came through float16."""
    import numpy as np

    if actual.dtype != np.float32 or operation in MOVES:
        return ""
    with np.errstate(over="ignore", invalid="ignore"):
        exact_single = exact.values.astype(np.float32)
        off_grid = np.isfinite(exact_single) & (exact_single.astype(np.float16).astype(np.float32) != exact_single)
        on_grid = actual.astype(np.float16).astype(np.float32) == actual
    count = int(off_grid.sum())
    if count < _GRID_ELEMENTS or not bool(on_grid[off_grid].all()):
        return ""
    return f"{operation}: float32 results look computed in float16: {count} elements lie on its grid and should not"


def _lost_zero_signs(actual: Array, exact: Exact, operation: str) -> str:
    import numpy as np

    zeros = (exact.values == 0) & (actual == 0)
    wrong = int((zeros & (np.signbit(exact.values) != np.signbit(actual))).sum())
    return f"{operation}: {wrong} of {int(zeros.sum())} zeros have the wrong sign" if wrong else ""
