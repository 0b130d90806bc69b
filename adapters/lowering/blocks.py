"""DEPTH_TO_SPACE, SPACE_TO_DEPTH, BATCH_TO_SPACE_ND, SPACE_TO_BATCH_ND. LiteRT has them for channels last only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from npu_conformance.adapters.lowering.context import Step
from npu_conformance.adapters.lowering.operands import LoweringError, check_size
from npu_conformance.adapters.lowering.window import TO_NCHW, TO_NHWC

RANK = 4


def depth_to_space(step: Step) -> None:
    """DEPTH_TO_SPACE."""
    block = step.scalar(1)
    *_, depth = _image(step, 2)
    if block < 1 or depth % (block * block):
        raise LoweringError(f"a depth of {depth} for blocks of {block}")
    _emit(step, 2, "DEPTH_TO_SPACE", [], "DepthToSpace", blockSize=block)


def space_to_depth(step: Step) -> None:
    """SPACE_TO_DEPTH."""
    block = step.scalar(1)
    _, height, width, _ = _image(step, 2)
    if block < 1 or height % block or width % block:
        raise LoweringError(f"an image of {height} x {width} for blocks of {block}")
    _emit(step, 2, "SPACE_TO_DEPTH", [], "SpaceToDepth", blockSize=block)


def batch_to_space_nd(step: Step) -> None:
    """BATCH_TO_SPACE_ND, which crops nothing."""
    block_height, block_width = _block(step)
    batches, *_ = _image(step, 2)
    if batches % (block_height * block_width):
        raise LoweringError(f"{batches} batches for blocks of {block_height} x {block_width}")
    parameters = [step.integers([block_height, block_width]), step.integers(np.zeros((2, 2)))]
    _emit(step, 2, "BATCH_TO_SPACE_ND", parameters, "BatchToSpaceND")


def space_to_batch_nd(step: Step) -> None:
    """SPACE_TO_BATCH_ND."""
    blocks = _block(step)
    paddings = step.value(2)
    batches, *sizes, channels = _image(step, 3)
    if paddings.shape != (2, 2) or paddings.min() < 0:
        raise LoweringError("paddings that are negative or not a pair for height and width")
    padded = [size + sum(pair) for size, pair in zip(sizes, paddings.tolist(), strict=True)]
    check_size([batches, *padded, channels])
    if any(size % block for size, block in zip(padded, blocks, strict=True)):
        raise LoweringError(f"a padded image of {padded} for blocks of {blocks}")
    _emit(step, 3, "SPACE_TO_BATCH_ND", [step.integers(blocks), step.integers(paddings)], "SpaceToBatchND")


def _block(step: Step) -> tuple[int, int]:
    sizes = step.value(1).tolist()
    if len(sizes) != 2 or min(sizes) < 1:
        raise LoweringError(f"a block of {sizes}")
    return sizes[0], sizes[1]


def _image(step: Step, flag: int) -> tuple[int, ...]:
    """Batches, height, width and channels of the input. flag: position of the layout flag."""
    dimensions = step.dimensions(0)
    if len(dimensions) != RANK:
        raise LoweringError(f"an input of rank {len(dimensions)}")
    return tuple(dimensions[axis] for axis in TO_NHWC) if step.scalar(flag, 0) else dimensions


def _emit(step: Step, flag: int, builtin: str, parameters: Sequence[int], options: str, **settings: Any) -> None:
    """Emit the operator on the image with its channels last, and bind the result in the layout asked for."""
    is_nchw = bool(step.scalar(flag, 0))
    source = step.transposed(step.tensor(0), TO_NHWC) if is_nchw else step.tensor(0)
    result = step.like(source)
    step.graph.emit(builtin, [source, *parameters], result, options, **settings)
    step.bind(step.transposed(result, TO_NCHW) if is_nchw else result)
