"""Laws of arithmetic, order and logic: what holds for every value, with shapes that broadcast and that do not.

Roundings: one for each operation on the way to either result, times what later operations make of it (at most 1 here
where nothing else is said); quantised results are off by a step for each operation.
"""

from __future__ import annotations

from npu_conformance.harness.judge import checks
from npu_conformance.vts.lib.relations.declare import Check, RelationGroup
from npu_conformance.vts.lib.relations.fixture import Lab
from npu_conformance.vts.lib.relations.nets import BOOL8, BYTES, FLOATS, INT32, MOVED, WITH_INTEGERS, like

cases = RelationGroup()
_SHAPES = (((2, 23, 17, 9), (2, 23, 17, 9)), ((2, 23, 17, 9), (9,)), ((19, 1, 33), (1, 27, 1)))
"""Equal, a vector along the last axis, and both broadcast."""

_ARITHMETIC = ("ADD", "MUL")
_ORDER = ("MAXIMUM", "MINIMUM")
_COMPLEMENTS = {"LESS": "GREATER_EQUAL", "GREATER": "LESS_EQUAL", "EQUAL": "NOT_EQUAL"}
_MIRRORED = {"LESS": "GREATER", "LESS_EQUAL": "GREATER_EQUAL"}
_NUMBERS = (*FLOATS, INT32)
_RESULT_SCALE = 1 / 4
"""Coarse enough for the sums and products of what has the usual scale."""


def _commutes(operation: str) -> Check:
    def check(lab: Lab) -> None:
        """Inputs can be exchanged."""
        result = like(lab.kind, _RESULT_SCALE) if lab.kind in BYTES else like(lab.kind)
        if operation not in (*_ARITHMETIC, *_ORDER):
            result = like(BOOL8)
        more = [0] if operation in _ARITHMETIC else []
        for one, other in _SHAPES:
            net = lab.net()
            a, b = net.input(lab.tensor(*one)), net.input(lab.tensor(*other))
            both = [net.apply(operation, *pair, *more, result=result) for pair in ((a, b), (b, a))]
            lab.agree(f"{operation} of {one} and {other}", lab.run(net, *both), roundings=2, kind=result.type)

    return check


for _operation in (*_ARITHMETIC, *_ORDER):
    _kinds = WITH_INTEGERS
    cases.relation("commutes", _operation, _kinds)(_commutes(_operation))
for _operation in ("EQUAL", "NOT_EQUAL"):
    cases.relation("commutes", _operation, (*WITH_INTEGERS, BOOL8))(_commutes(_operation))
for _operation in ("LOGICAL_AND", "LOGICAL_OR"):
    cases.relation("commutes", _operation, (BOOL8,))(_commutes(_operation))


def _complement(operation: str, opposite: str) -> Check:
    def check(lab: Lab) -> None:
        """One comparison is true where its opposite is false; there is no NaN among the elements."""
        for one, other in _SHAPES:
            net = lab.net()
            a, b = net.input(lab.tensor(*one)), net.input(lab.tensor(*other))
            first = net.apply(operation, a, b, result=like(BOOL8))
            second = net.apply("LOGICAL_NOT", net.apply(opposite, a, b, result=like(BOOL8)))
            lab.agree(f"{operation} and not {opposite}", lab.run(net, first, second), roundings=0, kind=BOOL8)

    return check


for _operation, _opposite in _COMPLEMENTS.items():
    cases.relation("complement", f"{_operation} {_opposite} LOGICAL_NOT", (*WITH_INTEGERS, BOOL8))(
        _complement(_operation, _opposite)
    )


def _mirror(operation: str, mirrored: str) -> Check:
    def check(lab: Lab) -> None:
        """A comparison with the inputs exchanged is its mirror image."""
        for one, other in _SHAPES:
            net = lab.net()
            a, b = net.input(lab.tensor(*one)), net.input(lab.tensor(*other))
            both = [
                net.apply(name, *pair, result=like(BOOL8)) for name, pair in ((operation, (a, b)), (mirrored, (b, a)))
            ]
            lab.agree(f"{operation} and {mirrored}", lab.run(net, *both), roundings=0, kind=BOOL8)

    return check


