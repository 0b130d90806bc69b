"""Matrix products and convolutions against each other.

Floats are multiples of 1/2 in [-1, 1], so that sums of some hundred products are exact in whatever order and precision
they are made: both results are then roundings of the same number. Nothing is moved on the device in front of a product,
which would multiply an error of the move.
"""

from __future__ import annotations

from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.relations.declare import Check, RelationGroup
from npu_conformance.vts.lib.relations.fixture import RelationFixture
from npu_conformance.vts.lib.relations.nets import FLOAT16, FLOAT32, FLOATS, MOVED, SIGNED
from npu_conformance.vts.lib.relations.product_operands import bias, output, weights

cases = RelationGroup()
_ACTIVATIONS = {"RELU": 1, "RELU1": 2, "RELU6": 3}


@cases.relation("fully_connected", "BATCH_MATMUL FULLY_CONNECTED", (FLOAT32, FLOAT16, SIGNED))
def matmul(fixture: RelationFixture) -> None:
    """One matrix of the second factor, turned, is the weights of FULLY_CONNECTED without bias: 768 products a sum."""
    first, second, net = fixture.steps(1, 37, 768), weights(fixture, 1, 23, 768), fixture.net()
    name = net.input(first)
    product = net.apply("BATCH_MATMUL", name, second, False, True, result=output(fixture))
    rows, flat = net.input(first.of(first.array[0])), second.of(second.array[0])
    connected = net.apply("FULLY_CONNECTED", rows, flat, bias(fixture, 23, zero=True), 0, result=output(fixture))
    found, expected = fixture.run(net, product, connected)
    fixture.agree("BATCH_MATMUL and FULLY_CONNECTED", [found[0], expected], roundings=2)


@cases.relation("transposed", "BATCH_MATMUL TRANSPOSE", (FLOAT32, FLOAT16, SIGNED))
def transposed_product(fixture: RelationFixture) -> None:
    """The transposed product is the product of the transposed factors, exchanged."""
    net, result = fixture.net(), output(fixture)
    a, b = net.input(fixture.steps(3, 37, 67)), net.input(fixture.steps(3, 67, 23))
    straight = net.apply("TRANSPOSE", net.apply("BATCH_MATMUL", a, b, False, False, result=result), (0, 2, 1))
    turned = net.apply("BATCH_MATMUL", b, a, True, True, result=result)
    fixture.agree("transposed product", fixture.run(net, straight, turned), roundings=3)


@cases.relation("one_by_one", "FULLY_CONNECTED CONV_2D", MOVED)
def one_by_one(fixture: RelationFixture) -> None:
    """A filter of one pixel is FULLY_CONNECTED on every pixel."""
    given, matrix, offsets = fixture.steps(2, 9, 7, 131), weights(fixture, 37, 131), bias(fixture, 37)
    net = fixture.net()
    name = net.input(given)
    filters = matrix.of(matrix.array.reshape(37, 1, 1, 131))
    image = net.apply("CONV_2D", name, filters, offsets, 2, 1, 1, 0, result=output(fixture))
    pixels = net.input(given.of(given.array.reshape(126, 131)))
    connected = net.apply("FULLY_CONNECTED", pixels, matrix, offsets, 0, result=output(fixture))
    found, expected = fixture.run(net, image, connected)
    fixture.agree("CONV_2D and FULLY_CONNECTED", [found.reshape(126, 37), expected], roundings=2)


@cases.relation("whole_image", "CONV_2D FULLY_CONNECTED", MOVED)
def whole_image(fixture: RelationFixture) -> None:
    """A filter as large as the image is FULLY_CONNECTED on the flat image."""
    given, filters, offsets = fixture.steps(3, 5, 9, 13), weights(fixture, 19, 5, 9, 13), bias(fixture, 19)
    net = fixture.net()
    name = net.input(given)
    image = net.apply("CONV_2D", name, filters, offsets, 2, 1, 1, 0, result=output(fixture))
    matrix = filters.of(filters.array.reshape(19, -1))
    flat = net.apply("FULLY_CONNECTED", name, matrix, offsets, 0, result=output(fixture))
    found, expected = fixture.run(net, image, flat)
    fixture.agree("CONV_2D and FULLY_CONNECTED", [found.reshape(3, 19), expected], roundings=2)


