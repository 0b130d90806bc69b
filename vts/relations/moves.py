"""Moves: what is moved there and back again is what it was; one move written in two ways gives the same.

Tolerances: operations that move elements keep them, but the public tolerance is granted to each of them.
"""

from __future__ import annotations

from npu_conformance.corpus.vectors import VectorOperand
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.vts.lib.relations.declare import RelationGroup
from npu_conformance.vts.lib.relations.fixture import RelationFixture
from npu_conformance.vts.lib.relations.nets import (
    BOOL8,
    BYTES,
    FLOAT16,
    FLOAT32,
    FLOATS,
    INT32,
    MOVED,
    UNSIGNED,
    WITH_INTEGERS,
    Net,
    Tensor,
    like,
)

cases = RelationGroup()

_IMAGE = (2, 23, 17, 12)
"""Neither square nor a multiple of 8, and more than one batch."""


def _kept(fixture: RelationFixture, given: Tensor, name: str, net: Net, *, roundings: int = 2) -> None:
    (found,) = fixture.run(net, name)
    fixture.agree("there and back again", [found, given.array], roundings=roundings)


def _back_and_forth(fixture: RelationFixture, given: Tensor, *steps: tuple[object, ...]) -> None:
    """Fail unless the operations, one after the other, give back what they got."""
    net = fixture.net()
    name = net.input(given)
    for operation, *arguments in steps:
        name = net.apply(str(operation), name, *arguments)
    _kept(fixture, given, name, net, roundings=len(steps))


@cases.relation("twice", "TRANSPOSE", MOVED)
def transposed_twice(fixture: RelationFixture) -> None:
    """Transposing by a permutation and then by its inverse changes nothing."""
    import numpy

    for order in ((0, 3, 1, 2), (3, 1, 0, 2)):
        inverse = tuple(int(axis) for axis in numpy.argsort(order))
        _back_and_forth(fixture, fixture.tensor(2, 56, 61, 19), ("TRANSPOSE", order), ("TRANSPOSE", inverse))


@cases.relation("two_steps", "TRANSPOSE", MOVED)
def transposed_in_two_steps(fixture: RelationFixture) -> None:
    """Two permutations, one after the other, are one."""
    given, first, second = fixture.tensor(*_IMAGE), (0, 2, 1, 3), (3, 0, 1, 2)
    net = fixture.net()
    name = net.input(given)
    twice = net.apply("TRANSPOSE", net.apply("TRANSPOSE", name, first), second)
    once = net.apply("TRANSPOSE", name, tuple(first[axis] for axis in second))
    fixture.agree("two permutations and their product", fixture.run(net, twice, once), roundings=3)


@cases.relation("there_and_back", "RESHAPE", MOVED)
def reshaped(fixture: RelationFixture) -> None:
    """Another shape, and then the first one again, changes nothing."""
    given = fixture.tensor(*_IMAGE)
    _back_and_forth(fixture, given, ("RESHAPE", (-1, 17)), ("RESHAPE", given.shape))


@cases.relation("squeezed_again", "EXPAND_DIMS SQUEEZE", MOVED)
def expanded(fixture: RelationFixture) -> None:
    """A dimension of size 1 that comes and goes changes nothing."""
    for axis in (0, 2, -1):
        place = (axis + 4) % 4
        _back_and_forth(fixture, fixture.tensor(23, 17, 9), ("EXPAND_DIMS", axis), ("SQUEEZE", (place,)))


@cases.relation("sliced_again", "PAD SLICE", MOVED)
def padded(fixture: RelationFixture) -> None:
    """A tensor that was padded is cut out again."""
    given = fixture.tensor(*_IMAGE)
    _back_and_forth(fixture, given, ("PAD", [[0, 1], [3, 2], [1, 4], [5, 0]]), ("SLICE", (0, 3, 1, 5), given.shape))


