"""Twins that differ in the value of a constant: an element of data, a parameter, a number in a graph, a precision."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from npu_conformance.corpus.turns import DATA
from npu_conformance.corpus.vectors import Graph, Vector
from npu_conformance.specs.neuralnetworks.enums import FusedActivation, OperandType
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

OF_BOXES = {
    "AXIS_ALIGNED_BBOX_TRANSFORM", "BOX_WITH_NMS_LIMIT", "DETECTION_POSTPROCESSING", "GENERATE_PROPOSALS",
    "HEATMAP_MAX_KEYPOINT", "ROI_ALIGN", "ROI_POOLING",
}  # fmt: skip
"""Operations of which a device may take boxes with corners in order alone, and batches one behind the other."""
_OF_SMALL_CHANGES = {"QUANTIZED_16BIT_LSTM", "QUANTIZED_LSTM"}
_BOXES, _DELTAS = {"rois", "boxes", "anchors"}, "bbox_deltas"
_COMPETING = {"BOX_WITH_NMS_LIMIT": None, "DETECTION_POSTPROCESSING": 2}
"""Operations in which boxes that overlap displace each other, with how many columns are places: anchors have sizes."""
_LEFT_ALONE = {"GENERATE_PROPOSALS"}
"""Its boxes compete, and are cut off at the image, which any change brings closer."""
_STEPS = (1, 40, -1, 2000)
"""By so much an element changes: by what a parameter may, what 8 bits show, and what a bias of a small scale shows."""
_TITLES = ("first", "last", "order")
_FEW = 4
_PRECISE = 1 + 3 * 2.0**-12
"""Times this a number of few bits is none that half floats hold, and changes by less than a thousandth."""


def other_data(vector: Vector, _version: Version) -> Iterator[tuple[str, Vector]]:
    """Another first element of a constant tensor, another last one, and the elements in another order.

    Where there are very many constants, each has one of the three.
    """
    if vector.operation in OF_BOXES:
        return
    tensors = [(name, value) for name, value in _constants(vector) if value.size > 1]
    for at, (name, value) in enumerate(tensors):
        for title, changed in _near(value):
            if len(tensors) <= _FEW or title == _TITLES[at % len(_TITLES)]:
                yield f"{name}_{title}", _with(vector, name, changed)


def other_ends(vector: Vector, _version: Version) -> Iterator[tuple[str, Vector]]:
    """The second half of the weights in the opposite order, where a change of one element is too small to be seen."""
    for name, value in _constants(vector) if vector.operation in _OF_SMALL_CHANGES else ():
        if value.ndim > 1:
            changed = value.reshape(-1).copy()
            changed[value.size // 2 :] = changed[value.size // 2 :][::-1]
            yield f"{name}_end", _with(vector, name, changed.reshape(value.shape))


def other_boxes(vector: Vector, _version: Version) -> Iterator[tuple[str, Vector]]:
    """Boxes that have moved by a pixel within the range of all, or that come in another order; deltas in another order.

    Where boxes compete, all move together, which leaves alone how much they overlap.
    """
    for name, value in _constants(vector) if vector.operation in OF_BOXES - _LEFT_ALONE else ():
        scale = vector.operands[name].scale
        if name in _BOXES and vector.operation not in _COMPETING:
            for title, changed in _moved(value, round(1 / scale) if scale else 1):
                yield f"{name}_{title}", _with(vector, name, changed)
        elif name in _BOXES:
            moved = value.copy()
            moved[..., : _COMPETING[vector.operation]] += value.dtype.type(round(1 / scale) if scale else 1)
            yield f"{name}_all", _with(vector, name, moved)
        elif name == _DELTAS and vector.operation not in _COMPETING:
            yield f"{name}_order", _with(vector, name, value.reshape(-1)[::-1].reshape(value.shape))


def _moved(value: Array, pixel: int) -> Iterator[tuple[str, Array]]:
    """The first box moved, the last one, or the only one, which has no others to stay among; and all turned around."""
    import numpy

    places = {"first": 0, "last": -1} if len(value) > 1 else {"only": 0}
    for (title, at), step in itertools.product(places.items(), (pixel, -pixel)):
        box = value[at].astype(float) + step
        if title == "only" or (box.min() >= value.min() and box.max() <= value.max()):
            moved = value.copy()
            moved[at] = box.astype(value.dtype)
            yield title, moved
    yield "order", numpy.roll(value, 1, axis=0)


def _near(value: Array) -> Iterator[tuple[str, Array]]:
    import numpy

    first, last, order = _TITLES
    for title, at in ((first, 0), (last, -1)):
        for step in _STEPS:
            changed = value.copy()
            changed.flat[at] = _stepped(value.flat[at], step)
            yield title, changed
    yield order, numpy.roll(value, 1)
    yield order, value.reshape(-1)[::-1].reshape(value.shape)


def _stepped(element: Any, step: int) -> Array:
    """An element plus a step, within its type: of 8 bits it goes around, and of truth it is the other one."""
    import numpy

    if element.dtype == bool:
        return numpy.asarray(not element)
    if element.dtype.kind == "f":
        return numpy.asarray(element + element.dtype.type(step))
    return numpy.array(int(element) + step).astype(element.dtype)


def other_parameters(vector: Vector, _version: Version) -> Iterator[tuple[str, Vector]]:
    """Another value of a scalar, or of a tensor of one element."""
    for name, value in _constants(vector):
        if value.size == 1:
            for other in _others(name, value):
                yield name, _with(vector, name, other)


def _others(name: str, value: Array) -> Iterator[Array]:
    """Other values of a parameter; of an activation those that there are, though a device may take more."""
    import numpy

    if name == "activation":
        yield from (numpy.full_like(value, one) for one in FusedActivation)
    else:
        element = value.reshape(())[()]
        yield from (_stepped(element, step).reshape(value.shape) for step in (*_STEPS, 2, 3))


def other_graphs(vector: Vector, _version: Version) -> Iterator[tuple[str, Vector]]:
    """The graphs that the model refers to in the opposite order, and another number in each."""
    if len(vector.referenced) > 1:
        yield "graphs", replace(vector, referenced=vector.referenced[::-1])
    for at, graph in enumerate(vector.referenced):
        for edited in _of_other_numbers(graph):
            graphs = (*vector.referenced[:at], edited, *vector.referenced[at + 1 :])
            yield f"graph_{at}", replace(vector, referenced=graphs)


def _of_other_numbers(graph: Graph) -> Iterator[Graph]:
    for name, operand in graph.operands.items():
        if operand.value is not None and operand.dimensions and operand.type.name in DATA:
            other = operand.with_value((operand.value + operand.value.dtype.type(1)).astype(operand.value.dtype))
            yield replace(graph, operands={**graph.operands, name: other})


def relaxed(vector: Vector, version: Version) -> Iterator[tuple[str, Vector]]:
    """The same model as one that may compute in half floats, which do not hold its constants."""
    if version >= Version.V1_1 and any(one.type == OperandType.TENSOR_FLOAT32 for one in vector.operands.values()):
        yield "relaxed", replace(vector, relaxed=True)


def of_many_bits(vector: Vector) -> Vector:
    """The vector with constants in float32 that half floats do not hold."""
    data = {
        name: vector.operands[name].with_value((value * _PRECISE).astype(value.dtype))
        for name, value in _constants(vector)
        if vector.operands[name].type == OperandType.TENSOR_FLOAT32 and name not in _BOXES  # which stay in their image
    }
    return replace(vector, operands={**vector.operands, **data})


def _constants(vector: Vector) -> list[tuple[str, Array]]:
    return [(name, operand.value) for name, operand in vector.operands.items() if operand.value is not None]


def _with(vector: Vector, name: str, value: Array) -> Vector:
    return replace(vector, operands={**vector.operands, name: vector.operands[name].with_value(value)})