for _operation, _mirrored in _MIRRORED.items():
    cases.relation("mirrored", f"{_operation} {_mirrored}", (*WITH_INTEGERS, BOOL8))(_mirror(_operation, _mirrored))


@cases.relation("of_itself", "EQUAL LESS", (*WITH_INTEGERS, BOOL8))
def equal_to_itself(lab: Lab) -> None:
    """Everything but a NaN is equal to itself and not less."""
    net = lab.net()
    name = net.input(lab.tensor(2, 23, 17, 9))
    equal, less = (net.apply(operation, name, name, result=like(BOOL8)) for operation in ("EQUAL", "LESS"))
    found = lab.run(net, equal, less)
    checks.that(bool(found[0].all()), "EQUAL of a tensor and itself: expected true everywhere")
    checks.that(not found[1].any(), "LESS of a tensor and itself: expected false everywhere")


@cases.relation("de_morgan", "LOGICAL_AND LOGICAL_OR LOGICAL_NOT", (BOOL8,))
def de_morgan(lab: Lab) -> None:
    """Not both is one of them not."""
    for one, other in _SHAPES:
        net = lab.net()
        a, b = net.input(lab.tensor(*one)), net.input(lab.tensor(*other))
        both = net.apply("LOGICAL_NOT", net.apply("LOGICAL_AND", a, b))
        either = net.apply("LOGICAL_OR", net.apply("LOGICAL_NOT", a), net.apply("LOGICAL_NOT", b))
        lab.agree("not both and one of them not", lab.run(net, both, either), roundings=0)


@cases.relation("twice", "LOGICAL_NOT", (BOOL8,))
def not_twice(lab: Lab) -> None:
    """Not not true is true."""
    given, net = lab.tensor(2, 23, 17, 9), lab.net()
    name = net.apply("LOGICAL_NOT", net.apply("LOGICAL_NOT", net.input(given)))
    lab.agree("not not", [*lab.run(net, name), given.array], roundings=0)


@cases.relation("de_morgan", "REDUCE_ALL REDUCE_ANY LOGICAL_NOT", (BOOL8,))
def all_and_any(lab: Lab) -> None:
    """All are true where not any is false."""
    given, net = lab.tensor(3, 11, 23, 7), lab.net()
    name = net.input(given.of(given.array | (lab.tensor(3, 11, 23, 7).array & lab.tensor(3, 11, 1, 1).array)))
    for axes in ((3,), (1, -1)):
        whole = net.apply("REDUCE_ALL", name, axes, True)
        none = net.apply("LOGICAL_NOT", net.apply("REDUCE_ANY", net.apply("LOGICAL_NOT", name), axes, True))
        lab.agree("all and not any not", lab.run(net, whole, none), roundings=0)


@cases.relation("twice", "NEG", _NUMBERS)
def negated_twice(lab: Lab) -> None:
    """The negative of the negative is the number."""
    given, net = lab.tensor(2, 23, 17, 9), lab.net()
    name = net.apply("NEG", net.apply("NEG", net.input(given)))
    lab.agree("negated twice", [*lab.run(net, name), given.array], roundings=2)


@cases.relation("larger_of_both", "ABS MAXIMUM NEG", _NUMBERS)
def absolute(lab: Lab) -> None:
    """The absolute value is the larger one of the number and its negative."""
    net = lab.net()
    name = net.input(lab.tensor(2, 23, 17, 9))
    larger = net.apply("MAXIMUM", name, net.apply("NEG", name))
    lab.agree("absolute value", lab.run(net, net.apply("ABS", name), larger), roundings=3)


@cases.relation("added_negative", "SUB ADD NEG", _NUMBERS)
def subtracted(lab: Lab) -> None:
    """Subtracting is adding the negative, and the negative of the exchanged difference."""
    for one, other in _SHAPES:
        net = lab.net()
        a, b = net.input(lab.tensor(*one)), net.input(lab.tensor(*other))
        added = net.apply("ADD", a, net.apply("NEG", b), 0)
        exchanged = net.apply("NEG", net.apply("SUB", b, a, 0))
        found = lab.run(net, net.apply("SUB", a, b, 0), added, exchanged)
        lab.agree("difference and sum with the negative", [found[0], found[1]], roundings=3)
        lab.agree("difference and negative of the exchanged one", [found[0], found[2]], roundings=3)


