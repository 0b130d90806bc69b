"""CHANNEL_SHUFFLE."""

from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required


def channel_shuffle(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[..., k*groups + g, ...] = input[..., g*size + k, ...] along axis, which may be negative."""
    data, groups = required(inputs[0]).data, integer(inputs[1])
    axis = integer(inputs[2]) % data.ndim
    before, size, after = data.shape[:axis], data.shape[axis] // groups, data.shape[axis + 1 :]
    return (data.reshape(*before, groups, size, *after).swapaxes(axis, axis + 1).reshape(data.shape),)
