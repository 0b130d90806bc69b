"""PRELU: x where x >= 0, else alpha * x, both broadcast; quantised operands have parameters of their own."""

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, elementwise, present, stored


def prelu(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: x, alpha."""
    x, alpha = present(inputs[0]), present(inputs[1])
    return elementwise(x, alpha, lambda value, slope: stored(value if value >= 0 else slope * value, outputs[0]))
