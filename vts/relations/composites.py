"""Composite operations against the same formula written with simpler ones.

Roundings: one for each operation on the way to either result, times the amplification by those behind it; the largest
intermediate value is the magnitude.
"""

from __future__ import annotations

from npu_conformance.harness.judge import checks
from npu_conformance.vts.lib.relations.declare import Check, RelationGroup
from npu_conformance.vts.lib.relations.fixture import RelationFixture
from npu_conformance.vts.lib.relations.nets import BYTES, FLOAT32, FLOATS, INT32, MOVED, SIGNED, UNSIGNED, like

cases = RelationGroup()
_SHAPE = (2, 23, 17, 9)
_LIMITS: dict[str, tuple[float, float | None]] = {"RELU": (0.0, None), "RELU1": (-1.0, 1.0), "RELU6": (0.0, 6.0)}
_OFF_STEP, _MOST_STEPS = 0.01, 1.51
"""How far from a whole step float32 may be, and from the exact value what is rounded, and may be a step off."""

_ACTIVATIONS = {"RELU": 1, "RELU1": 2, "RELU6": 3}


def _limited(operation: str) -> Check:
    low, high = _LIMITS[operation]

    def check(fixture: RelationFixture) -> None:
        """An activation is a maximum and a minimum."""
        net = fixture.net()
        name = net.input(fixture.tensor(*_SHAPE, low=-8.0, high=8.0))
        limited = net.apply("MAXIMUM", name, fixture.full(low, 1))
        if high is not None:
            limited = net.apply("MINIMUM", limited, fixture.full(high, 1))
        fixture.agree(f"{operation} and its limits", fixture.run(net, net.apply(operation, name), limited), roundings=3)

    return check


def _fused(operation: str) -> Check:
    def check(fixture: RelationFixture) -> None:
        """An activation inside of ADD, SUB or MUL is the activation behind it."""
        for arithmetic in ("ADD", "SUB", "MUL"):
            net, result = fixture.net(), like(fixture.operand_type, 1 / 8 if fixture.operand_type in BYTES else None)
            a, b = net.input(fixture.tensor(*_SHAPE)), net.input(fixture.tensor(*_SHAPE[1:]))
            inside = net.apply(arithmetic, a, b, _ACTIVATIONS[operation], result=result)
            behind = net.apply(operation, net.apply(arithmetic, a, b, 0, result=result))
            fixture.agree(
                f"{arithmetic} with {operation} inside and behind",
                fixture.run(net, inside, behind),
                roundings=3,
                magnitude=4,
            )

    return check


for _name in _LIMITS:
    _with = "MAXIMUM" if _name == "RELU" else "MAXIMUM MINIMUM"
    cases.relation("maximum_and_minimum", f"{_name} {_with}", MOVED)(_limited(_name))
    cases.relation("fused", f"{_name} ADD SUB MUL", MOVED)(_fused(_name))


@cases.relation("expanded", "HARD_SWISH ADD RELU6 MUL", FLOATS)
def hard_swish(fixture: RelationFixture) -> None:
    """x * RELU6(x + 3) / 6: an error of the factor counts 8/6 times, of the product once."""
    net = fixture.net()
    name = net.input(fixture.tensor(*_SHAPE, low=-8.0, high=8.0))
    gate = net.apply("MUL", net.apply("ADD", name, fixture.full(3.0, 1), 3), fixture.full(1 / 6, 1), 0)
    expanded = net.apply("MUL", name, gate, 0)
    # The constant 1/6 is rounded too, which half a rounding more pays for.
    fixture.agree("HARD_SWISH", fixture.run(net, net.apply("HARD_SWISH", name), expanded), roundings=14, magnitude=2)


@cases.relation("expanded", "PRELU MAXIMUM MINIMUM MUL ADD", FLOATS)
def prelu(fixture: RelationFixture) -> None:
    """MAXIMUM(x, 0) + alpha * MINIMUM(x, 0)."""
    net, zero = fixture.net(), fixture.full(0.0, 1)
    name, alpha = net.input(fixture.tensor(*_SHAPE)), net.input(fixture.tensor(17, 9))
    negative = net.apply("MUL", net.apply("MINIMUM", name, zero), alpha, 0)
    expanded = net.apply("ADD", net.apply("MAXIMUM", name, zero), negative, 0)
    fixture.agree("PRELU", fixture.run(net, net.apply("PRELU", name, alpha), expanded), roundings=6, magnitude=4)


