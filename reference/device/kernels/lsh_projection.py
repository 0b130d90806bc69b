"""LSH_PROJECTION."""

import numpy

from npu_conformance.reference.device.farmhash import fingerprints
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required

DENSE, SPARSE = 2, 3


def lsh_projection(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """bit[i, j] = (sum over rows r of weight[r] * fingerprint(hash[i, j] ++ bytes of row r)) > 0; sparse: packed."""
    seeds, source = required(inputs[0]).data.astype("<f4"), required(inputs[1]).data
    rows = numpy.ascontiguousarray(source).view(numpy.uint8).reshape(len(source), source[0].nbytes)
    weights = numpy.ones(len(rows)) if inputs[2] is None else inputs[2].data.astype(numpy.float64)
    scores = [weights @ fingerprints(_keys(seed, rows)).view(numpy.int64) for seed in seeds.ravel()]
    bits = (numpy.array(scores) > 0).reshape(seeds.shape).astype(numpy.int64)
    kind, (hashes, width) = integer(inputs[3]), seeds.shape
    if kind == DENSE:
        return (bits.ravel().astype(numpy.int32),)
    packed = bits @ (1 << numpy.arange(width)[::-1])
    if kind == SPARSE:
        packed += numpy.arange(hashes) << width
    return (packed.astype(numpy.int32),)


def _keys(seed: numpy.float32, rows: Array) -> Array:
    """The bytes of a seed in front of each row."""
    front = numpy.frombuffer(seed.tobytes(), numpy.uint8)
    return numpy.hstack([numpy.broadcast_to(front, (len(rows), len(front))), rows])
