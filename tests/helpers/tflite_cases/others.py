"""Lookups, reductions, resizing, quantisation, branches and loops."""

from __future__ import annotations

from typing import Any

from tflite_files import Graph

from tflite_cases.common import F2, F4, Q, case, weights


@case("HASHTABLE_LOOKUP")
def hashtable_lookup(graph: Graph) -> list[int]:
    results = [graph.tensor("FLOAT32", (4, 3)), graph.tensor("UINT8", (4,))]
    lookups, keys = graph.constant("INT32", [7, 5, -4, 99]), graph.constant("INT32", [-4, 0, 7])
    graph.apply("HASHTABLE_LOOKUP", [lookups, keys, graph.input("FLOAT32", (3, 3))], results)
    return results


for code, shape in ((1, (5,)), (2, (15,))):

    @case(f"LSH_PROJECTION.{'sparse' if code == 1 else 'dense'}")
    def lsh_projection(graph: Graph, code: int = code, shape: tuple[int, ...] = shape) -> int:
        given = [graph.constant("FLOAT32", weights(5, 3)), graph.input("INT32", (6, 2))]
        given += [graph.constant("FLOAT32", weights(6))] if code == 2 else []
        return graph.operator("LSH_PROJECTION", given, ("INT32", shape), "LSHProjection", type=code)


def reducer(name: str, keeps: bool, dtype: str = "FLOAT32", quantization: tuple[Any, ...] = ()) -> None:
    @case(f"{name}.{dtype.lower()}_{'kept' if keeps else 'gone'}")
    def make(graph: Graph) -> int:
        given = graph.input(dtype, (2, 3, 40), *(Q if quantization else ()))
        shape = (2, 1, 40) if keeps else (2, 40)
        axes = graph.constant("INT32", [-2])
        return graph.operator(name, [given, axes], (dtype, shape, *quantization), "Reducer", keepDims=keeps)


for one in ("MEAN", "SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN"):
    reducer(one, True)
    reducer(one, False)
for one in ("REDUCE_ANY", "REDUCE_ALL"):
    reducer(one, True, "BOOL")
for one in ("MEAN", "SUM"):
    reducer(one, False, "INT8", (0.16, -3))
reducer("REDUCE_MAX", False, "INT8", Q)


@case("MEAN.all_axes")
def mean_of_all(graph: Graph) -> int:
    return graph.operator("MEAN", [graph.input(*F2), graph.constant("INT32", [0, 1])], ("FLOAT32", ()), "Reducer")


for one, kind in (("ARG_MAX", "ArgMax"), ("ARG_MIN", "ArgMin")):

    @case(one)
    def argument(graph: Graph, name: str = one, kind: str = kind) -> int:
        given = [graph.input("FLOAT32", (9, 4)), graph.constant("INT32", 1)]
        return graph.operator(name, given, ("INT32", (9,)), kind, outputType=2)


@case("TOPK_V2")
def topk(graph: Graph) -> list[int]:
    results = [graph.tensor("FLOAT32", (3, 2)), graph.tensor("INT32", (3, 2))]
    graph.apply("TOPK_V2", [graph.input(*F2), graph.constant("INT32", 2)], results, "TopKV2")
    return results


for one, kind in (("RESIZE_BILINEAR", "ResizeBilinear"), ("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighbor")):
    for align, half in ((False, False), (True, False), (False, True)):

        @case(f"{one}.{'align' if align else 'half' if half else 'plain'}")
        def resize(graph: Graph, name: str = one, kind: str = kind, align: bool = align, half: bool = half) -> int:
            given = [graph.input(*F4), graph.constant("INT32", [9, 7])]
            options = {"alignCorners": align, "halfPixelCenters": half}
            return graph.operator(name, given, ("FLOAT32", (1, 9, 7, 4)), kind, **options)


@case("LOCAL_RESPONSE_NORMALIZATION")
def local_response(graph: Graph) -> int:
    options = {"radius": 1, "bias": 1.0, "alpha": 0.5, "beta": 0.75}
    given = [graph.input(*F4)]
    return graph.operator("LOCAL_RESPONSE_NORMALIZATION", given, F4, "LocalResponseNormalization", **options)


@case("QUANTIZE")
@case("DEQUANTIZE")
def quantize_and_back(graph: Graph) -> list[int]:
    stored = graph.operator("QUANTIZE", [graph.input(*F2)], ("INT8", (3, 4), 0.01, 9))
    return [stored, graph.operator("DEQUANTIZE", [stored], F2)]


@case("QUANTIZE.int8_to_uint8")
def requantize(graph: Graph) -> int:
    return graph.operator("QUANTIZE", [graph.input("INT8", (3, 40), *Q)], ("UINT8", (3, 40), 0.04, 120))


@case("CAST")
def cast(graph: Graph) -> int:
    given = graph.input("INT32", (3, 4))
    return graph.operator("CAST", [given], F2, "Cast", inDataType=2, outDataType=0)


@case("FILL")
def fill(graph: Graph) -> list[int]:
    """Of constants it is one itself."""
    made = graph.operator("FILL", [graph.constant("INT32", [3, 4]), graph.constant("FLOAT32", 0.5)], F2)
    return [graph.operator("ADD", [graph.input(*F2), made], F2, "Add")]


@case("ADD.output_twice_and_input_as_output")
def copies(graph: Graph) -> list[int]:
    given = graph.input(*F2)
    total = graph.operator("ADD", [given, graph.constant("FLOAT32", weights(3, 4))], F2, "Add")
    return [total, given, total]


@case("ADD.scalars")
def scalars(graph: Graph) -> int:
    given = [graph.input("FLOAT32", (3,)), graph.constant("FLOAT32", 0.25)]
    return graph.operator("ADD", given, ("FLOAT32", (3,)), "Add")


@case("IF")
def branch(graph: Graph) -> int:
    """The sum of the first is a factor of the branch that is taken."""
    for name, kind in (("ADD", "Add"), ("MUL", "Mul")):
        inner = graph.file.graph()
        given = [inner.input(*F2), inner.input(*F2)]
        inner.outputs = [inner.operator(name, given, F2, kind)]
    inputs = [graph.input("BOOL", (1,)), graph.input(*F2), graph.input(*F2)]
    return graph.operator("IF", inputs, F2, "If", thenSubgraphIndex=1, elseSubgraphIndex=2)


@case("WHILE")
def loop(graph: Graph) -> list[int]:
    """The second is doubled as often as the first, which counts up to 4, says."""
    condition, body = graph.file.graph(), graph.file.graph()
    count, _ = condition.input("INT32", (1,)), condition.input(*F2)
    condition.outputs = [condition.operator("LESS", [count, condition.constant("INT32", [4])], ("BOOL", (1,)))]
    count, value = body.input("INT32", (1,)), body.input(*F2)
    body.outputs = [
        body.operator("ADD", [count, body.constant("INT32", [1])], ("INT32", (1,)), "Add"),
        body.operator("ADD", [value, value], F2, "Add"),
    ]
    results = [graph.tensor("INT32", (1,)), graph.tensor(*F2)]
    inputs = [graph.operator("MAXIMUM", [graph.input("INT32", (1,)), graph.constant("INT32", [1])], ("INT32", (1,)))]
    graph.apply("WHILE", [*inputs, graph.input(*F2)], results, "While", condSubgraphIndex=1, bodySubgraphIndex=2)
    return results
