"""Matrix products and convolutions against each other.

Floats are multiples of 1/2 in [-1, 1], so that sums of some hundred products are exact in whatever order and precision
they are made: both results are then roundings of the same number. Nothing is moved on the device in front of a product,
which would multiply an error of the move.
"""

from __future__ import annotations

import numpy

from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.relations.declare import Check, RelationGroup
from npu_conformance.vts.lib.relations.fixture import Lab
from npu_conformance.vts.lib.relations.nets import FLOAT16, FLOAT32, FLOATS, MOVED, SIGNED
from npu_conformance.vts.lib.relations.product_operands import bias, output, weights

cases = RelationGroup()
_ACTIVATIONS = {"RELU": 1, "RELU1": 2, "RELU6": 3}


@cases.relation("fully_connected", "BATCH_MATMUL FULLY_CONNECTED", (FLOAT32, FLOAT16, SIGNED))
def matmul(lab: Lab) -> None:
    """One matrix of the second factor, turned, is the weights of FULLY_CONNECTED without bias: 768 products a sum."""
    first, second, net = lab.steps(1, 37, 768), weights(lab, 1, 23, 768), lab.net()
    name = net.input(first)
    product = net.apply("BATCH_MATMUL", name, second, False, True, result=output(lab))
    rows, flat = net.input(first.of(first.array[0])), second.of(second.array[0])
    connected = net.apply("FULLY_CONNECTED", rows, flat, bias(lab, 23, zero=True), 0, result=output(lab))
    found, expected = lab.run(net, product, connected)
    lab.agree("BATCH_MATMUL and FULLY_CONNECTED", [found[0], expected], roundings=2)


@cases.relation("transposed", "BATCH_MATMUL TRANSPOSE", (FLOAT32, FLOAT16, SIGNED))
def transposed_product(lab: Lab) -> None:
    """The transposed product is the product of the transposed factors, exchanged."""
    net, kind = lab.net(), output(lab)
    a, b = net.input(lab.steps(3, 37, 67)), net.input(lab.steps(3, 67, 23))
    straight = net.apply("TRANSPOSE", net.apply("BATCH_MATMUL", a, b, False, False, result=kind), (0, 2, 1))
    turned = net.apply("BATCH_MATMUL", b, a, True, True, result=kind)
    lab.agree("transposed product", lab.run(net, straight, turned), roundings=3)


@cases.relation("one_by_one", "FULLY_CONNECTED CONV_2D", MOVED)
def one_by_one(lab: Lab) -> None:
    """A filter of one pixel is FULLY_CONNECTED on every pixel."""
    given, matrix, offsets = lab.steps(2, 9, 7, 131), weights(lab, 37, 131), bias(lab, 37)
    net = lab.net()
    name = net.input(given)
    filters = matrix.of(matrix.array.reshape(37, 1, 1, 131))
    image = net.apply("CONV_2D", name, filters, offsets, 2, 1, 1, 0, result=output(lab))
    pixels = net.input(given.of(given.array.reshape(126, 131)))
    connected = net.apply("FULLY_CONNECTED", pixels, matrix, offsets, 0, result=output(lab))
    found, expected = lab.run(net, image, connected)
    lab.agree("CONV_2D and FULLY_CONNECTED", [found.reshape(126, 37), expected], roundings=2)


@cases.relation("whole_image", "CONV_2D FULLY_CONNECTED", MOVED)
def whole_image(lab: Lab) -> None:
    """A filter as large as the image is FULLY_CONNECTED on the flat image."""
    given, filters, offsets = lab.steps(3, 5, 9, 13), weights(lab, 19, 5, 9, 13), bias(lab, 19)
    net = lab.net()
    name = net.input(given)
    image = net.apply("CONV_2D", name, filters, offsets, 2, 1, 1, 0, result=output(lab))
    matrix = filters.of(filters.array.reshape(19, -1))
    flat = net.apply("FULLY_CONNECTED", name, matrix, offsets, 0, result=output(lab))
    found, expected = lab.run(net, image, flat)
    lab.agree("CONV_2D and FULLY_CONNECTED", [found.reshape(3, 19), expected], roundings=2)