@cases.relation("slope_1", "PRELU", BYTES)
def prelu_of_slope_1(fixture: RelationFixture) -> None:
    """With a slope of 1 nothing changes."""
    given, net = fixture.tensor(*_SHAPE), fixture.net()
    fixture.agree(
        "PRELU",
        [*fixture.run(net, net.apply("PRELU", net.input(given), fixture.full(1.0, 9))), given.array],
        roundings=1,
    )


@cases.relation("expanded", "ELU EXP MAXIMUM MINIMUM", FLOATS)
def elu(fixture: RelationFixture) -> None:
    """MAXIMUM(x, 0) + alpha * (EXP(MINIMUM(x, 0)) - 1) with alpha 1.5."""
    net, zero = fixture.net(), fixture.full(0.0, 1)
    name = net.input(fixture.tensor(*_SHAPE))
    grown = net.apply("SUB", net.apply("EXP", net.apply("MINIMUM", name, zero)), fixture.full(1.0, 1), 0)
    negative = net.apply("MUL", grown, fixture.full(1.5, 1), 0)
    expanded = net.apply("ADD", net.apply("MAXIMUM", name, zero), negative, 0)
    fixture.agree("ELU", fixture.run(net, net.apply("ELU", name, 1.5), expanded), roundings=9, magnitude=2)


@cases.relation("expanded", "LOGISTIC EXP NEG ADD DIV", FLOATS)
def logistic(fixture: RelationFixture) -> None:
    """1 / (1 + EXP(-x)): the quotient makes no error larger."""
    net, one = fixture.net(), fixture.full(1.0, 1)
    name = net.input(fixture.tensor(*_SHAPE))
    grown = net.apply("ADD", net.apply("EXP", net.apply("NEG", name)), one, 0)
    expanded = net.apply("DIV", one, grown, 0)
    # An error of NEG counts up to EXP(2) = 7.4 times, divided by the square of the sum again.
    fixture.agree("LOGISTIC", fixture.run(net, net.apply("LOGISTIC", name), expanded), roundings=5, magnitude=8.4)


@cases.relation("by_logistic", "TANH LOGISTIC MUL SUB", FLOATS)
def tanh(fixture: RelationFixture) -> None:
    """2 * LOGISTIC(2 * x) - 1."""
    net, two = fixture.net(), fixture.full(2.0, 1)
    name = net.input(fixture.tensor(*_SHAPE))
    doubled = net.apply("MUL", net.apply("LOGISTIC", net.apply("MUL", name, two, 0)), two, 0)
    expanded = net.apply("SUB", doubled, fixture.full(1.0, 1), 0)
    fixture.agree("TANH", fixture.run(net, net.apply("TANH", name), expanded), roundings=6, magnitude=4)


@cases.relation("exponential", "SOFTMAX LOG_SOFTMAX EXP", FLOATS)
def softmax_by_log_softmax(fixture: RelationFixture) -> None:
    """EXP(LOG_SOFTMAX(x)): below 1 the exponential makes no error larger; logarithms reach -11."""
    for axis in (-1, 1):
        net = fixture.net()
        name = net.input(fixture.tensor(3, 37, 1001 if axis == -1 else 11))
        expanded = net.apply("EXP", net.apply("LOG_SOFTMAX", name, 1.0, axis))
        both = fixture.run(net, net.apply("SOFTMAX", name, 1.0, axis), expanded)
        fixture.agree("SOFTMAX", both, roundings=3, magnitude=11)


@cases.relation("expanded", "SOFTMAX EXP REDUCE_SUM DIV", FLOATS)
def softmax(fixture: RelationFixture) -> None:
    """EXP(x) / REDUCE_SUM(EXP(x)) over few elements."""
    net = fixture.net()
    name = net.input(fixture.tensor(37, 11))
    grown = net.apply("EXP", name)
    expanded = net.apply("DIV", grown, net.apply("REDUCE_SUM", grown, (1,), True), 0)
    # Terms reach 7.4 and sums 81; relative errors of eleven terms, of their sum and of the quotient add up.
    fixture.agree("SOFTMAX", fixture.run(net, net.apply("SOFTMAX", name, 1.0), expanded), roundings=16, magnitude=1)


@cases.relation("sum_of_1", "SOFTMAX", BYTES)
def softmax_sums(fixture: RelationFixture) -> None:
    """The results of a softmax add up to 1, give or take a step of 1/256 for each of them."""
    import numpy

    net = fixture.net()
    result = like(fixture.operand_type, 1 / 256, -128 if fixture.operand_type is SIGNED else 0)
    (found,) = fixture.run(net, net.apply("SOFTMAX", net.input(fixture.tensor(37, 11)), 0.25, result=result))
    total = (found.astype(numpy.float64) - result.zero_point).sum(1) / 256
    one = numpy.ones(37, numpy.float32)
    fixture.agree(
        "sum of shares", [total.astype(numpy.float32) * 256, one * 256], roundings=11 * 1.5, operand_type=UNSIGNED
    )


