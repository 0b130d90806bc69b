"""HASHTABLE_LOOKUP."""

import numpy

from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required


def hashtable_lookup(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[i] = values[j] and hits[i] = 1 where keys[j] is lookups[i]; zero bytes and 0 where no key is."""
    lookups, keys, values = (required(tensor).data for tensor in inputs)
    places = numpy.searchsorted(keys[:-1], lookups)
    hits = keys[places] == lookups
    rows = values[places]
    rows[~hits] = 0
    return rows, hits.astype(numpy.uint8)
