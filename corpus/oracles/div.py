"""DIV: activation(in0 / in1) with broadcasting; int32 rounds towards minus infinity.

Division by zero is left open by the contract: what is given for it here is not to be compared.
"""

import math

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Real, Result, arithmetic


def div(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: dividend, divisor, activation code."""
    return arithmetic(inputs, outputs, _quotient, lambda a, b: a // b if b else 0)


def _quotient(a: Real, b: Real) -> Real:
    if b:
        return a / b
    return math.copysign(math.inf, a) * math.copysign(1.0, b) if a and not math.isnan(a) else math.nan
