"""RESHAPE, SQUEEZE, TRANSPOSE, MEAN: what removes, renames or reorders axes."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.adapters.lowering.context import Step
from npu_conformance.adapters.lowering.operands import LoweringError


def reshape(step: Step) -> None:
    """RESHAPE."""
    step.bind(step.reshaped(step.tensor(0), step.value(1).tolist()))


def squeeze(step: Step) -> None:
    """SQUEEZE, written as RESHAPE: where every axis goes NNAPI keeps [1], LiteRT nothing."""
    dimensions = step.dimensions(0)
    ones = [axis for axis, size in enumerate(dimensions) if size == 1]
    removed = set(ones if step.is_omitted(1) else _axes(step.value(1).tolist(), len(dimensions)))
    if not removed <= set(ones):
        raise LoweringError("an axis to squeeze is not of size 1")
    kept = [size for axis, size in enumerate(dimensions) if axis not in removed]
    step.bind(step.reshaped(step.tensor(0), kept or [1]))


def transpose(step: Step) -> None:
    """TRANSPOSE; without a permutation the axes are reversed."""
    rank = len(step.dimensions(0))
    permutation = list(reversed(range(rank))) if step.is_omitted(1) else step.value(1).tolist()
    if sorted(permutation) != list(range(rank)):
        raise LoweringError(f"{permutation} is no permutation of {rank} axes")
    step.graph.emit("TRANSPOSE", [step.tensor(0), step.integers(permutation)], step.output(), "Transpose")


def mean(step: Step) -> None:
    """MEAN; where every axis goes NNAPI keeps [1], LiteRT nothing."""
    rank = len(step.dimensions(0))
    axes = sorted(set(_axes(step.value(1).tolist(), rank)))
    if not axes:
        raise LoweringError("no axis to reduce")
    keeps = step.scalar(2) > 0
    result = step.like(step.tensor(0))
    step.graph.emit("MEAN", [step.tensor(0), step.integers(axes)], result, "Reducer", keepDims=keeps)
    step.bind(step.reshaped(result, [1]) if len(axes) == rank and not keeps else result)


def _axes(axes: Sequence[int], rank: int) -> list[int]:
    if any(axis not in range(-rank, rank) for axis in axes):
        raise LoweringError(f"axes {list(axes)} of a tensor of rank {rank}")
    return [axis % rank for axis in axes]
