"""What MEAN and the REDUCE operations share: which elements come together, and what shape is left."""

from collections.abc import Callable

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Real, Result, Shape, indexes, present, stored


def reduced(inputs: Inputs, outputs: Outputs, combine: Callable[[list[Real]], Real]) -> list[Result]:
    """Inputs: tensor, axes (negative ones count from the end, doubled ones once), keep_dims (positive: keep as 1)."""
    source, axes, keep = map(present, inputs)
    rank = len(source.dimensions)
    gone = {axis % rank for axis in axes.integers}
    keeps = int(keep.scalar) > 0
    groups: dict[Shape, list[Real]] = {}
    for index in indexes(source.dimensions):
        rest = tuple(position for axis, position in enumerate(index) if axis not in gone)
        groups.setdefault(rest, []).append(source.at(*index))
    kept = [1 if axis in gone else size for axis, size in enumerate(source.dimensions)]
    shape = tuple(size for axis, size in enumerate(kept) if keeps or axis not in gone) or (1,)
    return [Result(shape, [stored(combine(values), outputs[0]) for values in groups.values()])]
