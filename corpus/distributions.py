"""What samples of classes are compared with: the frequency of each class with its share in softmax of the logits.

Draws differ from device to device. By Hoeffding's bound a class of a true sampler is off by more than a tolerance t in
n draws with a probability of at most 2 exp(-2 n t^2): the vectors stored here draw so many that all of them together
raise a false alarm less than once in 10^9 runs. Collections from outside set tolerances of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array, Example, Vector


def shares(logits: Array) -> Array:
    """The probability of each class in each row: softmax in float64. A logit that is not finite has none."""
    import numpy

    wide = logits.astype(numpy.float64)
    wide = numpy.where(numpy.isfinite(wide), wide, -numpy.inf)
    powers = numpy.exp(wide - wide.max(axis=1, keepdims=True))
    whole: Array = powers / powers.sum(axis=1, keepdims=True)
    return whole


def logits_of(vector: Vector, example: Example) -> Array:
    """The logits of a vector of kind multinomial: of a constant or an input. Raises ValueError where it has none."""
    (operation,) = vector.operations
    name = operation.inputs[0]
    known = example.inputs.get(name, vector.operands[name].value)
    if known is None:
        raise ValueError(f"{vector.name}: {name} has no value")
    return known


def problem(samples: Array, logits: Array, tolerance: float) -> str:
    """What is wrong with samples [rows, draws] of logits [rows, classes]; empty where nothing is."""
    import numpy

    classes = logits.shape[1]
    outside = (samples < 0) | (samples >= classes)
    if outside.any():
        row, draw = (int(place) for place in numpy.argwhere(outside)[0])
        return f"sample [{row}, {draw}] is {samples[row, draw]}, expected a class from 0 to {classes - 1}"
    expected = shares(logits)
    found = numpy.array([numpy.bincount(row, minlength=classes) for row in samples]) / samples.shape[1]
    far = numpy.abs(found - expected)
    row, worst = (int(place) for place in numpy.unravel_index(int(far.argmax()), far.shape))
    if far[row, worst] <= tolerance:
        return ""
    return (
        f"row {row}: class {worst} has the frequency {found[row, worst]:.4f} in {samples.shape[1]} samples, expected "
        f"{expected[row, worst]:.4f} within {tolerance:.4g}; "
        f"{int((far > tolerance).sum())} of {far.size} frequencies are outside"
    )
