"""Identities of arithmetic, order and logic, for every value, with shapes that broadcast and that do not.

Roundings: one for each operation on the way to either result, times what later operations make of it (at most 1 here
where nothing else is said); quantised results are off by a step for each operation.
"""

from __future__ import annotations

from npu_conformance.harness.judge import checks
from npu_conformance.vts.lib.relations.declare import Check, RelationGroup
from npu_conformance.vts.lib.relations.fixture import RelationFixture
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
    def check(fixture: RelationFixture) -> None:
        """The inputs of a commutative operation can be exchanged."""
        result = (
            like(fixture.operand_type, _RESULT_SCALE) if fixture.operand_type in BYTES else like(fixture.operand_type)
        )
        if operation not in (*_ARITHMETIC, *_ORDER):
            result = like(BOOL8)
        more = [0] if operation in _ARITHMETIC else []
        for one, other in _SHAPES:
            net = fixture.net()
            a, b = net.input(fixture.tensor(*one)), net.input(fixture.tensor(*other))
            both = [net.apply(operation, *pair, *more, result=result) for pair in ((a, b), (b, a))]
            fixture.agree(
                f"{operation} of {one} and {other}", fixture.run(net, *both), roundings=2, operand_type=result.type
            )

    return check


for _operation in (*_ARITHMETIC, *_ORDER):
    _types = WITH_INTEGERS
    cases.relation("commutes", _operation, _types)(_commutes(_operation))
for _operation in ("EQUAL", "NOT_EQUAL"):
    cases.relation("commutes", _operation, (*WITH_INTEGERS, BOOL8))(_commutes(_operation))
for _operation in ("LOGICAL_AND", "LOGICAL_OR"):
    cases.relation("commutes", _operation, (BOOL8,))(_commutes(_operation))


def _complement(operation: str, opposite: str) -> Check:
    def check(fixture: RelationFixture) -> None:
        """One comparison is true where its opposite is false; there is no NaN among the elements."""
        for one, other in _SHAPES:
            net = fixture.net()
            a, b = net.input(fixture.tensor(*one)), net.input(fixture.tensor(*other))
            first = net.apply(operation, a, b, result=like(BOOL8))
            second = net.apply("LOGICAL_NOT", net.apply(opposite, a, b, result=like(BOOL8)))
            fixture.agree(
                f"{operation} and not {opposite}", fixture.run(net, first, second), roundings=0, operand_type=BOOL8
            )

    return check


for _operation, _opposite in _COMPLEMENTS.items():
    cases.relation("complement", f"{_operation} {_opposite} LOGICAL_NOT", (*WITH_INTEGERS, BOOL8))(
        _complement(_operation, _opposite)
    )


def _mirror(operation: str, mirrored: str) -> Check:
    def check(fixture: RelationFixture) -> None:
        """A comparison with the inputs exchanged is its mirror image."""
        for one, other in _SHAPES:
            net = fixture.net()
            a, b = net.input(fixture.tensor(*one)), net.input(fixture.tensor(*other))
            both = [
                net.apply(name, *pair, result=like(BOOL8)) for name, pair in ((operation, (a, b)), (mirrored, (b, a)))
            ]
            fixture.agree(f"{operation} and {mirrored}", fixture.run(net, *both), roundings=0, operand_type=BOOL8)

    return check


for _operation, _mirrored in _MIRRORED.items():
    cases.relation("mirrored", f"{_operation} {_mirrored}", (*WITH_INTEGERS, BOOL8))(_mirror(_operation, _mirrored))


@cases.relation("of_itself", "EQUAL LESS", (*WITH_INTEGERS, BOOL8))
def equal_to_itself(fixture: RelationFixture) -> None:
    """Everything but a NaN is equal to itself and not less."""
    net = fixture.net()
    name = net.input(fixture.tensor(2, 23, 17, 9))
    equal, less = (net.apply(operation, name, name, result=like(BOOL8)) for operation in ("EQUAL", "LESS"))
    found = fixture.run(net, equal, less)
    checks.that(bool(found[0].all()), "EQUAL of a tensor and itself: expected true everywhere")
    checks.that(not found[1].any(), "LESS of a tensor and itself: expected false everywhere")


