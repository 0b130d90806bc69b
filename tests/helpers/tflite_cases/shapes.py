"""What moves elements, and parts of tensors."""

from __future__ import annotations

from tflite_files import Graph

from tflite_cases.common import F2, F4, Q, bytes_of, case


@case("RESHAPE")
def reshape(graph: Graph) -> int:
    return graph.operator("RESHAPE", [graph.input(*F2), graph.constant("INT32", [2, -1])], ("FLOAT32", (2, 6)))


@case("RESHAPE.computed_shape")
def computed_shape(graph: Graph) -> int:
    """What converters make of a batch that they do not know: SHAPE, STRIDED_SLICE, PACK."""
    given = graph.input("FLOAT32", (2, 3, 4))
    shape = graph.operator("SHAPE", [given], ("INT32", (3,)), "Shape", outType=2)
    bounds = [graph.constant("INT32", [at]) for at in (0, 1, 1)]
    batch = graph.operator("STRIDED_SLICE", [shape, *bounds], ("INT32", ()), "StridedSlice", shrinkAxisMask=1)
    wanted = graph.operator("PACK", [batch, graph.constant("INT32", 12)], ("INT32", (2,)), "Pack", valuesCount=2)
    return graph.operator("RESHAPE", [given, wanted], ("FLOAT32", (2, 12)))


@case("SHAPE")
@case("RANK")
def shape_and_rank(graph: Graph) -> list[int]:
    given = graph.input("FLOAT32", (2, 3, 4))
    shape = graph.operator("SHAPE", [given], ("INT32", (3,)), "Shape", outType=2)
    rank = graph.operator("RANK", [given], ("INT32", ()))
    return [shape, rank, graph.operator("ABS", [given], ("FLOAT32", (2, 3, 4)))]


@case("SQUEEZE")
def squeeze(graph: Graph) -> int:
    given = graph.input("FLOAT32", (1, 3, 1, 4))
    return graph.operator("SQUEEZE", [given], ("FLOAT32", (1, 3, 4)), "Squeeze", squeezeDims=[-2])


@case("SQUEEZE.all")
def squeeze_all(graph: Graph) -> int:
    return graph.operator("SQUEEZE", [graph.input("FLOAT32", (1, 3, 1, 4))], ("FLOAT32", (3, 4)), "Squeeze")


@case("EXPAND_DIMS")
def expand_dims(graph: Graph) -> int:
    return graph.operator("EXPAND_DIMS", [graph.input(*F2), graph.constant("INT32", -1)], ("FLOAT32", (3, 4, 1)))


@case("TRANSPOSE.int8")
@case("TRANSPOSE")
def transpose(graph: Graph) -> int:
    given = [graph.input("INT8", (2, 3, 4), *Q), graph.constant("INT32", [2, 0, 1])]
    return graph.operator("TRANSPOSE", given, ("INT8", (4, 2, 3), *Q), "Transpose")


@case("PACK")
def pack(graph: Graph) -> int:
    given = [graph.input(*F2), graph.input(*F2)]
    return graph.operator("PACK", given, ("FLOAT32", (3, 2, 4)), "Pack", valuesCount=2, axis=1)


@case("UNPACK")
def unpack(graph: Graph) -> list[int]:
    parts = [graph.tensor("FLOAT32", (3,)) for _ in range(4)]
    graph.apply("UNPACK", [graph.input(*F2)], parts, "Unpack", num=4, axis=-1)
    return parts


@case("PAD")
def pad(graph: Graph) -> int:
    given = [graph.input("INT8", (2, 3), *Q), graph.constant("INT32", [[1, 0], [2, 1]])]
    return graph.operator("PAD", given, ("INT8", (3, 6), *Q), "Pad")


@case("PAD.int64_paddings")
def pad_int64(graph: Graph) -> int:
    given = [graph.input(*F2), graph.constant("INT64", [[1, 0], [2, 1]])]
    return graph.operator("PAD", given, ("FLOAT32", (4, 7)), "Pad")


@case("PADV2")
def pad_v2(graph: Graph) -> int:
    given = [graph.input(*F2), graph.constant("INT32", [[1, 0], [2, 1]]), graph.constant("FLOAT32", 0.75)]
    return graph.operator("PADV2", given, ("FLOAT32", (4, 7)), "PadV2")


@case("PADV2.int8")
def pad_v2_int8(graph: Graph) -> int:
    value = graph.tensor("INT8", (), *Q, value=-90)
    given = [graph.input("INT8", (2, 3), *Q), graph.constant("INT32", [[1, 0], [2, 1]]), value]
    return graph.operator("PADV2", given, ("INT8", (3, 6), *Q), "PadV2")


@case("TILE")
def tile(graph: Graph) -> int:
    return graph.operator("TILE", [graph.input(*F2), graph.constant("INT32", [2, 3])], ("FLOAT32", (6, 12)))


@case("BROADCAST_TO")
def broadcast_to(graph: Graph) -> int:
    given = [graph.input("FLOAT32", (3, 1)), graph.constant("INT32", [2, 3, 4])]
    return graph.operator("BROADCAST_TO", given, ("FLOAT32", (2, 3, 4)))


@case("DEPTH_TO_SPACE")
def depth_to_space(graph: Graph) -> int:
    result = ("FLOAT32", (1, 12, 10, 1))
    return graph.operator("DEPTH_TO_SPACE", [graph.input(*F4)], result, "DepthToSpace", blockSize=2)


