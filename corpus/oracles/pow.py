"""POW: base to the power of exponent, both broadcast, as the pow of C."""

import math

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Real, Result, elementwise, present, stored


def pow(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: base, exponent."""
    base, exponent = present(inputs[0]), present(inputs[1])
    return elementwise(base, exponent, lambda a, b: stored(_power(a, b), outputs[0]))


def _power(base: Real, exponent: Real) -> float:
    """Python raises where C gives infinity (too large, or 0 to a negative power) or NaN (a root of a negative one)."""
    is_odd = exponent % 2 == 1
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and is_odd else math.inf
    except ValueError:
        if base == 0:
            return math.copysign(math.inf, base) if is_odd else math.inf
        return math.nan
