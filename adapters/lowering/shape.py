"""RESHAPE, SQUEEZE, TRANSPOSE, RANK, FILL: operations that remove, rename or reorder axes, or are about a shape."""

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
    removed = set(ones if step.is_omitted(1) else wrapped_axes(step.value(1).tolist(), len(dimensions)))
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


def rank(step: Step) -> None:
    """RANK."""
    step.graph.emit("RANK", [step.tensor(0)], step.output(), "Rank")


def fill(step: Step) -> None:
    """FILL."""
    step.graph.emit("FILL", [step.integers(step.value(0)), step.tensor(1)], step.output(), "Fill")


def wrapped_axes(axes: Sequence[int], rank: int) -> list[int]:
    """Axes that may count from the end as positions. Raises LoweringError where one does not exist."""
    if any(axis not in range(-rank, rank) for axis in axes):
        raise LoweringError(f"axes {list(axes)} of a tensor of rank {rank}")
    return [axis % rank for axis in axes]