@cases.relation("sliced_again", "PAD_V2 SLICE", MOVED)
def padded_with_a_value(fixture: RelationFixture) -> None:
    """A tensor that was padded with a value is cut out again."""
    given, value = fixture.tensor(*_IMAGE), 7 if fixture.operand_type in BYTES else 1.5
    paddings = [[1, 0], [2, 3], [4, 1], [0, 5]]
    _back_and_forth(fixture, given, ("PAD_V2", paddings, value), ("SLICE", (1, 2, 4, 0), given.shape))


@cases.relation("sliced_again", "MIRROR_PAD SLICE", WITH_INTEGERS)
def mirrored(fixture: RelationFixture) -> None:
    """A tensor that was padded with its reflection is cut out again."""
    given = fixture.tensor(*_IMAGE)
    for mode in (0, 1):
        paddings = [[1, 1], [9, 16], [2, 3], [0, 11]]
        _back_and_forth(fixture, given, ("MIRROR_PAD", paddings, mode), ("SLICE", (1, 9, 2, 0), given.shape))


@cases.relation("mirrors_are_reversed", "MIRROR_PAD REVERSE SLICE", WITH_INTEGERS)
def mirrored_is_reversed(fixture: RelationFixture) -> None:
    """The reflection in front of a symmetrically padded axis is the reversed beginning of it."""
    net = fixture.net()
    name = net.input(fixture.tensor(3, 37))
    front = net.apply("SLICE", net.apply("MIRROR_PAD", name, [[0, 0], [21, 0]], 1), (0, 0), (3, 21))
    turned = net.apply("REVERSE", net.apply("SLICE", name, (0, 0), (3, 21)), (1,))
    fixture.agree("reflection and reversed beginning", fixture.run(net, front, turned), roundings=4)


@cases.relation("concatenated_again", "SPLIT CONCATENATION", MOVED)
def split(fixture: RelationFixture) -> None:
    """Parts, put together in their order, are the whole."""
    for axis, count in ((3, 6), (1, 23), (0, 2)):
        given, net = fixture.tensor(*_IMAGE), fixture.net()
        parts = net.results("SPLIT", [net.input(given), axis, count], [like(fixture.operand_type)] * count)
        _kept(fixture, given, net.apply("CONCATENATION", *parts, axis), net)


@cases.relation("sliced_again", "CONCATENATION SLICE", MOVED)
def concatenated(fixture: RelationFixture) -> None:
    """Each part of a concatenation can be cut out again, also those of sizes that are no multiple of anything."""
    net, parts = fixture.net(), [fixture.tensor(2, 9, 5, depth) for depth in (3, 33, 1, 18)]
    whole = net.apply("CONCATENATION", *[net.input(part) for part in parts], 3)
    begins = [0, 3, 36, 37]
    slices = [
        net.apply("SLICE", whole, (0, 0, 0, begin), part.shape) for begin, part in zip(begins, parts, strict=True)
    ]
    for part, found in zip(parts, fixture.run(net, *slices), strict=True):
        fixture.agree("part of a concatenation", [found, part.array], roundings=2)


@cases.relation("concatenated", "PACK EXPAND_DIMS CONCATENATION", MOVED)
def packed(fixture: RelationFixture) -> None:
    """Packing is giving each tensor a new axis and concatenating along it."""
    net = fixture.net()
    names = [net.input(fixture.tensor(23, 18)) for _ in range(5)]
    packs = [net.apply("PACK", axis, *names, result=like(fixture.operand_type)) for axis in (0, 1, 2)]
    grown = [[net.apply("EXPAND_DIMS", name, axis) for name in names] for axis in (0, 1, 2)]
    joined = [net.apply("CONCATENATION", *parts, axis) for axis, parts in enumerate(grown)]
    results = fixture.run(net, *packs, *joined)
    for one, other in zip(results[:3], results[3:], strict=True):
        fixture.agree("packed and concatenated", [one, other], roundings=3)


@cases.relation("all_indices", "GATHER", WITH_INTEGERS)
def gathered(fixture: RelationFixture) -> None:
    """All slices along an axis, in their order, are the whole; another order and its inverse too."""
    import numpy

    order = numpy.roll(numpy.arange(23)[::-1], 5)
    inverse = tuple(int(index) for index in numpy.argsort(order))
    _back_and_forth(fixture, fixture.tensor(*_IMAGE), ("GATHER", 2, tuple(range(17))))
    _back_and_forth(fixture, fixture.tensor(*_IMAGE), ("GATHER", 1, tuple(map(int, order))), ("GATHER", -3, inverse))