@cases.relation("one_group", "GROUPED_CONV_2D CONV_2D", MOVED)
def one_group(lab: Lab) -> None:
    """With one group it is CONV_2D."""
    filters, offsets, net = weights(lab, 17, 3, 2, 11), bias(lab, 17), lab.net()
    name, steps = net.input(lab.steps(2, 23, 17, 11)), (1, 2, 1)
    grouped = net.apply("GROUPED_CONV_2D", name, filters, offsets, *steps, 1, 0, False, result=output(lab))
    plain = net.apply("CONV_2D", name, filters, offsets, *steps, 0, result=output(lab))
    lab.agree("GROUPED_CONV_2D and CONV_2D", lab.run(net, grouped, plain), roundings=2)


@cases.relation("by_groups", "GROUPED_CONV_2D CONV_2D CONCATENATION", MOVED)
def by_groups(lab: Lab) -> None:
    """Groups are convolutions of parts of the channels, side by side."""
    given, filters, offsets = lab.steps(2, 13, 17, 21), weights(lab, 15, 3, 2, 7), bias(lab, 15)
    net, steps = lab.net(), (2, 1, 2)
    name = net.input(given)
    grouped = net.apply("GROUPED_CONV_2D", name, filters, offsets, *steps, 3, 0, False, result=output(lab))
    results = []
    for number in range(3):
        part = net.input(given.of(given.array[..., 7 * number : 7 * number + 7]))
        own = slice(5 * number, 5 * number + 5)
        chosen = filters.of(filters.array[own]), offsets.of(offsets.array[own])
        results.append(net.apply("CONV_2D", part, *chosen, *steps, 0, result=output(lab)))
    joined = net.apply("CONCATENATION", *results, 3)
    lab.agree("groups and convolutions", lab.run(net, grouped, joined), roundings=3)


@cases.relation("as_many_groups", "DEPTHWISE_CONV_2D GROUPED_CONV_2D", MOVED)
def depthwise(lab: Lab) -> None:
    """A depthwise convolution has as many groups as channels."""
    filters, offsets, net = weights(lab, 1, 3, 2, 38), bias(lab, 38), lab.net()
    name, steps = net.input(lab.steps(2, 13, 17, 19)), (1, 2, 1)
    turned = filters.of(filters.array.transpose(3, 1, 2, 0))
    depth = net.apply("DEPTHWISE_CONV_2D", name, filters, offsets, *steps, 2, 0, result=output(lab))
    grouped = net.apply("GROUPED_CONV_2D", name, turned, offsets, *steps, 19, 0, False, result=output(lab))
    lab.agree("depthwise and groups", lab.run(net, depth, grouped), roundings=2)


@cases.relation("flipped", "TRANSPOSE_CONV_2D CONV_2D", MOVED)
def transposed_convolution(lab: Lab) -> None:
    """With strides of 1 it is CONV_2D with the filter turned round, padded by its size less 1 on every side."""
    filters, offsets, net = weights(lab, 9, 3, 2, 11), bias(lab, 9), lab.net()
    name = net.input(lab.steps(2, 13, 17, 11))
    turned = filters.of(filters.array[:, ::-1, ::-1])
    kind = output(lab)
    spread = net.apply("TRANSPOSE_CONV_2D", name, filters, offsets, 0, 0, 0, 0, 1, 1, 0, False, result=kind)
    plain = net.apply("CONV_2D", name, turned, offsets, 1, 1, 2, 2, 1, 1, 0, result=kind)
    lab.agree("TRANSPOSE_CONV_2D and CONV_2D", lab.run(net, spread, plain), roundings=2)


