"""LOGICAL_NOT."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.reference.device.comparison import is_true, truth
from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor


def logical_not(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output = not input; every byte but 0 is true."""
    return (truth(~is_true(inputs[0])),)
