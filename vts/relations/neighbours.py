"""Operations that compilers fuse, move past each other or take for each other's memory: each pair in one model, against
the same two operations in models of their own. docs/reported-bugs.md names the reports that the pairs come from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.relations.chains import Chain, Step, neighbours_agree
from npu_conformance.vts.lib.relations.declare import Check, RelationGroup
from npu_conformance.vts.lib.relations.fixture import RelationFixture
from npu_conformance.vts.lib.relations.nets import BYTES, FLOATS, MOVED, Net, Tensor, like
from npu_conformance.vts.lib.relations.product_operands import bias, output, weights

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

cases = RelationGroup()
_SHAPE = (2, 5, 7, 8)
_UNEVEN = [(0, 0), (0, 1), (2, 1), (0, 0)]
_TURNED = (0, 3, 1, 2)
_VALID = 2


def _step(operation: str, *arguments: object) -> Step:
    return lambda net, name: net.apply(operation, name, *arguments)


def _quantize(kind: OperandType) -> Step:
    return lambda net, name: net.apply("QUANTIZE", name, result=like(kind))


def _joined(fixture: RelationFixture, *shape: int) -> Step:
    """Beside a constant: of other quantisation, where there is any and the version lets it be another."""
    other = fixture.tensor(*shape)
    if other.operand.scale and fixture.context.version >= Version.V1_2:
        scale, zero_point = other.operand.scale * 0.75, other.operand.zero_point + 7
        other = Tensor(structs.replace(other.operand, scale=scale, zero_point=zero_point), other.array)
    return lambda net, name: net.apply("CONCATENATION", name, other, len(shape) - 1)


@cases.relation("in_front", "QUANTIZE RELU6 RELU1 RELU MUL TRANSPOSE RESHAPE PAD", FLOATS, since=Version.V1_2)
def in_front_of_quantize(fixture: RelationFixture) -> None:
    """What stands in front of QUANTIZE keeps its effect: limits, factors, orders, padding."""
    given = fixture.tensor(*_SHAPE, low=-8.0, high=8.0)
    first = {
        "RELU6": _step("RELU6"),
        "RELU1": _step("RELU1"),
        "RELU": _step("RELU"),
        "MUL by a constant": _step("MUL", fixture.full(0.25, 1), 0),
        "TRANSPOSE": _step("TRANSPOSE", _TURNED),
        "RESHAPE": _step("RESHAPE", (10, 56)),
        "PAD": _step("PAD", _UNEVEN),
    }
    second = _quantize(BYTES[0])
    neighbours_agree(fixture, given, {f"{name} and QUANTIZE": Chain(one, second) for name, one in first.items()})


@cases.relation("behind", "QUANTIZE CONCATENATION RESHAPE TRANSPOSE PAD MAX_POOL_2D ADD", FLOATS, since=Version.V1_2)
def behind_quantize(fixture: RelationFixture) -> None:
    """What stands behind QUANTIZE computes with what it stores."""
    given, stored = fixture.tensor(*_SHAPE, low=-6.0, high=6.0), RelationFixture(fixture.context, BYTES[0])
    second = {
        "CONCATENATION": _joined(stored, *_SHAPE),
        "RESHAPE": _step("RESHAPE", (10, 56)),
        "TRANSPOSE": _step("TRANSPOSE", _TURNED),
        "PAD": _step("PAD", _UNEVEN),
        "MAX_POOL_2D": _step("MAX_POOL_2D", _VALID, 1, 2, 2, 2, 0),
        "ADD": _step("ADD", stored.tensor(8), 0),
    }
    first = _quantize(BYTES[0])
    neighbours_agree(fixture, given, {f"QUANTIZE and {name}": Chain(first, one) for name, one in second.items()})


@cases.relation("two_of_one_input", "QUANTIZE", FLOATS, since=Version.V1_2)
def quantized_twice(fixture: RelationFixture) -> None:
    """One input is quantised in two ways in one model: each is what it is alone."""
    given = fixture.tensor(*_SHAPE, low=-6.0, high=6.0)
    wanted = [like(BYTES[0]), like(BYTES[0], 1 / 32, 100)]

    def run(*chosen: int) -> list[Array]:
        net = fixture.net()
        name = net.input(given)
        return fixture.run(net, *(net.apply("QUANTIZE", name, result=wanted[one]) for one in chosen))

    together = run(0, 1)
    for number in range(2):
        fixture.agree("QUANTIZE twice", [together[number], *run(number)], roundings=2, operand_type=BYTES[0])


@cases.relation("in_front", "PAD CONV_2D DEPTHWISE_CONV_2D MAX_POOL_2D AVERAGE_POOL_2D", MOVED)
def behind_pad(fixture: RelationFixture) -> None:
    """Uneven padding in front of a window stays where it was, and what it is."""
    given = fixture.steps(*_SHAPE, step=0.5)
    filters, depthwise, offsets = weights(fixture, 3, 3, 2, 8), weights(fixture, 1, 3, 2, 8), bias(fixture, 3)
    channel_offsets, result = bias(fixture, 8), output(fixture)

    def conv(net: Net, name: str) -> str:
        return net.apply("CONV_2D", name, filters, offsets, _VALID, 1, 2, 0, result=result)

    def depthwise_conv(net: Net, name: str) -> str:
        arguments = (depthwise, channel_offsets, _VALID, 1, 2, 1, 0)
        return net.apply("DEPTHWISE_CONV_2D", name, *arguments, result=result)

    second: dict[str, Step] = {
        "CONV_2D": conv,
        "DEPTHWISE_CONV_2D": depthwise_conv,
        "MAX_POOL_2D": _step("MAX_POOL_2D", _VALID, 1, 2, 2, 3, 0),
        "AVERAGE_POOL_2D": _step("AVERAGE_POOL_2D", _VALID, 1, 2, 2, 3, 0),
    }
    pad = _step("PAD", _UNEVEN)
    neighbours_agree(fixture, given, {f"PAD and {name}": Chain(pad, one) for name, one in second.items()})


@cases.relation("in_front", "TRANSPOSE SOFTMAX CONCATENATION MEAN RESHAPE", MOVED)
def behind_transpose(fixture: RelationFixture) -> None:
    """What stands behind TRANSPOSE finds the axes where they are now."""
    given, turned = fixture.tensor(*_SHAPE), tuple(_SHAPE[axis] for axis in _TURNED)
    probabilities = like(fixture.operand_type)
    if fixture.operand_type in BYTES:
        probabilities = like(fixture.operand_type, 1 / 256, 0 if fixture.operand_type is BYTES[0] else -128)

    def softmax(net: Net, name: str) -> str:
        return net.apply("SOFTMAX", name, 1.0, result=probabilities)

    second: dict[str, Step] = {
        "SOFTMAX": softmax,
        "CONCATENATION": _joined(fixture, *turned),
        "MEAN": _step("MEAN", (1,), 1),
        "RESHAPE": _step("RESHAPE", (16, 35)),
    }
    first = _step("TRANSPOSE", _TURNED)
    neighbours_agree(fixture, given, {f"TRANSPOSE and {name}": Chain(first, one) for name, one in second.items()})


def _resized(operation: str) -> Step:
    layout = (False,) if operation == "RESIZE_NEAREST_NEIGHBOR" else ()
    return _step(operation, 15, 11, *layout)


def _read(operation: str) -> Check:
    resized, reshaped = _resized(operation), _step("RESHAPE", (1, 11, 15, 8))

    def check(fixture: RelationFixture) -> None:
        """A resized image is the same for the client, for one reader, for two, and for a reader beside the client."""
        given = fixture.tensor(1, 5, 7, 8)

        def run(readers: int, *, is_result: bool) -> list[Array]:
            net = fixture.net()
            name = resized(net, net.input(given))
            return fixture.run(net, *[name] * is_result, *(reshaped(net, name) for _ in range(readers)))

        (expected,) = run(0, is_result=True)
        for found in (*run(1, is_result=False), *run(2, is_result=False), *run(1, is_result=True)):
            fixture.agree(operation, [found, expected], roundings=2)

    return check


for _operation in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"):
    cases.relation("read", f"{_operation} RESHAPE", MOVED)(_read(_operation))
