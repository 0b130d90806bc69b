"""EXPAND_DIMS: an axis of size 1 more; the elements stay as they are."""

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present


def expand_dims(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: tensor, place of the new axis in the output (negative counts from the output's end)."""
    source, axis = present(inputs[0]), int(present(inputs[1]).scalar)
    place = axis + len(source.dimensions) + 1 if axis < 0 else axis
    return [Result((*source.dimensions[:place], 1, *source.dimensions[place:]), source.raw)]
