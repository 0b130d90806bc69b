"""What MEAN and the REDUCE operations share: which elements come together, and what shape is left."""

from collections.abc import Callable

import numpy

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Real, Result, Shape, count, present, stored


def reduced(inputs: Inputs, outputs: Outputs, combine: Callable[[list[Real]], Real]) -> list[Result]:
    """Inputs: tensor, axes (negative ones count from the end, doubled ones once), keep_dims (positive: keep as 1)."""
    source, axes, keep = map(present, inputs)
    rank = len(source.dimensions)
    gone = {axis % rank for axis in axes.integers}
    keeps = int(keep.scalar) > 0
    kept = [1 if axis in gone else size for axis, size in enumerate(source.dimensions)]
    shape = tuple(size for axis, size in enumerate(kept) if keeps or axis not in gone) or (1,)
    groups = _groups(source.dimensions, gone)
    return [Result(shape, [stored(combine([source.reals[flat] for flat in group]), outputs[0]) for group in groups])]


def _groups(dimensions: Shape, gone: set[int]) -> list[list[int]]:
    """The flat indexes of the elements that come together, for each place of the result in row-major order."""
    kept = [axis for axis in range(len(dimensions)) if axis not in gone]
    moved = numpy.arange(count(dimensions)).reshape(dimensions).transpose(*kept, *sorted(gone))
    groups: list[list[int]] = moved.reshape(count(tuple(dimensions[axis] for axis in kept)), -1).tolist()
    return groups
