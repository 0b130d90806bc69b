"""Composite operations against the same formula written with simpler ones.

Roundings: one for each operation on the way to either result, times the amplification by those behind it; the largest
intermediate value is the magnitude.
"""

from __future__ import annotations

import numpy

from npu_conformance.vts.lib.relations.declare import Check, RelationGroup
from npu_conformance.vts.lib.relations.fixture import Lab
from npu_conformance.vts.lib.relations.nets import BYTES, FLOATS, MOVED, SIGNED, UNSIGNED, like

cases = RelationGroup()
_SHAPE = (2, 23, 17, 9)
_LIMITS: dict[str, tuple[float, float | None]] = {"RELU": (0.0, None), "RELU1": (-1.0, 1.0), "RELU6": (0.0, 6.0)}
_ACTIVATIONS = {"RELU": 1, "RELU1": 2, "RELU6": 3}


def _limited(operation: str) -> Check:
    low, high = _LIMITS[operation]

    def check(lab: Lab) -> None:
        """An activation is a maximum and a minimum."""
        net = lab.net()
        name = net.input(lab.tensor(*_SHAPE, low=-8.0, high=8.0))
        limited = net.apply("MAXIMUM", name, lab.full(low, 1))
        if high is not None:
            limited = net.apply("MINIMUM", limited, lab.full(high, 1))
        lab.agree(f"{operation} and its limits", lab.run(net, net.apply(operation, name), limited), roundings=3)

    return check


def _fused(operation: str) -> Check:
    def check(lab: Lab) -> None:
        """An activation inside of ADD, SUB or MUL is the activation behind it."""
        for arithmetic in ("ADD", "SUB", "MUL"):
            net, result = lab.net(), like(lab.kind, 1 / 8 if lab.kind in BYTES else None)
            a, b = net.input(lab.tensor(*_SHAPE)), net.input(lab.tensor(*_SHAPE[1:]))
            inside = net.apply(arithmetic, a, b, _ACTIVATIONS[operation], result=result)
            behind = net.apply(operation, net.apply(arithmetic, a, b, 0, result=result))
            lab.agree(
                f"{arithmetic} with {operation} inside and behind",
                lab.run(net, inside, behind),
                roundings=3,
                magnitude=4,
            )

    return check


for _name in _LIMITS:
    _with = "MAXIMUM" if _name == "RELU" else "MAXIMUM MINIMUM"
    cases.relation("maximum_and_minimum", f"{_name} {_with}", MOVED)(_limited(_name))
    cases.relation("fused", f"{_name} ADD SUB MUL", MOVED)(_fused(_name))


@cases.relation("expanded", "HARD_SWISH ADD RELU6 MUL", FLOATS)
def hard_swish(lab: Lab) -> None:
    """x * RELU6(x + 3) / 6: an error of the factor counts 8/6 times, of the product once."""
    net = lab.net()
    name = net.input(lab.tensor(*_SHAPE, low=-8.0, high=8.0))
    gate = net.apply("MUL", net.apply("ADD", name, lab.full(3.0, 1), 3), lab.full(1 / 6, 1), 0)
    expanded = net.apply("MUL", name, gate, 0)
    # The constant 1/6 is rounded too, which half a rounding more pays for.
    lab.agree("HARD_SWISH", lab.run(net, net.apply("HARD_SWISH", name), expanded), roundings=14, magnitude=2)


@cases.relation("expanded", "PRELU MAXIMUM MINIMUM MUL ADD", FLOATS)
def prelu(lab: Lab) -> None:
    """MAXIMUM(x, 0) + alpha * MINIMUM(x, 0)."""
    net, zero = lab.net(), lab.full(0.0, 1)
    name, alpha = net.input(lab.tensor(*_SHAPE)), net.input(lab.tensor(17, 9))
    negative = net.apply("MUL", net.apply("MINIMUM", name, zero), alpha, 0)
    expanded = net.apply("ADD", net.apply("MAXIMUM", name, zero), negative, 0)
    lab.agree("PRELU", lab.run(net, net.apply("PRELU", name, alpha), expanded), roundings=6, magnitude=4)


@cases.relation("slope_1", "PRELU", BYTES)
def prelu_of_slope_1(lab: Lab) -> None:
    """With a slope of 1 nothing changes."""
    given, net = lab.tensor(*_SHAPE), lab.net()
    lab.agree(
        "PRELU", [*lab.run(net, net.apply("PRELU", net.input(given), lab.full(1.0, 9))), given.array], roundings=1
    )


@cases.relation("expanded", "ELU EXP MAXIMUM MINIMUM", FLOATS)
def elu(lab: Lab) -> None:
    """MAXIMUM(x, 0) + alpha * (EXP(MINIMUM(x, 0)) - 1) with alpha 1.5."""
    net, zero = lab.net(), lab.full(0.0, 1)
    name = net.input(lab.tensor(*_SHAPE))
    grown = net.apply("SUB", net.apply("EXP", net.apply("MINIMUM", name, zero)), lab.full(1.0, 1), 0)
    negative = net.apply("MUL", grown, lab.full(1.5, 1), 0)
    expanded = net.apply("ADD", net.apply("MAXIMUM", name, zero), negative, 0)
    lab.agree("ELU", lab.run(net, net.apply("ELU", name, 1.5), expanded), roundings=9, magnitude=2)


