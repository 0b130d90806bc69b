"""How far a device's answers are from golden ones, beside how far the CPU's are: what no class shows (ML-ACC-008)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy

from npu_conformance.mlts.lib.metrics.baseline import AgainstBaseline, mean_against

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array

RELATIVE = 2.0**-9
"""By how much of the golden answers' root mean square a float device may be off beyond the CPU: weights, inputs and
results in float16 lose less than half of that, bfloat16 loses more."""
STEPS = 8.0
"""The same of codes, in steps: legal roundings of nine layers come to six."""
BIAS_STEPS = 1.0
"""By how many steps codes may be too high or too low in the mean: truncating in each layer comes to less than half."""
EVERY_STEPS, _LEAST_ITEMS = 0.6, 5
"""By how many each of so many items may be: chance gives the items both signs, and no rounding is alike in all."""


@dataclass(frozen=True)
class Spread:
    """A device's errors beside the CPU's.

    size: of the mean squares, minus the CPU's; negative where the device is worse. bias: of the means, in steps; None
    for floats. least: the bias of the item that has the least of it, in steps. unit: in which the root of a mean square
    is told.
    """

    size: AgainstBaseline
    bias: AgainstBaseline | None
    least: float
    unit: float

    @property
    def told(self) -> str:
        """What is wrong, in words; empty for nothing."""
        if self.size.is_worse:
            return (
                f"{self._root(-self.size.difference)} off beyond the CPU (root mean square, 95 % interval "
                f"{self._root(-self.size.interval.high)} to {self._root(-self.size.interval.low)}): "
                f"expected at most {self._root(self.size.margin)}"
            )
        if self.bias is not None and self.bias.is_worse:
            return (
                f"{-self.bias.difference:.2g} steps further to one side than the CPU's: expected at most {BIAS_STEPS:g}"
            )
        if self.bias is not None and self.least > EVERY_STEPS:
            return (
                f"{-self.bias.difference:.2g} steps further to the same side than the CPU's, {self.least:.2g} or more "
                f"in each item: expected {EVERY_STEPS:g} or less in some"
            )
        return ""

    def _root(self, square: float) -> str:
        root = max(square, 0.0) ** 0.5 / self.unit
        return f"{root:.2%} of the answers" if self.bias is None else f"{root:.2g} steps"


def spread(device: Array, beside: Array | None, golden: Array, step: float, sequence: int = 1) -> Spread:
    """Compare errors. arrays: real values [items, elements]; beside: the CPU's, None for answers without any error.

    step: of the codes; 0 for floats. sequence: items that hang together, and count as one.
    """
    errors = [_in_sequences(found - golden, sequence) for found in (device, golden if beside is None else beside)]
    ours, theirs = (-(each**2).mean(axis=1) for each in errors)
    unit = step or float((golden.astype(numpy.float64) ** 2).mean()) ** 0.5 or 1.0
    size = mean_against(ours, theirs, margin=((STEPS if step else RELATIVE) * unit) ** 2)
    if not step:
        return Spread(size, None, 0.0, unit)
    ours, theirs = _biases(errors, step)
    least = float((theirs - ours).min()) if len(ours) >= _LEAST_ITEMS else 0.0
    return Spread(size, mean_against(ours, theirs, margin=BIAS_STEPS), least, unit)


def _biases(errors: list[Array], step: float) -> tuple[Array, Array]:
    """The mean errors of the items in steps, below 0 towards the side on which the device's are."""
    side = -1.0 if errors[0].mean() > 0 else 1.0
    ours, theirs = (side * each.mean(axis=1) / step for each in errors)
    return ours, theirs


def _in_sequences(errors: Array, sequence: int) -> Array:
    """The errors with a row for each sequence of items."""
    whole: Array = errors.astype(numpy.float64).reshape(len(errors) // sequence, -1)
    return whole
