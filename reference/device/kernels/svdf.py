"""SVDF."""

import numpy

from npu_conformance.reference.device.activation import activate, activation_of
from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required


def svdf(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[u] = activation(bias[u] + sum over the filters f of u and slots m of time_weights[f, m] * state[f, m]).

    The last slot of a filter takes the new feature, input * feature_weights^T, in place of what the state has there;
    afterwards all slots move one to the left, and the last one is 0.
    """
    state_out, output = outputs
    source, features, times = (real(required(tensor)) for tensor in inputs[:3])
    states = real(required(inputs[4])).reshape(len(source), *times.shape)
    states[:, :, -1] = source @ features.T
    sums = (states * times).sum(axis=2).reshape(*output.dimensions, integer(inputs[5])).sum(axis=2)
    if inputs[3] is not None:
        sums = sums + real(inputs[3])
    moved = numpy.roll(states, -1, axis=2)
    moved[:, :, -1] = 0.0
    answer = activate(sums, activation_of(inputs[6]))
    return store(moved.reshape(state_out.dimensions), state_out), store(answer, output)
