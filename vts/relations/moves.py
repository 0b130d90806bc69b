"""What is moved there and back again is what it was; the same move written in two ways gives the same.

Tolerances: operations that move elements keep them, but the public tolerance is granted to each of them.
"""

from __future__ import annotations

import numpy

from npu_conformance.corpus.vectors import VectorOperand
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.vts.lib.relations.declare import RelationGroup
from npu_conformance.vts.lib.relations.fixture import Lab
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


def _kept(lab: Lab, given: Tensor, name: str, net: Net, *, roundings: int = 2) -> None:
    (found,) = lab.run(net, name)
    lab.agree("there and back again", [found, given.array], roundings=roundings)


def _back_and_forth(lab: Lab, given: Tensor, *steps: tuple[object, ...]) -> None:
    """Fail unless the operations, one after the other, give back what they got."""
    net = lab.net()
    name = net.input(given)
    for operation, *arguments in steps:
        name = net.apply(str(operation), name, *arguments)
    _kept(lab, given, name, net, roundings=len(steps))


@cases.relation("twice", "TRANSPOSE", MOVED)
def transposed_twice(lab: Lab) -> None:
    """Transposing by a permutation and then by its inverse changes nothing."""
    for order in ((0, 3, 1, 2), (3, 1, 0, 2)):
        inverse = tuple(int(axis) for axis in numpy.argsort(order))
        _back_and_forth(lab, lab.tensor(2, 56, 61, 19), ("TRANSPOSE", order), ("TRANSPOSE", inverse))


@cases.relation("two_steps", "TRANSPOSE", MOVED)
def transposed_in_two_steps(lab: Lab) -> None:
    """Two permutations, one after the other, are one."""
    given, first, second = lab.tensor(*_IMAGE), (0, 2, 1, 3), (3, 0, 1, 2)
    net = lab.net()
    name = net.input(given)
    twice = net.apply("TRANSPOSE", net.apply("TRANSPOSE", name, first), second)
    once = net.apply("TRANSPOSE", name, tuple(first[axis] for axis in second))
    lab.agree("two permutations and their product", lab.run(net, twice, once), roundings=3)


@cases.relation("there_and_back", "RESHAPE", MOVED)
def reshaped(lab: Lab) -> None:
    """Another shape and the first one again."""
    given = lab.tensor(*_IMAGE)
    _back_and_forth(lab, given, ("RESHAPE", (-1, 17)), ("RESHAPE", given.shape))


@cases.relation("squeezed_again", "EXPAND_DIMS SQUEEZE", MOVED)
def expanded(lab: Lab) -> None:
    """A dimension of size 1 that comes and goes."""
    for axis in (0, 2, -1):
        place = (axis + 4) % 4
        _back_and_forth(lab, lab.tensor(23, 17, 9), ("EXPAND_DIMS", axis), ("SQUEEZE", (place,)))


@cases.relation("sliced_again", "PAD SLICE", MOVED)
def padded(lab: Lab) -> None:
    """What was padded is cut out again."""
    given = lab.tensor(*_IMAGE)
    _back_and_forth(lab, given, ("PAD", [[0, 1], [3, 2], [1, 4], [5, 0]]), ("SLICE", (0, 3, 1, 5), given.shape))


@cases.relation("sliced_again", "PAD_V2 SLICE", MOVED)
def padded_with_a_value(lab: Lab) -> None:
    """What was padded with a value is cut out again."""
    given, value = lab.tensor(*_IMAGE), 7 if lab.kind in BYTES else 1.5
    paddings = [[1, 0], [2, 3], [4, 1], [0, 5]]
    _back_and_forth(lab, given, ("PAD_V2", paddings, value), ("SLICE", (1, 2, 4, 0), given.shape))


@cases.relation("sliced_again", "MIRROR_PAD SLICE", WITH_INTEGERS)
def mirrored(lab: Lab) -> None:
    """What was padded with its reflection is cut out again."""
    given = lab.tensor(*_IMAGE)
    for mode in (0, 1):
        paddings = [[1, 1], [9, 16], [2, 3], [0, 11]]
        _back_and_forth(lab, given, ("MIRROR_PAD", paddings, mode), ("SLICE", (1, 9, 2, 0), given.shape))


@cases.relation("mirrors_are_reversed", "MIRROR_PAD REVERSE SLICE", WITH_INTEGERS)
def mirrored_is_reversed(lab: Lab) -> None:
    """The reflection in front of a symmetrically padded axis is the reversed beginning of it."""
    net = lab.net()
    name = net.input(lab.tensor(3, 37))
    front = net.apply("SLICE", net.apply("MIRROR_PAD", name, [[0, 0], [21, 0]], 1), (0, 0), (3, 21))
    turned = net.apply("REVERSE", net.apply("SLICE", name, (0, 0), (3, 21)), (1,))
    lab.agree("reflection and reversed beginning", lab.run(net, front, turned), roundings=4)


