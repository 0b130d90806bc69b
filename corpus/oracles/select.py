"""SELECT: in1 where the condition is true, else in2; no broadcasting. What is quantised otherwise is requantised."""

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present, stored


def select(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: condition, two tensors of its shape. Every byte of the condition but 0 is true."""
    condition, one, other = map(present, inputs)
    chosen = [(one if truth else other).reals[index] for index, truth in enumerate(condition.raw)]
    return [Result(condition.dimensions, [stored(value, outputs[0]) for value in chosen])]
