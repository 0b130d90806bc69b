"""HASHTABLE_LOOKUP: the row of each key that is found; stored zeros, not the zero point, for others.

Hazard: lookup-misses.
"""

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, count, present


def hashtable_lookup(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: keys to look for, keys of the rows, rows. Results: rows, and 1 for each key found, 0 for others."""
    lookups, keys, values = map(present, inputs)
    row = values.dimensions[1:]
    size = count(row)
    raw: list[int | float] = []
    hits = []
    for lookup in lookups.integers:
        found = [place for place, key in enumerate(keys.integers) if key == lookup]
        hits.append(len(found))
        raw += values.raw[found[0] * size : (found[0] + 1) * size] if found else [0] * size
    return [Result((len(hits), *row), raw), Result((len(hits),), hits)]
