"""POW."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, required


def pow(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output = base ^ exponent, broadcast."""
    return (store(numpy.power(real(required(inputs[0])), real(required(inputs[1]))), outputs[0]),)
