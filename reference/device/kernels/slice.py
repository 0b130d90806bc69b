"""SLICE."""

import builtins

from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integers, required


def slice(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[i...] = input[begin + i...]; the shape rule has resolved sizes of -1."""
    begins = integers(inputs[1])
    parts = zip(begins, outputs[0].dimensions, strict=True)
    return (required(inputs[0]).data[tuple(builtins.slice(begin, begin + size) for begin, size in parts)],)