@cases.relation("de_morgan", "LOGICAL_AND LOGICAL_OR LOGICAL_NOT", (BOOL8,))
def de_morgan(fixture: RelationFixture) -> None:
    """The negation of both (and) is the negation of one of them (or)."""
    for one, other in _SHAPES:
        net = fixture.net()
        a, b = net.input(fixture.tensor(*one)), net.input(fixture.tensor(*other))
        both = net.apply("LOGICAL_NOT", net.apply("LOGICAL_AND", a, b))
        either = net.apply("LOGICAL_OR", net.apply("LOGICAL_NOT", a), net.apply("LOGICAL_NOT", b))
        fixture.agree("not both and one of them not", fixture.run(net, both, either), roundings=0)


@cases.relation("twice", "LOGICAL_NOT", (BOOL8,))
def not_twice(fixture: RelationFixture) -> None:
    """A value negated twice is the value."""
    given, net = fixture.tensor(2, 23, 17, 9), fixture.net()
    name = net.apply("LOGICAL_NOT", net.apply("LOGICAL_NOT", net.input(given)))
    fixture.agree("not not", [*fixture.run(net, name), given.array], roundings=0)


@cases.relation("de_morgan", "REDUCE_ALL REDUCE_ANY LOGICAL_NOT", (BOOL8,))
def all_and_any(fixture: RelationFixture) -> None:
    """All values are true where not any is false."""
    given, net = fixture.tensor(3, 11, 23, 7), fixture.net()
    name = net.input(given.of(given.array | (fixture.tensor(3, 11, 23, 7).array & fixture.tensor(3, 11, 1, 1).array)))
    for axes in ((3,), (1, -1)):
        whole = net.apply("REDUCE_ALL", name, axes, True)
        none = net.apply("LOGICAL_NOT", net.apply("REDUCE_ANY", net.apply("LOGICAL_NOT", name), axes, True))
        fixture.agree("all and not any not", fixture.run(net, whole, none), roundings=0)


@cases.relation("twice", "NEG", _NUMBERS)
def negated_twice(fixture: RelationFixture) -> None:
    """The negative of the negative is the number."""
    given, net = fixture.tensor(2, 23, 17, 9), fixture.net()
    name = net.apply("NEG", net.apply("NEG", net.input(given)))
    fixture.agree("negated twice", [*fixture.run(net, name), given.array], roundings=2)


@cases.relation("larger_of_both", "ABS MAXIMUM NEG", _NUMBERS)
def absolute(fixture: RelationFixture) -> None:
    """The absolute value is the larger one of the number and its negative."""
    net = fixture.net()
    name = net.input(fixture.tensor(2, 23, 17, 9))
    larger = net.apply("MAXIMUM", name, net.apply("NEG", name))
    fixture.agree("absolute value", fixture.run(net, net.apply("ABS", name), larger), roundings=3)


@cases.relation("added_negative", "SUB ADD NEG", _NUMBERS)
def subtracted(fixture: RelationFixture) -> None:
    """Subtracting is adding the negative, and the negative of the exchanged difference."""
    for one, other in _SHAPES:
        net = fixture.net()
        a, b = net.input(fixture.tensor(*one)), net.input(fixture.tensor(*other))
        added = net.apply("ADD", a, net.apply("NEG", b), 0)
        exchanged = net.apply("NEG", net.apply("SUB", b, a, 0))
        found = fixture.run(net, net.apply("SUB", a, b, 0), added, exchanged)
        fixture.agree("difference and sum with the negative", [found[0], found[1]], roundings=3)
        fixture.agree("difference and negative of the exchanged one", [found[0], found[2]], roundings=3)


