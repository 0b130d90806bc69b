"""STRIDED_SLICE."""

from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, integers, required


def strided_slice(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[i] = input[begin + i * stride] on each axis; the output's shape leaves out the axes to shrink.

    Python's slices count from the end, clamp and leave open as the operation and its masks do.
    """
    begins, ends = _open(integers(inputs[1]), integer(inputs[4])), _open(integers(inputs[2]), integer(inputs[5]))
    ranges = tuple(map(slice, begins, ends, integers(inputs[3])))
    return (required(inputs[0]).data[ranges].reshape(outputs[0].dimensions),)


def _open(ends: list[int], mask: int) -> list[int | None]:
    """The ends of the ranges, None where the mask's bit asks for the widest one."""
    return [None if mask >> axis & 1 else end for axis, end in enumerate(ends)]
