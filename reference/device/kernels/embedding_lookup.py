"""EMBEDDING_LOOKUP."""

from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def embedding_lookup(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[i] = values[lookups[i]]."""
    lookups, values = map(required, inputs)
    return (values.data[lookups.data],)
