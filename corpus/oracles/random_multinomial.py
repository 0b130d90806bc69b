"""RANDOM_MULTINOMIAL: one draw of the many that fit: class by class, as often as its share says.

Sample s of n is the class in whose part of the interval from 0 to 1 the point (s + 1/2) / n lies.
"""

import itertools
import math

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present


def random_multinomial(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: logits [rows, classes], number of samples, seeds (which say nothing here)."""
    logits, count, _ = map(present, inputs)
    draws = int(count.scalar)
    rows, classes = logits.dimensions
    samples: list[int] = []
    for row in range(rows):
        ends = list(itertools.accumulate(_powers([float(logits.at(row, place)) for place in range(classes)])))
        place = 0
        for draw in range(draws):
            while ends[place] * draws <= (draw + 0.5) * ends[-1]:
                place += 1
            samples.append(place)
    return [Result((rows, draws), samples)]


def _powers(row: list[float]) -> list[float]:
    """Numbers in proportion to the probabilities of a row of logits; 0 for a logit that is not finite."""
    largest = max(value for value in row if math.isfinite(value))
    return [math.exp(value - largest) if math.isfinite(value) else 0.0 for value in row]
