"""CONCATENATION: the inputs one after the other on an axis, each value requantised to the output's parameters."""

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, indexes, present, stored


def concatenation(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: tensors, then the axis (hazard concatenation-quantization)."""
    *tensors, last = map(present, inputs)
    axis = int(last.scalar)
    first = tensors[0].dimensions
    owners = [(tensor, place) for tensor in tensors for place in range(tensor.dimensions[axis])]
    dimensions = (*first[:axis], len(owners), *first[axis + 1 :])
    raw = []
    for index in indexes(dimensions):
        tensor, place = owners[index[axis]]
        raw.append(stored(tensor.at(*index[:axis], place, *index[axis + 1 :]), outputs[0]))
    return [Result(dimensions, raw)]