@cases.relation("twice", "REVERSE", WITH_INTEGERS)
def reversed_twice(fixture: RelationFixture) -> None:
    """Reversing an axis twice changes nothing."""
    for axis in range(4):
        _back_and_forth(fixture, fixture.tensor(*_IMAGE), ("REVERSE", (axis,)), ("REVERSE", (axis,)))


@cases.relation("gathered_backwards", "REVERSE GATHER", WITH_INTEGERS)
def reversed_is_gathered(fixture: RelationFixture) -> None:
    """Reversing an axis is gathering its slices from the last to the first."""
    for axis, size in enumerate(_IMAGE):
        net = fixture.net()
        name = net.input(fixture.tensor(*_IMAGE))
        both = net.apply("REVERSE", name, (axis,)), net.apply("GATHER", name, axis, tuple(range(size))[::-1])
        fixture.agree(f"axis {axis} reversed and gathered", fixture.run(net, *both), roundings=2)


@cases.relation("there_and_back", "SPACE_TO_DEPTH DEPTH_TO_SPACE", MOVED)
def depth(fixture: RelationFixture) -> None:
    """Blocks go into the depth and out of it again, in either order."""
    _back_and_forth(fixture, fixture.tensor(2, 30, 42, 5), ("SPACE_TO_DEPTH", 3), ("DEPTH_TO_SPACE", 3))
    _back_and_forth(fixture, fixture.tensor(2, 13, 7, 20), ("DEPTH_TO_SPACE", 2), ("SPACE_TO_DEPTH", 2))


@cases.relation("there_and_back", "SPACE_TO_BATCH_ND BATCH_TO_SPACE_ND", MOVED)
def batches(fixture: RelationFixture) -> None:
    """Blocks go into the batch and out of it again, in either order."""
    none = [[0, 0], [0, 0]]
    _back_and_forth(
        fixture, fixture.tensor(2, 30, 42, 5), ("SPACE_TO_BATCH_ND", (2, 3), none), ("BATCH_TO_SPACE_ND", (2, 3))
    )
    _back_and_forth(
        fixture, fixture.tensor(12, 5, 7, 9), ("BATCH_TO_SPACE_ND", (3, 2)), ("SPACE_TO_BATCH_ND", (3, 2), none)
    )


@cases.relation("padded_before", "SPACE_TO_BATCH_ND PAD", MOVED)
def padded_batches(fixture: RelationFixture) -> None:
    """Padding inside of SPACE_TO_BATCH_ND is padding in front of it."""
    net = fixture.net()
    name = net.input(fixture.tensor(2, 13, 22, 5))
    inside = net.apply("SPACE_TO_BATCH_ND", name, (3, 2), [[2, 0], [1, 3]])
    before = net.apply("PAD", name, [[0, 0], [2, 0], [1, 3], [0, 0]])
    before = net.apply("SPACE_TO_BATCH_ND", before, (3, 2), [[0, 0], [0, 0]])
    fixture.agree("padded inside and before", fixture.run(net, inside, before), roundings=3)


@cases.relation("there_and_back", "CHANNEL_SHUFFLE", MOVED)
def shuffled(fixture: RelationFixture) -> None:
    """Shuffling by groups and by the number of channels in a group is shuffling there and back."""
    for groups in (3, 8):
        back = 24 // groups
        _back_and_forth(
            fixture, fixture.tensor(2, 7, 5, 24), ("CHANNEL_SHUFFLE", groups, 3), ("CHANNEL_SHUFFLE", back, -1)
        )


