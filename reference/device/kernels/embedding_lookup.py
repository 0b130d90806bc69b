"""EMBEDDING_LOOKUP."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, required


def embedding_lookup(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output[i] = values[lookups[i]]."""
    lookups, values = map(required, inputs)
    return (values.data[lookups.data],)