@cases.relation("negated", "MINIMUM MAXIMUM NEG", _NUMBERS)
def smaller(lab: Lab) -> None:
    """The smaller one is the negative of the larger one of the negatives."""
    for one, other in _SHAPES:
        net = lab.net()
        a, b = net.input(lab.tensor(*one)), net.input(lab.tensor(*other))
        larger = net.apply("NEG", net.apply("MAXIMUM", net.apply("NEG", a), net.apply("NEG", b)))
        lab.agree("minimum", lab.run(net, net.apply("MINIMUM", a, b), larger), roundings=4)


@cases.relation("selected", "MAXIMUM GREATER SELECT", WITH_INTEGERS)
def maximum_is_selected(lab: Lab) -> None:
    """The larger one is the first where it is greater, else the second."""
    net = lab.net()
    a, b = net.input(lab.tensor(23, 17, 9)), net.input(lab.tensor(23, 17, 9))
    chosen = net.apply("SELECT", net.apply("GREATER", a, b, result=like(BOOL8)), a, b, result=like(lab.kind))
    lab.agree("larger and selected", lab.run(net, net.apply("MAXIMUM", a, b), chosen), roundings=2)


@cases.relation("of_the_negative", "ARGMAX ARGMIN NEG", _NUMBERS)
def arguments(lab: Lab) -> None:
    """The greatest is where the negative is smallest; all elements along the axis differ."""
    given, net = lab.distinct(3, 5, 131), lab.net()
    name = net.input(given)
    greatest = net.apply("ARGMAX", name, 2, result=like(INT32))
    smallest = net.apply("ARGMIN", net.apply("NEG", name), -1, result=like(INT32))
    one, other = lab.run(net, greatest, smallest)
    checks.that(bool((one == other).all()), f"ARGMAX and ARGMIN of the negative: found {one} and {other}")


@cases.relation("gathers_the_greatest", "ARGMAX", (*WITH_INTEGERS,))
def greatest(lab: Lab) -> None:
    """The element at the place of the greatest is the greatest."""
    given, net = lab.distinct(3, 21, 131), lab.net()
    (places,) = lab.run(net, net.apply("ARGMAX", net.input(given), 2, result=like(INT32)))
    checks.that(bool((given.array.argmax(2) == places).all()), f"ARGMAX: the greatest are not at {places}")


@cases.relation("gathers_the_smallest", "ARGMIN", (*WITH_INTEGERS,))
def smallest(lab: Lab) -> None:
    """The element at the place of the smallest is the smallest."""
    given, net = lab.distinct(3, 21, 67), lab.net()
    (places,) = lab.run(net, net.apply("ARGMIN", net.input(given), -1, result=like(INT32)))
    checks.that(bool((given.array.argmin(2) == places).all()), f"ARGMIN: the smallest are not at {places}")


@cases.relation("negated", "REDUCE_MIN REDUCE_MAX NEG", FLOATS)
def least(lab: Lab) -> None:
    """The least is the negative of the greatest of the negatives."""
    for axes in ((1, 2), (-1,), (0, 1, 2, 3)):
        net = lab.net()
        name = net.input(lab.tensor(2, 23, 17, 9))
        greatest_one = net.apply("NEG", net.apply("REDUCE_MAX", net.apply("NEG", name), axes, False))
        lab.agree("least", lab.run(net, net.apply("REDUCE_MIN", name, axes, False), greatest_one), roundings=4)