@cases.relation("transposed", "CHANNEL_SHUFFLE RESHAPE TRANSPOSE", MOVED)
def shuffled_is_transposed(fixture: RelationFixture) -> None:
    """Shuffling is reshaping the channels into groups, exchanging the two, and reshaping again."""
    net = fixture.net()
    name = net.input(fixture.tensor(35, 24))
    turned = net.apply("TRANSPOSE", net.apply("RESHAPE", name, (35, 4, 6)), (0, 2, 1))
    both = net.apply("CHANNEL_SHUFFLE", name, 4, 1), net.apply("RESHAPE", turned, (35, 24))
    fixture.agree("shuffled and transposed", fixture.run(net, *both), roundings=4)


@cases.relation("sliced", "STRIDED_SLICE SLICE", MOVED)
def strided(fixture: RelationFixture) -> None:
    """With strides of 1 a strided slice is a slice."""
    net = fixture.net()
    name = net.input(fixture.tensor(*_IMAGE))
    one = net.apply("STRIDED_SLICE", name, (0, 5, 1, 2), (2, 22, 17, 12), (1, 1, 1, 1), 0, 0, 0)
    other = net.apply("SLICE", name, (0, 5, 1, 2), (2, 17, 16, -1))
    fixture.agree("strided slice and slice", fixture.run(net, one, other), roundings=2)


@cases.relation("interleaved", "STRIDED_SLICE GATHER", MOVED)
def strides_are_indices(fixture: RelationFixture) -> None:
    """A stride picks every so many slices, forward and backward."""
    for begin, end, stride in ((1, 23, 3), (0, 20, 7), (22, 2, -4)):
        net = fixture.net()
        name = net.input(fixture.tensor(23, 17))
        one = net.apply("STRIDED_SLICE", name, (begin, 0), (end, 17), (stride, 1), 0, 0, 0)
        other = net.apply("GATHER", name, 0, tuple(range(begin, end, stride)))
        fixture.agree(f"stride {stride} and its indices", fixture.run(net, one, other), roundings=2)


@cases.relation("copies", "TILE CONCATENATION", MOVED)
def tiled(fixture: RelationFixture) -> None:
    """A tile is copies, concatenated along each axis."""
    net = fixture.net()
    name = net.input(fixture.tensor(7, 11, 3))
    rows = net.apply("CONCATENATION", name, name, name, 1)
    both = net.apply("TILE", name, (2, 3, 1)), net.apply("CONCATENATION", rows, rows, 0)
    fixture.agree("tile and copies", fixture.run(net, *both), roundings=3)


@cases.relation("same_size", "RESIZE_NEAREST_NEIGHBOR", MOVED)
def nearest_neighbour(fixture: RelationFixture) -> None:
    """To its own size an image is not changed."""
    given = fixture.tensor(*_IMAGE)
    _back_and_forth(fixture, given, ("RESIZE_NEAREST_NEIGHBOR", given.shape[2], given.shape[1], False))


@cases.relation("twice_as_large", "RESIZE_NEAREST_NEIGHBOR STRIDED_SLICE", MOVED)
def twice_as_large(fixture: RelationFixture) -> None:
    """Every second pixel of twice the size is the image."""
    given, net = fixture.tensor(*_IMAGE), fixture.net()
    large = net.apply("RESIZE_NEAREST_NEIGHBOR", net.input(given), 34, 46, False)
    for begin in ((0, 0, 0, 0), (0, 1, 1, 0)):
        small = net.apply("STRIDED_SLICE", large, begin, (2, 46, 34, 12), (1, 2, 2, 1), 0, 0, 0)
        _kept(fixture, given, small, net)


@cases.relation("same_size", "RESIZE_BILINEAR", MOVED)
def bilinear(fixture: RelationFixture) -> None:
    """To its own size an image is not changed."""
    given = fixture.tensor(*_IMAGE)
    _back_and_forth(fixture, given, ("RESIZE_BILINEAR", given.shape[2], given.shape[1]))


@cases.relation("there_and_back", "DEQUANTIZE QUANTIZE", BYTES)
def quantised_again(fixture: RelationFixture) -> None:
    """Real values of stored integers are stored as these integers again, give or take a step."""
    given, net = fixture.tensor(*_IMAGE), fixture.net()
    real = net.apply("DEQUANTIZE", net.input(given), result=like(FLOAT32))
    _kept(fixture, given, net.apply("QUANTIZE", real, result=like(fixture.operand_type)), net, roundings=1)


