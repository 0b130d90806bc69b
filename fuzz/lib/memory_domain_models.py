"""The models whose arguments lie in buffers: differences, whose shapes are known or not, and stored vectors.

Where a device has no differences, sums or products have their place.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy
from msgspec.structs import replace

from npu_conformance.corpus import oracles, vectors
from npu_conformance.corpus.model_builder import IllegalOperationError, ModelBuilder
from npu_conformance.corpus.vectors import Vector, VectorOperand
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.fuzz.lib.model_judge import NEUTRAL
from npu_conformance.fuzz.lib.model_mutator import headers
from npu_conformance.harness.run.preparation import PreparationRecorder, prepare
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, element_count
from npu_conformance.specs.neuralnetworks.types import Model, Operand
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

Shape = tuple[int, ...]
USUAL: Shape = (2, 3)
"""The shape of a difference where it may have any."""
LARGEST = 4096
"""Bytes of one argument; vectors with larger ones are not taken."""
ARITHMETIC = ("SUB", "ADD", "MUL")
"""What two tensors are put together by: the first that the device has, best of all one in which their order matters."""
OPERATIONS = ("SPLIT", "TRANSPOSE", "CONCATENATION", "SELECT", "EQUAL", "MAXIMUM", "TOPK_V2", "CAST")
"""Of stored vectors: any content of the buffers is a legal input, each element size, several inputs and outputs."""


@dataclass(frozen=True)
class Kind:
    """A model. dimensions: of all tensors as declared, 0 or () where they are not known. count: of differences.

    activation: the activation of the (single) difference is an input, too. vector: a stored one instead. operation: one
    of ARITHMETIC.
    """

    name: str
    operand_type: OperandType = OperandType.TENSOR_FLOAT32
    dimensions: Shape = USUAL
    count: int = 1
    scale: float = 0.0
    zero_point: int = 0
    activation: bool = False
    vector: Vector | None = None
    operation: str = "SUB"

    def model(self, version: Version) -> Model:
        """The model as a device gets it."""
        if self.vector is not None:
            return build_model(self.vector, version).model
        usual = _differences(self, (USUAL,) * (2 * self.count))
        assert usual is not None
        model = build_model(usual, version).model
        return replace(model, main=replace(model.main, operands=tuple(map(self._declared, model.main.operands))))

    def _declared(self, operand: Operand) -> Operand:
        """The operand with the dimensions that the model shows."""
        at_the_boundary = operand.lifetime in (OperandLifeTime.SUBGRAPH_INPUT, OperandLifeTime.SUBGRAPH_OUTPUT)
        return replace(operand, dimensions=self.dimensions) if operand.dimensions and at_the_boundary else operand

    def with_shapes(self, shapes: Sequence[Shape]) -> Vector | None:
        """The model of inputs of these shapes; None where there is none."""
        if self.vector is None:
            return _differences(self, tuple(shapes[: 2 * self.count]))
        own = tuple(self.vector.operands[name].dimensions for name in self.vector.inputs)
        return self.vector if own == tuple(shapes) else None

    def usual_shapes(self, shape: Shape) -> list[Shape]:
        """The shapes of inputs in a request of a shape, which counts where the model leaves it open."""
        if self.vector is not None:
            return [self.vector.operands[name].dimensions for name in self.vector.inputs]
        whole = self.dimensions if self.dimensions and 0 not in self.dimensions else sensible(shape)
        return [whole] * (2 * self.count) + [()] * self.activation

    def data(self, number: int, operand_type: int, shape: Shape, values: int) -> Array:
        """Elements of input `number`: small whole numbers that follow from `values`, or those of the stored example."""
        if self.vector is not None:
            return self.vector.examples[0].inputs[self.vector.inputs[number]]
        return elements(operand_type, shape, values + number)


def sensible(shape: Shape) -> Shape:
    """The shape, or the usual one where it has no elements or more than an argument may have."""
    return shape if all(size > 0 for size in shape) and element_count(shape) <= LARGEST // 4 else USUAL


def elements(operand_type: int, shape: Shape, values: int) -> Array:
    """Small whole numbers that every type holds and every device subtracts exactly; an activation for a scalar."""
    dtype = numpy.dtype(OPERAND_TYPES[operand_type].dtype)
    count = int(numpy.prod(shape))
    highest = 2 if dtype == numpy.bool_ else 4 if not shape else 9
    return ((numpy.arange(count) * 5 + values % highest) % highest).astype(dtype).reshape(shape)


@functools.lru_cache(maxsize=256)
def _differences(kind: Kind, shapes: tuple[Shape, ...]) -> Vector | None:
    """Differences side by side, of inputs 2n and 2n + 1; None for shapes that have none."""
    builder = ModelBuilder()
    tensor = VectorOperand(kind.operand_type, scale=kind.scale, zero_point=kind.zero_point)
    scalar = VectorOperand(OperandType.INT32)
    inputs = [
        builder.input(_shaped(tensor, shape), elements(kind.operand_type, shape, 0), f"in{number}")
        for number, shape in enumerate(shapes)
    ]
    zero = numpy.zeros((), numpy.int32)
    last = builder.input(scalar, zero, "fused") if kind.activation else builder.constant(scalar, zero, "fused")
    try:
        outputs = [
            builder.apply(kind.operation, (*pair, last), (tensor,))[0]
            for pair in zip(inputs[::2], inputs[1::2], strict=True)
        ]
    except IllegalOperationError:
        return None
    return builder.vector(kind.name, kind.operation, outputs)


def _shaped(operand: VectorOperand, shape: Shape) -> VectorOperand:
    return VectorOperand(operand.type, shape, scale=operand.scale, zero_point=operand.zero_point)


def computed(vector: Vector, given: Mapping[str, Array]) -> dict[str, Array] | None:
    """The outputs by the oracles; None where these inputs have none."""
    try:
        return oracles.evaluate(vector.main, given, vector.referenced)
    except (ValueError, ArithmeticError, LookupError):
        return None


def differences(operation: str) -> dict[str, Kind]:
    """The models of one of ARITHMETIC by name; they are called differences whatever it is."""
    found = [
        Kind("difference"),
        Kind("open", dimensions=(0, 3)),
        Kind("rankless", dimensions=()),
        Kind("two", count=2),
        Kind("quantised", OperandType.TENSOR_QUANT8_ASYMM, scale=0.5, zero_point=128),
        Kind("half", OperandType.TENSOR_FLOAT16),
        Kind("fused", activation=True),
        Kind("other_shape", dimensions=(3, 2)),
        Kind("other_scale", OperandType.TENSOR_QUANT8_ASYMM, scale=0.75, zero_point=128),
    ]
    return {kind.name: dataclasses.replace(kind, operation=operation) for kind in found}


def stored(version: Version, *, one_each: bool) -> dict[str, Kind]:
    """Models of stored vectors by name, of each combination of types; one_each: one of each operation."""
    chosen = (header for header in headers(version, one_each=one_each) if header.operation in OPERATIONS)
    small = (vector for header in chosen if _is_small(vector := vectors.load(header.operation, header.name)))
    found = [Kind(f"{vector.operation}/{vector.name}", vector=vector) for vector in small]
    return {kind.name: kind for kind in found}


def _is_small(vector: Vector) -> bool:
    example = vector.examples[0]
    arrays = [*example.inputs.values(), *example.outputs.values()]
    return all(0 < array.nbytes <= LARGEST for array in arrays) and len(example.inputs) == len(vector.inputs)


@dataclass(eq=False)
class BufferModel:
    """A prepared model: roles of buffers mean this very one. runs: whether it runs without buffers; None: unknown."""

    kind: Kind
    model: Model
    prepared: PreparedModel
    runs: bool | None = None
    operands: dict[tuple[str, int], Operand] = field(init=False)

    def __post_init__(self) -> None:
        graph = self.model.main
        sides = {"input": graph.input_indexes, "output": graph.output_indexes}
        self.operands = {
            (side, number): graph.operands[index]
            for side, indexes in sides.items()
            for number, index in enumerate(indexes)
        }


def prepared(subject: SubjectHandle, kind: Kind) -> BufferModel | None:
    """Prepare a model; None where the device does not."""
    device = subject.interfaces.device
    assert device is not None
    model = kind.model(subject.version)
    made = prepare(subject, device, model, NEUTRAL, PreparationRecorder()).prepared_model
    return None if made is None else BufferModel(kind, model, made)