@cases.relation("concatenated_again", "SPLIT CONCATENATION", MOVED)
def split(lab: Lab) -> None:
    """Parts, put together in their order, are the whole."""
    for axis, count in ((3, 6), (1, 23), (0, 2)):
        given, net = lab.tensor(*_IMAGE), lab.net()
        parts = net.results("SPLIT", [net.input(given), axis, count], [like(lab.kind)] * count)
        _kept(lab, given, net.apply("CONCATENATION", *parts, axis), net)


@cases.relation("sliced_again", "CONCATENATION SLICE", MOVED)
def concatenated(lab: Lab) -> None:
    """Each part of a concatenation can be cut out again, also those of sizes that are no multiple of anything."""
    net, parts = lab.net(), [lab.tensor(2, 9, 5, depth) for depth in (3, 33, 1, 18)]
    whole = net.apply("CONCATENATION", *[net.input(part) for part in parts], 3)
    begins = [0, 3, 36, 37]
    slices = [
        net.apply("SLICE", whole, (0, 0, 0, begin), part.shape) for begin, part in zip(begins, parts, strict=True)
    ]
    for part, found in zip(parts, lab.run(net, *slices), strict=True):
        lab.agree("part of a concatenation", [found, part.array], roundings=2)


@cases.relation("concatenated", "PACK EXPAND_DIMS CONCATENATION", MOVED)
def packed(lab: Lab) -> None:
    """Packing is giving each tensor a new axis and concatenating along it."""
    net = lab.net()
    names = [net.input(lab.tensor(23, 18)) for _ in range(5)]
    packs = [net.apply("PACK", axis, *names, result=like(lab.kind)) for axis in (0, 1, 2)]
    grown = [[net.apply("EXPAND_DIMS", name, axis) for name in names] for axis in (0, 1, 2)]
    joined = [net.apply("CONCATENATION", *parts, axis) for axis, parts in enumerate(grown)]
    results = lab.run(net, *packs, *joined)
    for one, other in zip(results[:3], results[3:], strict=True):
        lab.agree("packed and concatenated", [one, other], roundings=3)


@cases.relation("all_indices", "GATHER", WITH_INTEGERS)
def gathered(lab: Lab) -> None:
    """All slices along an axis, in their order, are the whole; another order and its inverse too."""
    order = numpy.roll(numpy.arange(23)[::-1], 5)
    inverse = tuple(int(index) for index in numpy.argsort(order))
    _back_and_forth(lab, lab.tensor(*_IMAGE), ("GATHER", 2, tuple(range(17))))
    _back_and_forth(lab, lab.tensor(*_IMAGE), ("GATHER", 1, tuple(map(int, order))), ("GATHER", -3, inverse))


@cases.relation("twice", "REVERSE", WITH_INTEGERS)
def reversed_twice(lab: Lab) -> None:
    """Reversing an axis twice changes nothing."""
    for axis in range(4):
        _back_and_forth(lab, lab.tensor(*_IMAGE), ("REVERSE", (axis,)), ("REVERSE", (axis,)))


@cases.relation("gathered_backwards", "REVERSE GATHER", WITH_INTEGERS)
def reversed_is_gathered(lab: Lab) -> None:
    """Reversing an axis is gathering its slices from the last to the first."""
    for axis, size in enumerate(_IMAGE):
        net = lab.net()
        name = net.input(lab.tensor(*_IMAGE))
        both = net.apply("REVERSE", name, (axis,)), net.apply("GATHER", name, axis, tuple(range(size))[::-1])
        lab.agree(f"axis {axis} reversed and gathered", lab.run(net, *both), roundings=2)


@cases.relation("there_and_back", "SPACE_TO_DEPTH DEPTH_TO_SPACE", MOVED)
def depth(lab: Lab) -> None:
    """Blocks go into the depth and out of it again, in either order."""
    _back_and_forth(lab, lab.tensor(2, 30, 42, 5), ("SPACE_TO_DEPTH", 3), ("DEPTH_TO_SPACE", 3))
    _back_and_forth(lab, lab.tensor(2, 13, 7, 20), ("DEPTH_TO_SPACE", 2), ("SPACE_TO_DEPTH", 2))


