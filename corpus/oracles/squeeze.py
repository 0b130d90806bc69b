"""SQUEEZE: the same elements without the listed axes of size 1; without a list, without every such axis.

Hazard: optional-shape-operand.
"""

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present


def squeeze(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: tensor, axes or nothing. Where no axis is left the output is [1]."""
    source, listed = present(inputs[0]), inputs[1]
    sizes = source.dimensions
    dropped = [axis for axis, size in enumerate(sizes) if size == 1] if listed is None else listed.integers
    kept = tuple(size for axis, size in enumerate(sizes) if axis not in dropped)
    return [Result(kept or (1,), source.raw)]
