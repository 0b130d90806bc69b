"""What guards ask for three at a time, beyond the pairs that traits are chosen by: a type, a size, a kind of kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from npu_conformance.corpus.drawn.traits import traits
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Vector

_KERNELS = (
    "window ", "stride ", "first is ", "second is ", "axis ", "axes ", "perm ", "paddings of axes ", "height becomes ",
    "width becomes ", "adj_x ", "adj_y ", "keep_dims ", "k ", "activation ", "nchw_layout ", "padding_scheme ", "mode ",
    "inputs ", "depth_multiplier ",
)  # fmt: skip
"""Beginnings of traits by which a kernel is chosen."""
_OPERANDS = 3
"""Of so many tensors of an operation, and of its result, the sizes count."""
_SQUARE = 2
_IMAGES = 4

Asked = Mapping[str, str]
"""What a guard may ask for, each with its subject: two answers to one question are not asked for together."""

KNOWN: Mapping[str, Sequence[Sequence[str]]] = {
    "ADD": [
        ("type TENSOR_FLOAT16", "first is whole", "second is whole", "activation 1", "result -1 left over by eight"),
    ],
    "AVERAGE_POOL_2D": [("window [2, 2]", "stride [2, 2]", "beyond odd")],
    "BATCH_MATMUL": [("result -2 one", "result -1 eights"), ("adj_y 1", "adj_x 0", "result -1 eights")],
    "CONCATENATION": [
        ("inputs 3", "axis last", "operand 0 -1 eights", "operand 1 -1 eights"),
        ("inputs 3", "axis first", "operand 0 -1 eights", "operand 0 rank 2"),
    ],
    "CONV_2D": [
        ("window [3, 3]", "stride [1, 1]", "channels fours", "filter first eights"), ("batch eights",),
        ("type TENSOR_QUANT8_ASYMM", "batch fours"),
    ],
    "DEPTHWISE_CONV_2D": [
        ("type TENSOR_QUANT8_ASYMM", "window [3, 3]", "channels sixteens"),
        ("type TENSOR_FLOAT16", "window [3, 3]", "channels eights"),
        ("channels one", "batch fours", "depth_multiplier 4"),
    ],
    "FULLY_CONNECTED": [("operand 1 -2 eights", "result -2 fours", "activation 0")],
    "MAX_POOL_2D": [
        ("window [2, 2]", "stride [2, 2]", "beyond odd"),
        ("type TENSOR_QUANT8_ASYMM", "window [3, 3]", "stride [2, 2]", "channels eights"),
    ],
    "MEAN": [
        ("type TENSOR_QUANT8_ASYMM", "axes [1, 2] of 4", "keep_dims 1"),
        ("axes [1, 2] of 4", "keep_dims 0", "operand 0 -1 eights"),
    ],
    "MUL": [
        ("type TENSOR_FLOAT16", "first is whole", "second is whole", "activation 3", "result -1 left over by eight"),
    ],
    "REDUCE_MAX": [("type TENSOR_QUANT8_ASYMM", "axes [1, 2] of 4", "keep_dims 1")],
    "RESIZE_BILINEAR": [
        ("height becomes 2.0", "width becomes 2.0", "channels eights"),
        ("height becomes 0.5", "width becomes 0.5", "channels eights"),
    ],
    "RESIZE_NEAREST_NEIGHBOR": [
        ("height becomes 2.0", "width becomes 2.0", "channels eights"),
        ("height becomes 0.5", "width becomes 0.5", "channels eights"),
    ],
    "TRANSPOSE": [
        ("perm [1, 0]", "operand 0 -1 eights", "operand 0 -2 eights"),
        ("perm [1, 0]", "operand 0 -1 left over by four", "operand 0 -2 left over by four"),
        ("perm [0, 3, 1, 2]", "operand 0 -1 left over by four"),
    ],
}  # fmt: skip
"""Conditions of kernels that are known, each of which a model has to meet as a whole."""


def asked(vector: Vector) -> Asked:
    """What guards may ask for of a model of one operation."""
    found = {trait: next((start for start in _KERNELS if trait.startswith(start)), "") for trait in traits(vector)}
    return {trait: start for trait, start in found.items() if start} | dict(_of_tensors(vector))


def _of_tensors(vector: Vector) -> Iterator[tuple[str, str]]:
    (operation,) = vector.operations
    inputs = [vector.operands[name] for name in operation.inputs]
    tensors = [one for one in inputs if OPERAND_TYPES[one.type].is_tensor and not one.omitted]
    result = vector.operands[operation.outputs[-1 if operation.type == "LSTM" else 0]]
    yield f"type {(tensors or [result])[0].type.name}", "type"
    named = {**{f"operand {place}": one for place, one in enumerate(tensors[:_OPERANDS])}, "result": result}
    for name, one in named.items():
        yield f"{name} rank {len(one.dimensions)}", f"{name} rank"
        for axis, size in enumerate(one.dimensions, -len(one.dimensions)):
            yield from ((f"{name} {axis} {kind}", f"{name} {axis}") for kind in _kinds(size))
    yield from _of_image(vector)


def _of_image(vector: Vector) -> Iterator[tuple[str, str]]:
    """Sizes of images and filters, by what they are in either layout."""
    given, filters = vector.operands.get("input"), vector.operands.get("filter")
    layout = vector.operands.get("nchw_layout")
    if given is None or len(given.dimensions) != _IMAGES or (layout is None and "stride_width" not in vector.operands):
        return
    nchw = layout is not None and layout.value is not None and bool(layout.value)
    batch, *rest = given.dimensions
    channels, height, width = rest if nchw else (rest[2], rest[0], rest[1])
    named = {"batch": batch, "channels": channels, "height": height, "width": width}
    named |= {"filter first": filters.dimensions[0]} if filters is not None else {}
    for name, size in named.items():
        yield from ((f"{name} {kind}", name) for kind in _kinds(size))
    (operation,) = vector.operations
    columns = vector.operands[operation.outputs[0]].dimensions[3 if nchw else 2]
    if width % _SQUARE and _SQUARE * columns > width:
        yield "beyond odd", "width"


def _kinds(size: int) -> list[str]:
    """The kinds of a size, of which it has several."""
    kinds = {
        "one": size == 1, "fours": size % 4 == 0, "eights": size % 8 == 0, "sixteens": size % 16 == 0,
        "left over by four": size > 4 and size % 4 > 0, "left over by eight": size > 8 and size % 8 > 0,
        "beyond sixteen": size > 16,
    }  # fmt: skip
    return [kind for kind, is_so in kinds.items() if is_so]
