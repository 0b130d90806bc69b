"""Twins that differ in the value of a constant: an element of data, a parameter, a number in a graph, a precision."""

from __future__ import annotations

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
        if vector.operands[name].type == OperandType.TENSOR_FLOAT32
    }
    return replace(vector, operands={**vector.operands, **data})


def _constants(vector: Vector) -> list[tuple[str, Array]]:
    return [(name, operand.value) for name, operand in vector.operands.items() if operand.value is not None]


def _with(vector: Vector, name: str, value: Array) -> Vector:
    return replace(vector, operands={**vector.operands, name: vector.operands[name].with_value(value)})