@cases.relation("expanded", "LOGISTIC EXP NEG ADD DIV", FLOATS)
def logistic(lab: Lab) -> None:
    """1 / (1 + EXP(-x)): the quotient makes no error larger."""
    net, one = lab.net(), lab.full(1.0, 1)
    name = net.input(lab.tensor(*_SHAPE))
    grown = net.apply("ADD", net.apply("EXP", net.apply("NEG", name)), one, 0)
    expanded = net.apply("DIV", one, grown, 0)
    # An error of NEG counts up to EXP(2) = 7.4 times, divided by the square of the sum again.
    lab.agree("LOGISTIC", lab.run(net, net.apply("LOGISTIC", name), expanded), roundings=5, magnitude=8.4)


@cases.relation("by_logistic", "TANH LOGISTIC MUL SUB", FLOATS)
def tanh(lab: Lab) -> None:
    """2 * LOGISTIC(2 * x) - 1."""
    net, two = lab.net(), lab.full(2.0, 1)
    name = net.input(lab.tensor(*_SHAPE))
    doubled = net.apply("MUL", net.apply("LOGISTIC", net.apply("MUL", name, two, 0)), two, 0)
    expanded = net.apply("SUB", doubled, lab.full(1.0, 1), 0)
    lab.agree("TANH", lab.run(net, net.apply("TANH", name), expanded), roundings=6, magnitude=4)


@cases.relation("exponential", "SOFTMAX LOG_SOFTMAX EXP", FLOATS)
def softmax_by_log_softmax(lab: Lab) -> None:
    """EXP(LOG_SOFTMAX(x)): below 1 the exponential makes no error larger; logarithms reach -11."""
    for axis in (-1, 1):
        net = lab.net()
        name = net.input(lab.tensor(3, 37, 1001 if axis == -1 else 11))
        expanded = net.apply("EXP", net.apply("LOG_SOFTMAX", name, 1.0, axis))
        both = lab.run(net, net.apply("SOFTMAX", name, 1.0, axis), expanded)
        lab.agree("SOFTMAX", both, roundings=3, magnitude=11)


@cases.relation("expanded", "SOFTMAX EXP REDUCE_SUM DIV", FLOATS)
def softmax(lab: Lab) -> None:
    """EXP(x) / REDUCE_SUM(EXP(x)) over few elements."""
    net = lab.net()
    name = net.input(lab.tensor(37, 11))
    grown = net.apply("EXP", name)
    expanded = net.apply("DIV", grown, net.apply("REDUCE_SUM", grown, (1,), True), 0)
    # Terms reach 7.4 and sums 81; relative errors of eleven terms, of their sum and of the quotient add up.
    lab.agree("SOFTMAX", lab.run(net, net.apply("SOFTMAX", name, 1.0), expanded), roundings=16, magnitude=1)


@cases.relation("sum_of_1", "SOFTMAX", BYTES)
def softmax_sums(lab: Lab) -> None:
    """Shares add up to 1, give or take a step of 1/256 for each of them."""
    net = lab.net()
    result = like(lab.kind, 1 / 256, -128 if lab.kind is SIGNED else 0)
    (found,) = lab.run(net, net.apply("SOFTMAX", net.input(lab.tensor(37, 11)), 0.25, result=result))
    total = (found.astype(numpy.float64) - result.zero_point).sum(1) / 256
    one = numpy.ones(37, numpy.float32)
    lab.agree("sum of shares", [total.astype(numpy.float32) * 256, one * 256], roundings=11 * 1.5, kind=UNSIGNED)


@cases.relation("expanded", "L2_NORMALIZATION MUL REDUCE_SUM RSQRT", FLOATS)
def l2_normalization(lab: Lab) -> None:
    """x * RSQRT(REDUCE_SUM(x * x)) over few elements that are not small."""
    net = lab.net()
    name = net.input(lab.tensor(37, 11, low=0.5, high=2.0))
    squares = net.apply("REDUCE_SUM", net.apply("MUL", name, name, 0), (1,), True)
    expanded = net.apply("MUL", name, net.apply("RSQRT", squares), 0)
    # Relative errors of a square, of eleven terms (a half each, by the root), of the root and of the product add up.
    lab.agree(
        "L2_NORMALIZATION", lab.run(net, net.apply("L2_NORMALIZATION", name), expanded), roundings=12, magnitude=1
    )


@cases.relation("expanded", "L2_POOL_2D MUL AVERAGE_POOL_2D SQRT", FLOATS)
def l2_pool(lab: Lab) -> None:
    """The root of the average of squares, which are at least 1/4."""
    net = lab.net()
    name = net.input(lab.tensor(2, 23, 17, 9, low=0.5, high=2.0))
    window = (2, 2, 1, 3, 2, 0)
    averaged = net.apply("AVERAGE_POOL_2D", net.apply("MUL", name, name, 0), *window)
    expanded = net.apply("SQRT", averaged)
    lab.agree("L2_POOL_2D", lab.run(net, net.apply("L2_POOL_2D", name, *window), expanded), roundings=4, magnitude=4)