@cases.relation("there_and_back", "SPACE_TO_BATCH_ND BATCH_TO_SPACE_ND", MOVED)
def batches(lab: Lab) -> None:
    """Blocks go into the batch and out of it again, in either order."""
    none = [[0, 0], [0, 0]]
    _back_and_forth(lab, lab.tensor(2, 30, 42, 5), ("SPACE_TO_BATCH_ND", (2, 3), none), ("BATCH_TO_SPACE_ND", (2, 3)))
    _back_and_forth(lab, lab.tensor(12, 5, 7, 9), ("BATCH_TO_SPACE_ND", (3, 2)), ("SPACE_TO_BATCH_ND", (3, 2), none))


@cases.relation("padded_before", "SPACE_TO_BATCH_ND PAD", MOVED)
def padded_batches(lab: Lab) -> None:
    """Padding inside of SPACE_TO_BATCH_ND is padding in front of it."""
    net = lab.net()
    name = net.input(lab.tensor(2, 13, 22, 5))
    inside = net.apply("SPACE_TO_BATCH_ND", name, (3, 2), [[2, 0], [1, 3]])
    before = net.apply("PAD", name, [[0, 0], [2, 0], [1, 3], [0, 0]])
    before = net.apply("SPACE_TO_BATCH_ND", before, (3, 2), [[0, 0], [0, 0]])
    lab.agree("padded inside and before", lab.run(net, inside, before), roundings=3)


@cases.relation("there_and_back", "CHANNEL_SHUFFLE", MOVED)
def shuffled(lab: Lab) -> None:
    """Shuffling by groups and by the number of channels in a group is shuffling there and back."""
    for groups in (3, 8):
        back = 24 // groups
        _back_and_forth(lab, lab.tensor(2, 7, 5, 24), ("CHANNEL_SHUFFLE", groups, 3), ("CHANNEL_SHUFFLE", back, -1))


@cases.relation("transposed", "CHANNEL_SHUFFLE RESHAPE TRANSPOSE", MOVED)
def shuffled_is_transposed(lab: Lab) -> None:
    """Shuffling is reshaping the channels into groups, exchanging the two, and reshaping again."""
    net = lab.net()
    name = net.input(lab.tensor(35, 24))
    turned = net.apply("TRANSPOSE", net.apply("RESHAPE", name, (35, 4, 6)), (0, 2, 1))
    both = net.apply("CHANNEL_SHUFFLE", name, 4, 1), net.apply("RESHAPE", turned, (35, 24))
    lab.agree("shuffled and transposed", lab.run(net, *both), roundings=4)


@cases.relation("sliced", "STRIDED_SLICE SLICE", MOVED)
def strided(lab: Lab) -> None:
    """With strides of 1 it is a slice."""
    net = lab.net()
    name = net.input(lab.tensor(*_IMAGE))
    one = net.apply("STRIDED_SLICE", name, (0, 5, 1, 2), (2, 22, 17, 12), (1, 1, 1, 1), 0, 0, 0)
    other = net.apply("SLICE", name, (0, 5, 1, 2), (2, 17, 16, -1))
    lab.agree("strided slice and slice", lab.run(net, one, other), roundings=2)


@cases.relation("interleaved", "STRIDED_SLICE GATHER", MOVED)
def strides_are_indices(lab: Lab) -> None:
    """A stride picks every so many slices, forward and backward."""
    for begin, end, stride in ((1, 23, 3), (0, 20, 7), (22, 2, -4)):
        net = lab.net()
        name = net.input(lab.tensor(23, 17))
        one = net.apply("STRIDED_SLICE", name, (begin, 0), (end, 17), (stride, 1), 0, 0, 0)
        other = net.apply("GATHER", name, 0, tuple(range(begin, end, stride)))
        lab.agree(f"stride {stride} and its indices", lab.run(net, one, other), roundings=2)


@cases.relation("copies", "TILE CONCATENATION", MOVED)
def tiled(lab: Lab) -> None:
    """A tile is copies, concatenated along each axis."""
    net = lab.net()
    name = net.input(lab.tensor(7, 11, 3))
    rows = net.apply("CONCATENATION", name, name, name, 1)
    both = net.apply("TILE", name, (2, 3, 1)), net.apply("CONCATENATION", rows, rows, 0)
    lab.agree("tile and copies", lab.run(net, *both), roundings=3)


@cases.relation("same_size", "RESIZE_NEAREST_NEIGHBOR", MOVED)
def nearest_neighbour(lab: Lab) -> None:
    """To its own size an image is not changed."""
    given = lab.tensor(*_IMAGE)
    _back_and_forth(lab, given, ("RESIZE_NEAREST_NEIGHBOR", given.shape[2], given.shape[1], False))