@cases.relation("negated", "MINIMUM MAXIMUM NEG", _NUMBERS)
def smaller(fixture: RelationFixture) -> None:
    """The smaller one is the negative of the larger one of the negatives."""
    for one, other in _SHAPES:
        net = fixture.net()
        a, b = net.input(fixture.tensor(*one)), net.input(fixture.tensor(*other))
        larger = net.apply("NEG", net.apply("MAXIMUM", net.apply("NEG", a), net.apply("NEG", b)))
        fixture.agree("minimum", fixture.run(net, net.apply("MINIMUM", a, b), larger), roundings=4)


@cases.relation("selected", "MAXIMUM GREATER SELECT", WITH_INTEGERS)
def maximum_is_selected(fixture: RelationFixture) -> None:
    """The larger one is the first where it is greater, else the second."""
    net = fixture.net()
    a, b = net.input(fixture.tensor(23, 17, 9)), net.input(fixture.tensor(23, 17, 9))
    chosen = net.apply(
        "SELECT", net.apply("GREATER", a, b, result=like(BOOL8)), a, b, result=like(fixture.operand_type)
    )
    fixture.agree("larger and selected", fixture.run(net, net.apply("MAXIMUM", a, b), chosen), roundings=2)


@cases.relation("of_the_negative", "ARGMAX ARGMIN NEG", _NUMBERS)
def arguments(fixture: RelationFixture) -> None:
    """The greatest is where the negative is smallest; all elements along the axis differ."""
    given, net = fixture.distinct(3, 5, 131), fixture.net()
    name = net.input(given)
    greatest = net.apply("ARGMAX", name, 2, result=like(INT32))
    smallest = net.apply("ARGMIN", net.apply("NEG", name), -1, result=like(INT32))
    one, other = fixture.run(net, greatest, smallest)
    checks.that(bool((one == other).all()), f"ARGMAX and ARGMIN of the negative: found {one} and {other}")


@cases.relation("gathers_the_greatest", "ARGMAX", (*WITH_INTEGERS,))
def greatest(fixture: RelationFixture) -> None:
    """The element at the place of the greatest is the greatest."""
    given, net = fixture.distinct(3, 21, 131), fixture.net()
    (places,) = fixture.run(net, net.apply("ARGMAX", net.input(given), 2, result=like(INT32)))
    checks.that(bool((given.array.argmax(2) == places).all()), f"ARGMAX: the greatest are not at {places}")


@cases.relation("gathers_the_smallest", "ARGMIN", (*WITH_INTEGERS,))
def smallest(fixture: RelationFixture) -> None:
    """The element at the place of the smallest is the smallest."""
    given, net = fixture.distinct(3, 21, 67), fixture.net()
    (places,) = fixture.run(net, net.apply("ARGMIN", net.input(given), -1, result=like(INT32)))
    checks.that(bool((given.array.argmin(2) == places).all()), f"ARGMIN: the smallest are not at {places}")


@cases.relation("negated", "REDUCE_MIN REDUCE_MAX NEG", FLOATS)
def least(fixture: RelationFixture) -> None:
    """The least is the negative of the greatest of the negatives."""
    for axes in ((1, 2), (-1,), (0, 1, 2, 3)):
        net = fixture.net()
        name = net.input(fixture.tensor(2, 23, 17, 9))
        greatest_one = net.apply("NEG", net.apply("REDUCE_MAX", net.apply("NEG", name), axes, False))
        fixture.agree("least", fixture.run(net, net.apply("REDUCE_MIN", name, axes, False), greatest_one), roundings=4)


@cases.relation("transposed", "REDUCE_MAX TRANSPOSE", MOVED)
def axes_move(fixture: RelationFixture) -> None:
    """The greatest along an axis is the greatest along the axis that it becomes by transposing."""
    net = fixture.net()
    name = net.input(fixture.tensor(2, 23, 17, 9))
    turned = net.apply("REDUCE_MAX", net.apply("TRANSPOSE", name, (0, 3, 1, 2)), (2,), False)
    straight = net.apply("TRANSPOSE", net.apply("REDUCE_MAX", name, (1,), False), (0, 2, 1))
    fixture.agree("greatest of transposed", fixture.run(net, turned, straight), roundings=4)