@cases.relation("one_group", "GROUPED_CONV_2D CONV_2D", MOVED)
def one_group(fixture: RelationFixture) -> None:
    """With one group a grouped convolution is CONV_2D."""
    filters, offsets, net = weights(fixture, 17, 3, 2, 11), bias(fixture, 17), fixture.net()
    name, steps = net.input(fixture.steps(2, 23, 17, 11)), (1, 2, 1)
    grouped = net.apply("GROUPED_CONV_2D", name, filters, offsets, *steps, 1, 0, False, result=output(fixture))
    plain = net.apply("CONV_2D", name, filters, offsets, *steps, 0, result=output(fixture))
    fixture.agree("GROUPED_CONV_2D and CONV_2D", fixture.run(net, grouped, plain), roundings=2)


@cases.relation("by_groups", "GROUPED_CONV_2D CONV_2D CONCATENATION", MOVED)
def by_groups(fixture: RelationFixture) -> None:
    """Groups are convolutions of parts of the channels, side by side."""
    given, filters, offsets = fixture.steps(2, 13, 17, 21), weights(fixture, 15, 3, 2, 7), bias(fixture, 15)
    net, steps = fixture.net(), (2, 1, 2)
    name = net.input(given)
    grouped = net.apply("GROUPED_CONV_2D", name, filters, offsets, *steps, 3, 0, False, result=output(fixture))
    results = []
    for number in range(3):
        part = net.input(given.of(given.array[..., 7 * number : 7 * number + 7]))
        own = slice(5 * number, 5 * number + 5)
        chosen = filters.of(filters.array[own]), offsets.of(offsets.array[own])
        results.append(net.apply("CONV_2D", part, *chosen, *steps, 0, result=output(fixture)))
    joined = net.apply("CONCATENATION", *results, 3)
    fixture.agree("groups and convolutions", fixture.run(net, grouped, joined), roundings=3)


@cases.relation("as_many_groups", "DEPTHWISE_CONV_2D GROUPED_CONV_2D", MOVED)
def depthwise(fixture: RelationFixture) -> None:
    """A depthwise convolution has as many groups as channels."""
    filters, offsets, net = weights(fixture, 1, 3, 2, 38), bias(fixture, 38), fixture.net()
    name, steps = net.input(fixture.steps(2, 13, 17, 19)), (1, 2, 1)
    turned = filters.of(filters.array.transpose(3, 1, 2, 0))
    depth = net.apply("DEPTHWISE_CONV_2D", name, filters, offsets, *steps, 2, 0, result=output(fixture))
    grouped = net.apply("GROUPED_CONV_2D", name, turned, offsets, *steps, 19, 0, False, result=output(fixture))
    fixture.agree("depthwise and groups", fixture.run(net, depth, grouped), roundings=2)


@cases.relation("flipped", "TRANSPOSE_CONV_2D CONV_2D", MOVED)
def transposed_convolution(fixture: RelationFixture) -> None:
    """With strides of 1 TRANSPOSE_CONV_2D is CONV_2D with the filter turned round, padded by its size less 1."""
    filters, offsets, net = weights(fixture, 9, 3, 2, 11), bias(fixture, 9), fixture.net()
    name = net.input(fixture.steps(2, 13, 17, 11))
    turned = filters.of(filters.array[:, ::-1, ::-1])
    result = output(fixture)
    spread = net.apply("TRANSPOSE_CONV_2D", name, filters, offsets, 0, 0, 0, 0, 1, 1, 0, False, result=result)
    plain = net.apply("CONV_2D", name, turned, offsets, 1, 1, 2, 2, 1, 1, 0, result=result)
    fixture.agree("TRANSPOSE_CONV_2D and CONV_2D", fixture.run(net, spread, plain), roundings=2)


@cases.relation("output_channels", "CONV_2D CONCATENATION", MOVED)
def output_channels(fixture: RelationFixture) -> None:
    """Output channels computed apart are those computed together, also the last ones behind whole blocks."""
    filters, offsets, net = weights(fixture, 37, 3, 3, 19), bias(fixture, 37), fixture.net()
    name, result = net.input(fixture.steps(1, 15, 11, 19)), output(fixture)
    whole = net.apply("CONV_2D", name, filters, offsets, 1, 2, 2, 0, result=result)
    parts = []
    for own in (slice(0, 5), slice(5, 37)):
        chosen = filters.of(filters.array[own]), offsets.of(offsets.array[own])
        parts.append(net.apply("CONV_2D", name, *chosen, 1, 2, 2, 0, result=result))
    joined = net.apply("CONCATENATION", *parts, 3)
    fixture.agree("output channels", fixture.run(net, whole, joined), roundings=3)


