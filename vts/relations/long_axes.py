"""Axes and counts that no counter of a byte, no register field and no first thread's share can hold: what lies far out
is what it is alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npu_conformance.vts.lib.relations.declare import Check, RelationGroup
from npu_conformance.vts.lib.relations.fixture import RelationFixture
from npu_conformance.vts.lib.relations.nets import BYTES, FLOAT32, SIGNED, UNSIGNED, Tensor
from npu_conformance.vts.lib.relations.product_operands import bias, output, weights

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

cases = RelationGroup()
_VALID = 2


@cases.relation("far_rows", "CONV_2D", (FLOAT32, SIGNED))
def far_rows(fixture: RelationFixture) -> None:
    """The last rows of an image of 248 x 251 pixels are what they are in an image of their own."""
    given, filters, offsets = fixture.steps(1, 251, 248, 1, step=0.5), weights(fixture, 3, 3, 3, 1), bias(fixture, 3)

    def run(image: Tensor) -> Array:
        net = fixture.net()
        result = net.apply("CONV_2D", net.input(image), filters, offsets, _VALID, 1, 1, 0, result=output(fixture))
        return fixture.run(net, result)[0]

    alone = run(given.of(given.array[:, -12:]))
    fixture.agree("last rows", [run(given)[:, -10:], alone], roundings=2)


@cases.relation("far_units", "FULLY_CONNECTED", (FLOAT32, *BYTES))
def far_units(fixture: RelationFixture) -> None:
    """The last units of a layer with more than 2^20 weights are what they are alone."""
    given, matrix, offsets = fixture.steps(2, 1027), weights(fixture, 1025, 1027), bias(fixture, 1025)

    def run(rows: Tensor, added: Tensor) -> Array:
        net = fixture.net()
        result = net.apply("FULLY_CONNECTED", net.input(given), rows, added, 0, result=output(fixture))
        return fixture.run(net, result)[0]

    alone = run(matrix.of(matrix.array[-9:]), offsets.of(offsets.array[-9:]))
    fixture.agree("last units", [run(matrix, offsets)[:, -9:], alone], roundings=2)


def _wide(operation: str) -> Check:
    layout = (False,) if operation == "RESIZE_NEAREST_NEIGHBOR" else ()

    def check(fixture: RelationFixture) -> None:
        """The left half of a row that is stretched to more than 1024 pixels is that of a row of half the length."""
        given = fixture.tensor(1, 3, 526, 2)

        def run(image: Tensor) -> Array:
            net, width = fixture.net(), image.shape[2]
            return fixture.run(net, net.apply(operation, net.input(image), 2 * width, 6, *layout))[0]

        half = run(given.of(given.array[:, :, :263]))
        fixture.agree("left half", [run(given)[:, :, :524], half[:, :, :524]], roundings=2)

    return check


def _long(operation: str) -> Check:
    def check(fixture: RelationFixture) -> None:
        """The end of an axis of more than 2^13 elements is what it is alone."""
        one, other = fixture.tensor(1, 8231, 2), fixture.tensor(1, 8231, 2)

        def run(first: Tensor, second: Tensor) -> Array:
            net = fixture.net()
            names = net.input(first), net.input(second)
            return fixture.run(net, net.apply(operation, *names, *_rest(operation), result=output(fixture)))[0]

        parts = (tensor.of(tensor.array[:, -60:]) for tensor in (one, other))
        fixture.agree("end of a long axis", [run(one, other)[:, -60:], run(*parts)], roundings=2)

    return check


def _rest(operation: str) -> tuple[int, ...]:
    return () if operation in ("MAXIMUM", "MINIMUM") else (0,)


for _operation in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"):
    cases.relation("wide", _operation, (FLOAT32, UNSIGNED))(_wide(_operation))
for _operation in ("ADD", "MUL", "MAXIMUM"):
    cases.relation("long_axis", _operation, (FLOAT32, UNSIGNED))(_long(_operation))