@cases.relation("through_float32", "CAST", (FLOAT16, INT32, UNSIGNED))
def cast(fixture: RelationFixture) -> None:
    """Values that float32 holds exactly are cast there and back without a change."""
    given, net = fixture.tensor(*_IMAGE), fixture.net()
    there = net.apply("CAST", net.input(given), result=like(FLOAT32))
    _kept(fixture, given, net.apply("CAST", there, result=like(fixture.operand_type)), net)


@cases.relation("gathered", "EMBEDDING_LOOKUP GATHER", WITH_INTEGERS)
def embedding(fixture: RelationFixture) -> None:
    """Rows that are looked up are rows that are gathered."""
    net = fixture.net()
    name, rows = net.input(fixture.tensor(97, 19)), net.input(fixture.integers(41, low=0, high=96))
    both = (
        net.apply("EMBEDDING_LOOKUP", rows, name, result=like(fixture.operand_type)),
        net.apply("GATHER", name, 0, rows),
    )
    fixture.agree("looked up and gathered", fixture.run(net, *both), roundings=2)


@cases.relation("all_keys", "HASHTABLE_LOOKUP", (FLOAT32, INT32, UNSIGNED))
def hashtable(fixture: RelationFixture) -> None:
    """All keys in their order give all values."""
    given, net, keys = fixture.tensor(67, 19), fixture.net(), tuple(range(-3, 200, 3))[:67]
    arguments = [keys, keys, net.input(given)]
    values, hits = net.results("HASHTABLE_LOOKUP", arguments, [like(fixture.operand_type), like(UNSIGNED, 1.0, 0)])
    fixture.agree("values of all keys", [fixture.run(net, values, hits)[0], given.array], roundings=1)


@cases.relation("exchanged", "SELECT LOGICAL_NOT", WITH_INTEGERS)
def selected(fixture: RelationFixture) -> None:
    """With the opposite condition and the inputs exchanged the same is selected."""
    net = fixture.net()
    condition, one, other = (
        net.input(fixture.tensor(23, 17, operand_type=operand_type))
        for operand_type in (BOOL8, fixture.operand_type, fixture.operand_type)
    )
    usual = net.apply("SELECT", condition, one, other, result=like(fixture.operand_type))
    opposite = net.apply("SELECT", net.apply("LOGICAL_NOT", condition), other, one, result=like(fixture.operand_type))
    fixture.agree("selected in two ways", fixture.run(net, usual, opposite), roundings=2)


@cases.relation("indices_and_values", "TOPK_V2 GATHER", WITH_INTEGERS)
def largest(fixture: RelationFixture) -> None:
    """The largest values are those at their indices, and all values together descend."""
    import numpy

    given, net = fixture.distinct(131), fixture.net()
    values, indices = net.results("TOPK_V2", [net.input(given), 131], [like(fixture.operand_type), like(INT32)])
    found, places = fixture.run(net, values, indices)
    fixture.agree("values at the indices", [found, given.array[places]], roundings=1)
    fixture.agree("values", [found, numpy.sort(given.array)[::-1]], roundings=1)


@cases.relation("tiled", "FILL TILE", (*FLOATS, INT32))
def filled(fixture: RelationFixture) -> None:
    """Filling is tiling one number."""
    scalar = {FLOAT32: OperandType.FLOAT32, FLOAT16: OperandType.FLOAT16, INT32: OperandType.INT32}[
        fixture.operand_type
    ]
    net, number = fixture.net(), fixture.full(7, 1)
    value = net.input(Tensor(VectorOperand(scalar), number.array.reshape(())))
    one = net.apply("FILL", (23, 17), value, result=like(fixture.operand_type))
    other = net.apply("TILE", net.input(number), (391,))
    found, expected = fixture.run(net, one, other)
    fixture.agree("filled and tiled", [found.ravel(), expected], roundings=2)