@case("SPACE_TO_DEPTH")
def space_to_depth(graph: Graph) -> int:
    given = graph.input("FLOAT32", (1, 4, 6, 3))
    return graph.operator("SPACE_TO_DEPTH", [given], ("FLOAT32", (1, 2, 3, 12)), "SpaceToDepth", blockSize=2)


@case("SPACE_TO_BATCH_ND")
def space_to_batch(graph: Graph) -> int:
    given = [graph.input(*F4), graph.constant("INT32", [2, 3]), graph.constant("INT32", [[0, 0], [1, 0]])]
    return graph.operator("SPACE_TO_BATCH_ND", given, ("FLOAT32", (6, 3, 2, 4)))


@case("BATCH_TO_SPACE_ND")
def batch_to_space(graph: Graph) -> int:
    given = [
        graph.input("FLOAT32", (6, 3, 2, 4)),
        graph.constant("INT32", [2, 3]),
        graph.constant("INT32", [[0] * 2] * 2),
    ]
    return graph.operator("BATCH_TO_SPACE_ND", given, ("FLOAT32", (1, 6, 6, 4)))


@case("BATCH_TO_SPACE_ND.cropped")
def batch_to_space_cropped(graph: Graph) -> int:
    crops = graph.constant("INT32", [[0, 1], [1, 2]])
    given = [graph.input("FLOAT32", (6, 3, 2, 4)), graph.constant("INT32", [2, 3]), crops]
    return graph.operator("BATCH_TO_SPACE_ND", given, ("FLOAT32", (1, 5, 3, 4)))


@case("CONCATENATION")
def concatenation(graph: Graph) -> int:
    given = [graph.input("INT8", (2, 3), *Q), graph.tensor("INT8", (2, 2), *Q, value=bytes_of(2, 2))]
    return graph.operator("CONCATENATION", given, ("INT8", (2, 5), *Q), "Concatenation", axis=-1)


@case("SPLIT")
def split(graph: Graph) -> list[int]:
    parts = [graph.tensor("FLOAT32", (3, 2)) for _ in range(2)]
    graph.apply("SPLIT", [graph.constant("INT32", 1), graph.input(*F2)], parts, "Split", numSplits=2)
    return parts


@case("SPLIT_V")
def split_v(graph: Graph) -> list[int]:
    parts = [graph.tensor("FLOAT32", (3, 3)), graph.tensor("FLOAT32", (3, 1))]
    given = [graph.input(*F2), graph.constant("INT32", [3, -1]), graph.constant("INT32", -1)]
    graph.apply("SPLIT_V", given, parts, "SplitV", numSplits=2)
    return parts


@case("SPLIT_V.equal")
def split_v_equal(graph: Graph) -> list[int]:
    parts = [graph.tensor("FLOAT32", (3, 2)) for _ in range(2)]
    given = [graph.input(*F2), graph.constant("INT32", [2, 2]), graph.constant("INT32", 1)]
    graph.apply("SPLIT_V", given, parts, "SplitV", numSplits=2)
    return parts


@case("SLICE")
def slice_(graph: Graph) -> int:
    given = [graph.input(*F2), graph.constant("INT32", [1, 0]), graph.constant("INT32", [-1, 3])]
    return graph.operator("SLICE", given, ("FLOAT32", (2, 3)), "Slice")


@case("STRIDED_SLICE")
def strided_slice(graph: Graph) -> int:
    bounds = [graph.constant("INT32", values) for values in ([1, -1, 0], [9, 0, 1], [1, -2, 1])]
    options = {"beginMask": 1, "endMask": 2, "shrinkAxisMask": 4}
    given = graph.input("FLOAT32", (3, 5, 2))
    return graph.operator("STRIDED_SLICE", [given, *bounds], ("FLOAT32", (3, 3)), "StridedSlice", **options)


@case("STRIDED_SLICE.fewer_bounds")
def strided_slice_short(graph: Graph) -> int:
    bounds = [graph.constant("INT32", [at]) for at in (1, 3, 1)]
    given = graph.input("FLOAT32", (3, 5, 2))
    return graph.operator("STRIDED_SLICE", [given, *bounds], ("FLOAT32", (2, 5, 2)), "StridedSlice")


@case("GATHER")
def gather(graph: Graph) -> int:
    given = [graph.input(*F2), graph.constant("INT32", [[3, 0], [1, 1]])]
    return graph.operator("GATHER", given, ("FLOAT32", (3, 2, 2)), "Gather", axis=1)


@case("STRIDED_SLICE.last")
def strided_slice_last(graph: Graph) -> int:
    """As converters write x[:, -1]: the end of the dimension that is dropped is 0."""
    bounds = [graph.constant("INT32", values) for values in ([0, -1], [0, 0], [1, 1])]
    options = {"beginMask": 1, "endMask": 1, "shrinkAxisMask": 2}
    return graph.operator("STRIDED_SLICE", [graph.input(*F2), *bounds], ("FLOAT32", (3,)), "StridedSlice", **options)


@case("GATHER.one")
def gather_one(graph: Graph) -> int:
    given = [graph.input(*F2), graph.constant("INT32", 2)]
    return graph.operator("GATHER", given, ("FLOAT32", (3,)), "Gather", axis=-1)


@case("EMBEDDING_LOOKUP")
def embedding_lookup(graph: Graph) -> int:
    given = [graph.constant("INT32", [2, 0, 2]), graph.input(*F2)]
    return graph.operator("EMBEDDING_LOOKUP", given, ("FLOAT32", (3, 4)))