@cases.relation("expanded", "INSTANCE_NORMALIZATION MEAN SUB MUL RSQRT ADD", FLOATS)
def instance_normalization(lab: Lab) -> None:
    """(x - mean) * RSQRT(variance + epsilon) * gamma + beta, with epsilon 1 so that nothing is amplified."""
    net = lab.net()
    name = net.input(lab.tensor(2, 23, 17, 9))
    centred = net.apply("SUB", name, net.apply("MEAN", name, (1, 2), 1), 0)
    variance = net.apply("MEAN", net.apply("MUL", centred, centred, 0), (1, 2), 1)
    scaled = net.apply("MUL", centred, net.apply("RSQRT", net.apply("ADD", variance, lab.full(1.0, 1), 0)), 0)
    expanded = net.apply("ADD", net.apply("MUL", scaled, lab.full(1.5, 1), 0), lab.full(0.5, 1), 0)
    both = lab.run(net, net.apply("INSTANCE_NORMALIZATION", name, 1.5, 0.5, 1.0, False), expanded)
    lab.agree("INSTANCE_NORMALIZATION", both, roundings=16, magnitude=4)


@cases.relation("identity", "LOCAL_RESPONSE_NORMALIZATION", FLOATS)
def no_response(lab: Lab) -> None:
    """With alpha 0 and bias 1 the divisor is 1."""
    given, net = lab.tensor(2, 11, 7, 19), lab.net()
    name = net.apply("LOCAL_RESPONSE_NORMALIZATION", net.input(given), 2, 1.0, 0.0, 0.5)
    lab.agree("LOCAL_RESPONSE_NORMALIZATION", [*lab.run(net, name), given.array], roundings=1)


@cases.relation("expanded", "LOCAL_RESPONSE_NORMALIZATION MUL REDUCE_SUM RSQRT", FLOATS)
def local_response(lab: Lab) -> None:
    """With a radius over all channels and beta 1/2: x * RSQRT(bias + alpha * sum of squares)."""
    net = lab.net()
    name = net.input(lab.tensor(2, 11, 7, 9))
    squares = net.apply("REDUCE_SUM", net.apply("MUL", name, name, 0), (3,), True)
    divisor = net.apply("ADD", net.apply("MUL", squares, lab.full(0.25, 1), 0), lab.full(1.0, 1), 0)
    expanded = net.apply("MUL", name, net.apply("RSQRT", divisor), 0)
    response = net.apply("LOCAL_RESPONSE_NORMALIZATION", name, 9, 1.0, 0.25, 0.5)
    lab.agree("LOCAL_RESPONSE_NORMALIZATION", lab.run(net, response, expanded), roundings=12, magnitude=4)


@cases.relation("over_the_image", "MAX_POOL_2D REDUCE_MAX", MOVED)
def global_maximum(lab: Lab) -> None:
    """The greatest of a window over the whole image is the greatest of the image."""
    net = lab.net()
    name = net.input(lab.tensor(2, 23, 17, 9))
    both = net.apply("MAX_POOL_2D", name, 2, 1, 1, 17, 23, 0), net.apply("REDUCE_MAX", name, (1, 2), True)
    lab.agree("greatest of the image", lab.run(net, *both), roundings=2)


@cases.relation("over_the_image", "AVERAGE_POOL_2D MEAN", MOVED)
def global_average(lab: Lab) -> None:
    """The average of a window over the whole image is its mean."""
    net = lab.net()
    name = net.input(lab.steps(2, 7, 9, 19))
    both = net.apply("AVERAGE_POOL_2D", name, 2, 1, 1, 9, 7, 0), net.apply("MEAN", name, (1, 2), 1)
    lab.agree("average of the image", lab.run(net, *both), roundings=2)


@cases.relation("mean_times_count", "REDUCE_SUM MEAN MUL", FLOATS)
def sum_by_mean(lab: Lab) -> None:
    """A sum is the mean times the number of elements: 35 times the error of the mean."""
    net = lab.net()
    name = net.input(lab.steps(3, 5, 7, 23))
    by_mean = net.apply("MUL", net.apply("MEAN", name, (1, 2), 0), lab.full(35.0, 1), 0)
    lab.agree("sum", lab.run(net, net.apply("REDUCE_SUM", name, (1, 2), False), by_mean), roundings=37, magnitude=2)


@cases.relation("of_parts", "REDUCE_PROD SPLIT MUL", FLOATS)
def product_of_parts(lab: Lab) -> None:
    """A product along an axis of two is that of the two halves."""
    net = lab.net()
    name = net.input(lab.tensor(23, 2, 19))
    first, second = net.results("SPLIT", [name, 1, 2], [like(lab.kind)] * 2)
    both = net.apply("REDUCE_PROD", name, (1,), True), net.apply("MUL", first, second, 0)
    lab.agree("product", lab.run(net, *both), roundings=6, magnitude=4)