@cases.relation("twice_as_large", "RESIZE_NEAREST_NEIGHBOR STRIDED_SLICE", MOVED)
def twice_as_large(lab: Lab) -> None:
    """Every second pixel of twice the size is the image."""
    given, net = lab.tensor(*_IMAGE), lab.net()
    large = net.apply("RESIZE_NEAREST_NEIGHBOR", net.input(given), 34, 46, False)
    for begin in ((0, 0, 0, 0), (0, 1, 1, 0)):
        small = net.apply("STRIDED_SLICE", large, begin, (2, 46, 34, 12), (1, 2, 2, 1), 0, 0, 0)
        _kept(lab, given, small, net)


@cases.relation("same_size", "RESIZE_BILINEAR", MOVED)
def bilinear(lab: Lab) -> None:
    """To its own size an image is not changed."""
    given = lab.tensor(*_IMAGE)
    _back_and_forth(lab, given, ("RESIZE_BILINEAR", given.shape[2], given.shape[1]))


@cases.relation("there_and_back", "DEQUANTIZE QUANTIZE", BYTES)
def quantised_again(lab: Lab) -> None:
    """Real values of stored integers are stored as these integers again, give or take a step."""
    given, net = lab.tensor(*_IMAGE), lab.net()
    real = net.apply("DEQUANTIZE", net.input(given), result=like(FLOAT32))
    _kept(lab, given, net.apply("QUANTIZE", real, result=like(lab.kind)), net, roundings=1)


@cases.relation("through_float32", "CAST", (FLOAT16, INT32, UNSIGNED))
def cast(lab: Lab) -> None:
    """What float32 holds exactly goes there and comes back."""
    given, net = lab.tensor(*_IMAGE), lab.net()
    there = net.apply("CAST", net.input(given), result=like(FLOAT32))
    _kept(lab, given, net.apply("CAST", there, result=like(lab.kind)), net)


@cases.relation("gathered", "EMBEDDING_LOOKUP GATHER", WITH_INTEGERS)
def embedding(lab: Lab) -> None:
    """Rows that are looked up are rows that are gathered."""
    net = lab.net()
    name, rows = net.input(lab.tensor(97, 19)), net.input(lab.integers(41, low=0, high=96))
    both = net.apply("EMBEDDING_LOOKUP", rows, name, result=like(lab.kind)), net.apply("GATHER", name, 0, rows)
    lab.agree("looked up and gathered", lab.run(net, *both), roundings=2)


@cases.relation("all_keys", "HASHTABLE_LOOKUP", (FLOAT32, INT32, UNSIGNED))
def hashtable(lab: Lab) -> None:
    """All keys in their order give all values."""
    given, net, keys = lab.tensor(67, 19), lab.net(), tuple(range(-3, 200, 3))[:67]
    arguments = [keys, keys, net.input(given)]
    values, hits = net.results("HASHTABLE_LOOKUP", arguments, [like(lab.kind), like(UNSIGNED, 1.0, 0)])
    lab.agree("values of all keys", [lab.run(net, values, hits)[0], given.array], roundings=1)


@cases.relation("exchanged", "SELECT LOGICAL_NOT", WITH_INTEGERS)
def selected(lab: Lab) -> None:
    """With the opposite condition and the inputs exchanged the same is selected."""
    net = lab.net()
    condition, one, other = (net.input(lab.tensor(23, 17, kind=kind)) for kind in (BOOL8, lab.kind, lab.kind))
    usual = net.apply("SELECT", condition, one, other, result=like(lab.kind))
    opposite = net.apply("SELECT", net.apply("LOGICAL_NOT", condition), other, one, result=like(lab.kind))
    lab.agree("selected in two ways", lab.run(net, usual, opposite), roundings=2)


@cases.relation("indices_and_values", "TOPK_V2 GATHER", WITH_INTEGERS)
def largest(lab: Lab) -> None:
    """The values are those at the indices, and with all of them they fall."""
    given, net = lab.distinct(131), lab.net()
    values, indices = net.results("TOPK_V2", [net.input(given), 131], [like(lab.kind), like(INT32)])
    found, places = lab.run(net, values, indices)
    lab.agree("values at the indices", [found, given.array[places]], roundings=1)
    lab.agree("values", [found, numpy.sort(given.array)[::-1]], roundings=1)


@cases.relation("tiled", "FILL TILE", (*FLOATS, INT32))
def filled(lab: Lab) -> None:
    """Filling is tiling one number."""
    scalar = {FLOAT32: OperandType.FLOAT32, FLOAT16: OperandType.FLOAT16, INT32: OperandType.INT32}[lab.kind]
    net, number = lab.net(), lab.full(7, 1)
    value = net.input(Tensor(VectorOperand(scalar), number.array.reshape(())))
    one = net.apply("FILL", (23, 17), value, result=like(lab.kind))
    other = net.apply("TILE", net.input(number), (391,))
    found, expected = lab.run(net, one, other)
    lab.agree("filled and tiled", [found.ravel(), expected], roundings=2)