@cases.relation("output_channels", "CONV_2D CONCATENATION", MOVED)
def output_channels(lab: Lab) -> None:
    """Output channels computed apart are those computed together, also the last ones behind whole blocks."""
    filters, offsets, net = weights(lab, 37, 3, 3, 19), bias(lab, 37), lab.net()
    name, kind = net.input(lab.steps(1, 15, 11, 19)), output(lab)
    whole = net.apply("CONV_2D", name, filters, offsets, 1, 2, 2, 0, result=kind)
    parts = []
    for own in (slice(0, 5), slice(5, 37)):
        chosen = filters.of(filters.array[own]), offsets.of(offsets.array[own])
        parts.append(net.apply("CONV_2D", name, *chosen, 1, 2, 2, 0, result=kind))
    joined = net.apply("CONCATENATION", *parts, 3)
    lab.agree("output channels", lab.run(net, whole, joined), roundings=3)


@cases.relation("padded_before", "CONV_2D", MOVED)
def padded_convolution(lab: Lab) -> None:
    """Explicit padding is zeros around the image."""
    filters, offsets, net = weights(lab, 9, 5, 4, 11), bias(lab, 9), lab.net()
    given = lab.steps(2, 23, 17, 11)
    inside = net.apply("CONV_2D", net.input(given), filters, offsets, 3, 1, 2, 4, 2, 1, 0, result=output(lab))
    padded = numpy.pad(given.array, ((0, 0), (2, 4), (3, 1), (0, 0)), constant_values=given.operand.zero_point)
    before = net.apply("CONV_2D", net.input(given.of(padded)), filters, offsets, 2, 2, 1, 0, result=output(lab))
    lab.agree("padded inside and before", lab.run(net, inside, before), roundings=2)


@cases.relation("spread_filter", "CONV_2D", MOVED, since=Version.V1_2)
def dilated(lab: Lab) -> None:
    """A dilated filter is a larger one with zeros between its elements."""
    filters, offsets, net = weights(lab, 9, 2, 3, 11), bias(lab, 9), lab.net()
    name, kind = net.input(lab.steps(2, 23, 17, 11)), output(lab)
    spread = numpy.full((9, 4, 5, 11), kind.zero_point, filters.array.dtype)
    spread[:, ::3, ::2] = filters.array
    dilated_result = net.apply("CONV_2D", name, filters, offsets, 2, 1, 1, 0, False, 2, 3, result=kind)
    large = net.apply("CONV_2D", name, filters.of(spread), offsets, 2, 1, 1, 0, result=kind)
    lab.agree("dilated and spread", lab.run(net, dilated_result, large), roundings=2)


def _fused(operation: str, name: str) -> Check:
    code = _ACTIVATIONS[name]

    def check(lab: Lab) -> None:
        """An activation inside is the activation behind."""
        net, kind = lab.net(), output(lab)
        if operation == "FULLY_CONNECTED":
            arguments = [net.input(lab.steps(7, 131)), weights(lab, 37, 131), bias(lab, 37)]
        elif operation == "CONV_2D":
            arguments = [net.input(lab.steps(2, 9, 13, 11)), weights(lab, 17, 3, 2, 11), bias(lab, 17), 1, 1, 2]
        else:
            arguments = [net.input(lab.steps(2, 9, 13, 17)), weights(lab, 1, 3, 2, 17), bias(lab, 17), 1, 1, 2, 1]
        inside = net.apply(operation, *arguments, code, result=kind)
        behind = net.apply(name, net.apply(operation, *arguments, 0, result=kind))
        lab.agree(f"{name} inside and behind", lab.run(net, inside, behind), roundings=3)

    return check


for _operation in ("FULLY_CONNECTED", "CONV_2D", "DEPTHWISE_CONV_2D"):
    for _name in _ACTIVATIONS:
        cases.relation(f"fused_{_name.lower()}", f"{_operation} {_name}", MOVED)(_fused(_operation, _name))


@cases.relation("identity", "CONV_2D", FLOATS)
def identity(lab: Lab) -> None:
    """A filter of one pixel that takes each channel once changes nothing."""
    given, net = lab.tensor(1, 224, 224, 3), lab.net()
    unit = numpy.eye(3).reshape(3, 1, 1, 3)
    filters = lab.full(0.0, 1)
    name = net.input(given)
    result = net.apply("CONV_2D", name, filters.of(unit.astype(filters.array.dtype)), lab.full(0.0, 3), 1, 1, 1, 0)
    lab.agree("identity", [*lab.run(net, result), given.array], roundings=1)