@cases.relation("expanded", "L2_NORMALIZATION MUL REDUCE_SUM RSQRT", FLOATS)
def l2_normalization(fixture: RelationFixture) -> None:
    """x * RSQRT(REDUCE_SUM(x * x)) over few elements that are not small."""
    net = fixture.net()
    name = net.input(fixture.tensor(37, 11, low=0.5, high=2.0))
    squares = net.apply("REDUCE_SUM", net.apply("MUL", name, name, 0), (1,), True)
    expanded = net.apply("MUL", name, net.apply("RSQRT", squares), 0)
    # Relative errors of a square, of eleven terms (a half each, by the root), of the root and of the product add up.
    fixture.agree(
        "L2_NORMALIZATION", fixture.run(net, net.apply("L2_NORMALIZATION", name), expanded), roundings=12, magnitude=1
    )


@cases.relation("expanded", "L2_POOL_2D MUL AVERAGE_POOL_2D SQRT", FLOATS)
def l2_pool(fixture: RelationFixture) -> None:
    """The root of the average of squares, which are at least 1/4."""
    net = fixture.net()
    name = net.input(fixture.tensor(2, 23, 17, 9, low=0.5, high=2.0))
    window = (2, 2, 1, 3, 2, 0)
    averaged = net.apply("AVERAGE_POOL_2D", net.apply("MUL", name, name, 0), *window)
    expanded = net.apply("SQRT", averaged)
    fixture.agree(
        "L2_POOL_2D", fixture.run(net, net.apply("L2_POOL_2D", name, *window), expanded), roundings=4, magnitude=4
    )


@cases.relation("expanded", "INSTANCE_NORMALIZATION MEAN SUB MUL RSQRT ADD", FLOATS)
def instance_normalization(fixture: RelationFixture) -> None:
    """(x - mean) * RSQRT(variance + epsilon) * gamma + beta, with epsilon 1 so that nothing is amplified."""
    net = fixture.net()
    name = net.input(fixture.tensor(2, 23, 17, 9))
    centred = net.apply("SUB", name, net.apply("MEAN", name, (1, 2), 1), 0)
    variance = net.apply("MEAN", net.apply("MUL", centred, centred, 0), (1, 2), 1)
    scaled = net.apply("MUL", centred, net.apply("RSQRT", net.apply("ADD", variance, fixture.full(1.0, 1), 0)), 0)
    expanded = net.apply("ADD", net.apply("MUL", scaled, fixture.full(1.5, 1), 0), fixture.full(0.5, 1), 0)
    both = fixture.run(net, net.apply("INSTANCE_NORMALIZATION", name, 1.5, 0.5, 1.0, False), expanded)
    fixture.agree("INSTANCE_NORMALIZATION", both, roundings=16, magnitude=4)


@cases.relation("identity", "LOCAL_RESPONSE_NORMALIZATION", FLOATS)
def no_response(fixture: RelationFixture) -> None:
    """With alpha 0 and bias 1 the divisor is 1."""
    given, net = fixture.tensor(2, 11, 7, 19), fixture.net()
    name = net.apply("LOCAL_RESPONSE_NORMALIZATION", net.input(given), 2, 1.0, 0.0, 0.5)
    fixture.agree("LOCAL_RESPONSE_NORMALIZATION", [*fixture.run(net, name), given.array], roundings=1)


@cases.relation("expanded", "LOCAL_RESPONSE_NORMALIZATION MUL REDUCE_SUM RSQRT", FLOATS)
def local_response(fixture: RelationFixture) -> None:
    """With a radius over all channels and beta 1/2: x * RSQRT(bias + alpha * sum of squares)."""
    net = fixture.net()
    name = net.input(fixture.tensor(2, 11, 7, 9))
    squares = net.apply("REDUCE_SUM", net.apply("MUL", name, name, 0), (3,), True)
    divisor = net.apply("ADD", net.apply("MUL", squares, fixture.full(0.25, 1), 0), fixture.full(1.0, 1), 0)
    expanded = net.apply("MUL", name, net.apply("RSQRT", divisor), 0)
    response = net.apply("LOCAL_RESPONSE_NORMALIZATION", name, 9, 1.0, 0.25, 0.5)
    fixture.agree("LOCAL_RESPONSE_NORMALIZATION", fixture.run(net, response, expanded), roundings=12, magnitude=4)


