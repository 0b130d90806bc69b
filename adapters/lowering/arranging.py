"""EXPAND_DIMS, TILE, GATHER, REVERSE, PACK, MIRROR_PAD: whole slices repeated, chosen, turned round or stacked."""

from __future__ import annotations

from npu_conformance.adapters.lowering.context import Step
from npu_conformance.adapters.lowering.operands import LoweringError, check_size

REFLECT, SYMMETRIC = 0, 1


def expand_dims(step: Step) -> None:
    """EXPAND_DIMS."""
    axis = _axis(step.scalar(1), len(step.dimensions(0)) + 1)
    step.graph.emit("EXPAND_DIMS", [step.tensor(0), step.integers([axis])], step.output(), "ExpandDims")


def tile(step: Step) -> None:
    """TILE."""
    dimensions, multiples = step.dimensions(0), step.value(1).tolist()
    if len(multiples) != len(dimensions) or min(multiples) < 1:
        raise LoweringError(f"multiples {multiples} for a tensor of rank {len(dimensions)}")
    check_size([size * times for size, times in zip(dimensions, multiples, strict=True)])
    step.graph.emit("TILE", [step.tensor(0), step.integers(multiples)], step.output(), "Tile")


def gather(step: Step) -> None:
    """GATHER; an index out of range fails the run."""
    axis = _axis(step.scalar(1), len(step.dimensions(0)))
    step.graph.emit("GATHER", [step.tensor(0), step.tensor(2)], step.output(), "Gather", axis=axis)


def reverse(step: Step) -> None:
    """REVERSE, of one axis."""
    axes = step.value(1).tolist()
    if len(axes) != 1 or axes[0] not in range(len(step.dimensions(0))):
        raise LoweringError(f"axes {axes} of a tensor of rank {len(step.dimensions(0))}")
    step.graph.emit("REVERSE_V2", [step.tensor(0), step.integers(axes)], step.output(), "ReverseV2")


def pack(step: Step) -> None:
    """PACK; NNAPI names the axis first."""
    positions, axis = range(1, step.input_count), step.scalar(0)
    shapes = {step.dimensions(position) for position in positions}
    if len(shapes) != 1 or axis not in range(len(next(iter(shapes))) + 1):
        raise LoweringError(f"shapes {sorted(shapes)} for axis {axis}")
    tensors = [step.tensor(position) for position in positions]
    step.graph.emit("PACK", tensors, step.output(), "Pack", axis=axis, valuesCount=len(tensors))


def mirror_pad(step: Step) -> None:
    """MIRROR_PAD; the codes of the modes are LiteRT's."""
    dimensions, paddings, mode = step.dimensions(0), step.value(1), step.scalar(2)
    if paddings.shape != (len(dimensions), 2) or mode not in (REFLECT, SYMMETRIC):
        raise LoweringError("paddings that are not a pair for each axis, or an unknown mode")
    for size, pair in zip(dimensions, paddings.tolist(), strict=True):
        if min(pair) < 0 or max(pair) > (size - 1 if mode == REFLECT else size):
            raise LoweringError(f"paddings {pair} of a dimension of {size}")
    step.graph.emit("MIRROR_PAD", [step.tensor(0), step.integers(paddings)], step.output(), "MirrorPad", mode=mode)


def _axis(axis: int, rank: int) -> int:
    if axis not in range(-rank, rank):
        raise LoweringError(f"axis {axis} of a tensor of rank {rank}")
    return axis % rank
