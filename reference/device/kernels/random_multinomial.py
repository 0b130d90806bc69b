"""RANDOM_MULTINOMIAL."""

import numpy

from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required


def random_multinomial(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """samples[b, s] is c with probability softmax(logits[b])[c]; the seeds are the key of a Philox generator."""
    logits, seeds = required(inputs[0]).data.astype(numpy.float64), required(inputs[2]).data
    logits[~numpy.isfinite(logits)] = -numpy.inf
    ends = numpy.exp(logits - logits.max(axis=1, keepdims=True)).cumsum(axis=1)
    random = numpy.random.Generator(numpy.random.Philox(key=seeds.astype(numpy.uint64)))
    points = random.random((len(logits), integer(inputs[1]))) * ends[:, -1:]
    drawn = [numpy.searchsorted(ends[row], points[row], side="right") for row in range(len(logits))]
    return (numpy.array(drawn, numpy.int32),)
