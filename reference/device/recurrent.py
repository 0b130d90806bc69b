"""Recurrent cells: what the operations of the RNN family share. Sequences are [time, batch, size] inside."""

from collections.abc import Callable

import numpy

from npu_conformance.reference.device.quantization import real
from npu_conformance.reference.device.tensors import Array, Tensor, required


def sigmoid(values: Array) -> Array:
    """1 / (1 + exp(-x)); an exponential that overflows makes it 0."""
    return numpy.asarray(1.0 / (1.0 + numpy.exp(-values)))


CELL_ACTIVATIONS: dict[int, Callable[[Array], Array]] = {
    0: lambda values: values,
    1: lambda values: numpy.maximum(values, 0.0),
    3: lambda values: numpy.clip(values, 0.0, 6.0),
    4: numpy.tanh,
    6: sigmoid,
}
"""Codes of cells: not those of fused activations."""


def drive(sequence: Array, weights: Tensor | None, bias: Tensor | None = None) -> Array:
    """Return sequence * weights^T + bias: what does not depend on the state, for all steps at once."""
    products: Array = sequence @ real(required(weights)).T
    return products if bias is None else products + real(bias)


def unroll(drives: Array, recurrent: Tensor | None, state: Tensor | None, activation: int) -> Array:
    """Return the states after each step: state = activation(drive + state * recurrent^T), [time, batch, units].

    A step reads the state as it is stored, rounded.
    """
    factors, current = real(required(recurrent)).T, required(state).data
    states = numpy.empty(drives.shape, current.dtype)
    for step, given in enumerate(drives):
        states[step] = CELL_ACTIVATIONS[activation](given + current @ factors)
        current = states[step]
    return states


def time_first(sequence: Array, time_major: bool) -> Array:
    """Return a sequence as [time, batch, size], or one of that form in the operation's layout."""
    return sequence if time_major else sequence.swapaxes(0, 1)
