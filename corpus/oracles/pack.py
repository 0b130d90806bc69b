"""PACK: tensors of one shape, stacked along a new axis."""

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, flatten, indexes, present


def pack(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: the place of the new axis in the output, then the tensors."""
    first, *tensors = map(present, inputs)
    axis, shape = int(first.scalar), tensors[0].dimensions
    dimensions = (*shape[:axis], len(tensors), *shape[axis:])
    raw = [
        tensors[index[axis]].raw[flatten((*index[:axis], *index[axis + 1 :]), shape)] for index in indexes(dimensions)
    ]
    return [Result(dimensions, raw)]
