"""BIDIRECTIONAL_SEQUENCE_RNN."""

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.recurrent import drive, time_first, unroll
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required


def bidirectional_sequence_rnn(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """Two cells, one forward and one backward in time; merged, their outputs stand side by side.

    The auxiliary input is added with weights of its own, or, where it has none, the backward cell reads nothing else.
    """
    activation, major, merge = map(integer, inputs[12:])
    sequence = time_first(real(required(inputs[0])), bool(major))
    other = sequence if inputs[9] is None else time_first(real(inputs[9]), bool(major))
    is_crossed = inputs[10] is not None
    forward = drive(sequence, inputs[1], inputs[3])
    backward = drive(sequence if is_crossed else other, inputs[5], inputs[7])
    if is_crossed:
        forward, backward = forward + drive(other, inputs[10]), backward + drive(other, inputs[11])
    ahead = unroll(forward, inputs[2], inputs[4], activation)
    back = unroll(backward[::-1], inputs[6], inputs[8], activation)
    sequences = [ahead, back[::-1]]
    if merge:
        sequences = [numpy.concatenate(sequences, axis=2)]
    results = *(time_first(one, bool(major)) for one in sequences), ahead[-1], back[-1]
    return tuple(store(result, output) for result, output in zip(results, outputs, strict=False))