@cases.relation("transposed", "REDUCE_MAX TRANSPOSE", MOVED)
def axes_move(lab: Lab) -> None:
    """The greatest along an axis is the greatest along the axis that it becomes by transposing."""
    net = lab.net()
    name = net.input(lab.tensor(2, 23, 17, 9))
    turned = net.apply("REDUCE_MAX", net.apply("TRANSPOSE", name, (0, 3, 1, 2)), (2,), False)
    straight = net.apply("TRANSPOSE", net.apply("REDUCE_MAX", name, (1,), False), (0, 2, 1))
    lab.agree("greatest of transposed", lab.run(net, turned, straight), roundings=4)


@cases.relation("of_a_square", "SQRT MUL ABS", FLOATS)
def root_of_square(lab: Lab) -> None:
    """The root of the square is the absolute value; of values in [0.5, 2) a root does not make an error larger."""
    given, net = lab.tensor(2, 23, 17, 9, low=0.5, high=2.0), lab.net()
    name = net.input(given)
    root = net.apply("SQRT", net.apply("MUL", name, name, 0))
    lab.agree("root of the square", lab.run(net, root, net.apply("ABS", name)), roundings=3, magnitude=4)


@cases.relation("inverse_root", "RSQRT SQRT DIV", FLOATS)
def inverse_root(lab: Lab) -> None:
    """The reciprocal root is one divided by the root: of values in [1, 4) that makes no error larger."""
    net = lab.net()
    name = net.input(lab.tensor(2, 23, 17, 9, low=1.0, high=4.0))
    divided = net.apply("DIV", lab.full(1.0, 1), net.apply("SQRT", name), 0)
    lab.agree("reciprocal root", lab.run(net, net.apply("RSQRT", name), divided), roundings=3, magnitude=2)


@cases.relation("root", "POW SQRT", FLOATS)
def power_of_a_half(lab: Lab) -> None:
    """The power of a half is the root."""
    net = lab.net()
    name = net.input(lab.tensor(2, 23, 17, 9, low=0.25, high=4.0))
    lab.agree("root", lab.run(net, net.apply("POW", name, lab.full(0.5, 1)), net.apply("SQRT", name)), roundings=2)


@cases.relation("of_the_exponential", "LOG EXP", FLOATS)
def logarithm(lab: Lab) -> None:
    """The logarithm of the exponential of [0, 2) is the number: the logarithm makes no error larger."""
    given, net = lab.tensor(2, 23, 17, 9, low=0.0, high=2.0), lab.net()
    name = net.apply("LOG", net.apply("EXP", net.input(given)))
    lab.agree("logarithm of the exponential", [*lab.run(net, name), given.array], roundings=2, magnitude=8)


@cases.relation("odd", "SIN NEG", FLOATS)
def sine(lab: Lab) -> None:
    """The sine of the negative is the negative of the sine."""
    net = lab.net()
    name = net.input(lab.tensor(2, 23, 17, 9))
    both = net.apply("SIN", net.apply("NEG", name)), net.apply("NEG", net.apply("SIN", name))
    lab.agree("sine of the negative", lab.run(net, *both), roundings=4, magnitude=2)


@cases.relation("moved_by_integers", "FLOOR ADD", FLOATS)
def floored(lab: Lab) -> None:
    """An integer more makes the floor that much more; the data are eighths, which no sum rounds."""
    given, net = lab.steps(2, 23, 17, 9, step=0.125), lab.net()
    name, three = net.input(given), lab.full(3.0, 1)
    inside = net.apply("FLOOR", net.apply("ADD", net.apply("ADD", name, lab.full(0.0625, 1), 0), three, 0))
    outside = net.apply("ADD", net.apply("FLOOR", net.apply("ADD", name, lab.full(0.0625, 1), 0)), three, 0)
    lab.agree("floor of a sum", lab.run(net, inside, outside), roundings=4, magnitude=5)


@cases.relation("by_a_reciprocal", "DIV MUL", FLOATS)
def divided(lab: Lab) -> None:
    """Dividing by a power of two is multiplying by its reciprocal."""
    for one, _ in _SHAPES:
        net = lab.net()
        name = net.input(lab.tensor(*one))
        both = net.apply("DIV", name, lab.full(4.0, 1), 0), net.apply("MUL", name, lab.full(0.25, 1), 0)
        lab.agree("divided and multiplied", lab.run(net, *both), roundings=2)