@cases.relation("padded_before", "CONV_2D", MOVED)
def padded_convolution(fixture: RelationFixture) -> None:
    """Explicit padding is zeros around the image."""
    import numpy

    filters, offsets, net = weights(fixture, 9, 5, 4, 11), bias(fixture, 9), fixture.net()
    given = fixture.steps(2, 23, 17, 11)
    inside = net.apply("CONV_2D", net.input(given), filters, offsets, 3, 1, 2, 4, 2, 1, 0, result=output(fixture))
    padded = numpy.pad(given.array, ((0, 0), (2, 4), (3, 1), (0, 0)), constant_values=given.operand.zero_point)
    before = net.apply("CONV_2D", net.input(given.of(padded)), filters, offsets, 2, 2, 1, 0, result=output(fixture))
    fixture.agree("padded inside and before", fixture.run(net, inside, before), roundings=2)


@cases.relation("spread_filter", "CONV_2D", MOVED, since=Version.V1_2)
def dilated(fixture: RelationFixture) -> None:
    """A dilated filter is a larger one with zeros between its elements."""
    import numpy

    filters, offsets, net = weights(fixture, 9, 2, 3, 11), bias(fixture, 9), fixture.net()
    name, result = net.input(fixture.steps(2, 23, 17, 11)), output(fixture)
    spread = numpy.full((9, 4, 5, 11), result.zero_point, filters.array.dtype)
    spread[:, ::3, ::2] = filters.array
    dilated_result = net.apply("CONV_2D", name, filters, offsets, 2, 1, 1, 0, False, 2, 3, result=result)
    large = net.apply("CONV_2D", name, filters.of(spread), offsets, 2, 1, 1, 0, result=result)
    fixture.agree("dilated and spread", fixture.run(net, dilated_result, large), roundings=2)


def _fused(operation: str, name: str) -> Check:
    code = _ACTIVATIONS[name]

    def check(fixture: RelationFixture) -> None:
        """An activation inside of an operation is the activation behind it."""
        net, result = fixture.net(), output(fixture)
        if operation == "FULLY_CONNECTED":
            arguments = [net.input(fixture.steps(7, 131)), weights(fixture, 37, 131), bias(fixture, 37)]
        elif operation == "CONV_2D":
            arguments = [
                net.input(fixture.steps(2, 9, 13, 11)),
                weights(fixture, 17, 3, 2, 11),
                bias(fixture, 17),
                1,
                1,
                2,
            ]
        else:
            arguments = [
                net.input(fixture.steps(2, 9, 13, 17)),
                weights(fixture, 1, 3, 2, 17),
                bias(fixture, 17),
                1,
                1,
                2,
                1,
            ]
        inside = net.apply(operation, *arguments, code, result=result)
        behind = net.apply(name, net.apply(operation, *arguments, 0, result=result))
        fixture.agree(f"{name} inside and behind", fixture.run(net, inside, behind), roundings=3)

    return check


for _operation in ("FULLY_CONNECTED", "CONV_2D", "DEPTHWISE_CONV_2D"):
    for _name in _ACTIVATIONS:
        cases.relation(f"fused_{_name.lower()}", f"{_operation} {_name}", MOVED)(_fused(_operation, _name))


@cases.relation("identity", "CONV_2D", FLOATS)
def identity(fixture: RelationFixture) -> None:
    """A filter of one pixel that takes each channel once changes nothing."""
    import numpy

    given, net = fixture.tensor(1, 224, 224, 3), fixture.net()
    unit = numpy.eye(3).reshape(3, 1, 1, 3)
    filters = fixture.full(0.0, 1)
    name = net.input(given)
    result = net.apply("CONV_2D", name, filters.of(unit.astype(filters.array.dtype)), fixture.full(0.0, 3), 1, 1, 1, 0)
    fixture.agree("identity", [*fixture.run(net, result), given.array], roundings=1)