@cases.relation("of_a_square", "SQRT MUL ABS", FLOATS)
def root_of_square(fixture: RelationFixture) -> None:
    """The root of the square is the absolute value; of values in [0.5, 2) a root does not make an error larger."""
    given, net = fixture.tensor(2, 23, 17, 9, low=0.5, high=2.0), fixture.net()
    name = net.input(given)
    root = net.apply("SQRT", net.apply("MUL", name, name, 0))
    fixture.agree("root of the square", fixture.run(net, root, net.apply("ABS", name)), roundings=3, magnitude=4)


@cases.relation("inverse_root", "RSQRT SQRT DIV", FLOATS)
def inverse_root(fixture: RelationFixture) -> None:
    """The reciprocal root is one divided by the root: of values in [1, 4) that makes no error larger."""
    net = fixture.net()
    name = net.input(fixture.tensor(2, 23, 17, 9, low=1.0, high=4.0))
    divided = net.apply("DIV", fixture.full(1.0, 1), net.apply("SQRT", name), 0)
    fixture.agree("reciprocal root", fixture.run(net, net.apply("RSQRT", name), divided), roundings=3, magnitude=2)


@cases.relation("root", "POW SQRT", FLOATS)
def power_of_a_half(fixture: RelationFixture) -> None:
    """The power of a half is the root."""
    net = fixture.net()
    name = net.input(fixture.tensor(2, 23, 17, 9, low=0.25, high=4.0))
    fixture.agree(
        "root", fixture.run(net, net.apply("POW", name, fixture.full(0.5, 1)), net.apply("SQRT", name)), roundings=2
    )


@cases.relation("of_the_exponential", "LOG EXP", FLOATS)
def logarithm(fixture: RelationFixture) -> None:
    """The logarithm of the exponential of [0, 2) is the number: the logarithm makes no error larger."""
    given, net = fixture.tensor(2, 23, 17, 9, low=0.0, high=2.0), fixture.net()
    name = net.apply("LOG", net.apply("EXP", net.input(given)))
    fixture.agree("logarithm of the exponential", [*fixture.run(net, name), given.array], roundings=2, magnitude=8)


@cases.relation("odd", "SIN NEG", FLOATS)
def sine(fixture: RelationFixture) -> None:
    """The sine of the negative is the negative of the sine."""
    net = fixture.net()
    name = net.input(fixture.tensor(2, 23, 17, 9))
    both = net.apply("SIN", net.apply("NEG", name)), net.apply("NEG", net.apply("SIN", name))
    fixture.agree("sine of the negative", fixture.run(net, *both), roundings=4, magnitude=2)


@cases.relation("moved_by_integers", "FLOOR ADD", FLOATS)
def floored(fixture: RelationFixture) -> None:
    """An integer more makes the floor that much more; the data are eighths, which no sum rounds."""
    given, net = fixture.steps(2, 23, 17, 9, step=0.125), fixture.net()
    name, three = net.input(given), fixture.full(3.0, 1)
    inside = net.apply("FLOOR", net.apply("ADD", net.apply("ADD", name, fixture.full(0.0625, 1), 0), three, 0))
    outside = net.apply("ADD", net.apply("FLOOR", net.apply("ADD", name, fixture.full(0.0625, 1), 0)), three, 0)
    fixture.agree("floor of a sum", fixture.run(net, inside, outside), roundings=4, magnitude=5)


@cases.relation("by_a_reciprocal", "DIV MUL", FLOATS)
def divided(fixture: RelationFixture) -> None:
    """Dividing by a power of two is multiplying by its reciprocal."""
    for one, _ in _SHAPES:
        net = fixture.net()
        name = net.input(fixture.tensor(*one))
        both = net.apply("DIV", name, fixture.full(4.0, 1), 0), net.apply("MUL", name, fixture.full(0.25, 1), 0)
        fixture.agree("divided and multiplied", fixture.run(net, *both), roundings=2)