@cases.relation("over_the_image", "MAX_POOL_2D REDUCE_MAX", MOVED)
def global_maximum(fixture: RelationFixture) -> None:
    """The maximum of a window over the whole image is the maximum of the image."""
    net = fixture.net()
    name = net.input(fixture.tensor(2, 23, 17, 9))
    both = net.apply("MAX_POOL_2D", name, 2, 1, 1, 17, 23, 0), net.apply("REDUCE_MAX", name, (1, 2), True)
    fixture.agree("greatest of the image", fixture.run(net, *both), roundings=2)


@cases.relation("over_the_image", "AVERAGE_POOL_2D MEAN", MOVED)
def global_average(fixture: RelationFixture) -> None:
    """The average of a window over the whole image is its mean."""
    net = fixture.net()
    name = net.input(fixture.steps(2, 7, 9, 19))
    both = net.apply("AVERAGE_POOL_2D", name, 2, 1, 1, 9, 7, 0), net.apply("MEAN", name, (1, 2), 1)
    fixture.agree("average of the image", fixture.run(net, *both), roundings=2)


@cases.relation("mean_times_count", "REDUCE_SUM MEAN MUL", FLOATS)
def sum_by_mean(fixture: RelationFixture) -> None:
    """A sum is the mean times the number of elements: 35 times the error of the mean."""
    net = fixture.net()
    name = net.input(fixture.steps(3, 5, 7, 23))
    by_mean = net.apply("MUL", net.apply("MEAN", name, (1, 2), 0), fixture.full(35.0, 1), 0)
    fixture.agree(
        "sum", fixture.run(net, net.apply("REDUCE_SUM", name, (1, 2), False), by_mean), roundings=37, magnitude=2
    )


@cases.relation("of_parts", "REDUCE_PROD SPLIT MUL", FLOATS)
def product_of_parts(fixture: RelationFixture) -> None:
    """A product along an axis of two is that of the two halves."""
    net = fixture.net()
    name = net.input(fixture.tensor(23, 2, 19))
    first, second = net.results("SPLIT", [name, 1, 2], [like(fixture.operand_type)] * 2)
    both = net.apply("REDUCE_PROD", name, (1,), True), net.apply("MUL", first, second, 0)
    fixture.agree("product", fixture.run(net, *both), roundings=6, magnitude=4)


@cases.relation("of_quantized", "DEQUANTIZE QUANTIZE", (FLOAT32,))
def quantized_and_back(fixture: RelationFixture) -> None:
    """What was quantised on the way is whole steps of the scale, within the type, and at most one and a half away."""
    import numpy

    given, net, step = fixture.tensor(*_SHAPE, low=-20.0, high=20.0), fixture.net(), like(UNSIGNED)
    stored = net.apply("QUANTIZE", net.input(given), result=step)
    (found,) = fixture.run(net, net.apply("DEQUANTIZE", stored, result=like(fixture.operand_type)))
    steps = found.astype("float64") / step.scale + step.zero_point
    off = abs(steps - numpy.rint(steps)).max()
    checks.that(bool(off < _OFF_STEP), f"DEQUANTIZE of QUANTIZE: expected whole steps of {step.scale}, found {off} off")
    wanted = numpy.clip(given.array.astype("float64") / step.scale + step.zero_point, 0, 255)
    far = abs(steps - wanted).max()
    checks.that(bool(far <= _MOST_STEPS), f"DEQUANTIZE of QUANTIZE: expected at most 1.5 steps off, found {far}")


@cases.relation("there_and_back", "CAST", (FLOAT32,))
def cast_to_integers(fixture: RelationFixture) -> None:
    """What was an integer on the way has no fraction, and is less than one away from what it was."""
    import numpy

    given, net = fixture.tensor(*_SHAPE, low=-90.0, high=90.0), fixture.net()
    whole = net.apply("CAST", net.input(given), result=like(INT32))
    (found,) = fixture.run(net, net.apply("CAST", whole, result=like(fixture.operand_type)))
    off = abs(found - numpy.rint(found)).max()
    checks.that(bool(off < _OFF_STEP), f"CAST to TENSOR_INT32 and back: expected whole numbers, found {off} off")
    checks.that(bool((abs(found - given.array) < 2).all()), "CAST to TENSOR_INT32 and back: expected less than 2 apart")
