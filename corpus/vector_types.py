"""Vectors in memory: a model with examples and expected values, as plain numbers and numpy arrays.

Nothing here imports numpy while the program runs, since listing has no need of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from npu_conformance.specs.documents.vectors import GeneratorDocument, Kind, Phase
from npu_conformance.specs.neuralnetworks.extension_codes import AnyOperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.versions import NEWEST, Version

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, Any]


class ChannelQuant(msgspec.Struct, frozen=True):
    """One scale for each index of dimension channel_dim. The scales are exact float32 values."""

    scales: tuple[float, ...]
    channel_dim: int


class VectorOperand(msgspec.Struct, frozen=True, eq=False):
    """One operand of a graph. scale is an exact float32 value; a dimension of 0 is unknown.

    value: the constant's elements, in the type's numpy dtype and the operand's shape, or None.
    omitted: without a value; as a model input it is sent with hasNoValue, elsewhere its lifetime is NO_VALUE.
    subgraph: index into the vector's referenced graphs, for type SUBGRAPH.
    extension: parameters of an operand of an extension's type, or None.
    """

    type: AnyOperandType
    dimensions: tuple[int, ...] = ()
    scale: float = 0.0
    zero_point: int = 0
    channel_quant: ChannelQuant | None = None
    value: Array | None = None
    omitted: bool = False
    subgraph: int | None = None
    extension: bytes | None = None

    def with_value(self, value: Array | None) -> VectorOperand:
        """The same operand as a constant with these elements, or (None) without any."""
        return self._with(self.dimensions, value)

    def with_dimensions(self, dimensions: tuple[int, ...]) -> VectorOperand:
        """The same operand in another shape."""
        return self._with(dimensions, self.value)

    def _with(self, dimensions: tuple[int, ...], value: Array | None) -> VectorOperand:
        # Spelled out, since dataclasses.replace takes five times as long, and random graphs are full of it.
        return VectorOperand(
            self.type, dimensions, self.scale, self.zero_point, self.channel_quant,
            value, self.omitted, self.subgraph, self.extension,
        )  # fmt: skip

    @property
    def is_open(self) -> bool:
        """True for a tensor whose rank or one of whose sizes the model leaves open."""
        return OPERAND_TYPES[self.type].is_tensor and (not self.dimensions or 0 in self.dimensions)


class VectorOperation(msgspec.Struct, frozen=True):
    """One operation: the name of its type and of its operands; an argument may occur twice."""

    type: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


class Graph(msgspec.Struct, frozen=True, eq=False):
    """Operands by name, operations in an order of execution, names of the graph's inputs and outputs."""

    operands: Mapping[str, VectorOperand]
    operations: tuple[VectorOperation, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


class Example(msgspec.Struct, frozen=True, eq=False):
    """Arrays by operand name, in the operand's dtype and shape. Omitted inputs are not listed."""

    inputs: Mapping[str, Array]
    outputs: Mapping[str, Array]


ANDROID = "android"
"""Android's own implementation, which passes all of its own tests, as `taken_by` names it."""


class Rejected(msgspec.Struct, frozen=True):
    """What must be rejected, and when: model (at preparation) or execution (there at the latest).

    clause is empty where an external collection does not say why. until: the last version that refuses it.
    """

    clause: str
    phase: Phase
    until: Version = NEWEST


class Vector(msgspec.Struct, frozen=True, eq=False):
    """A model with examples. operation: the one under test; since: the first version in which the model is legal.

    taken_by: independent implementations that execute it although it is to be rejected.
    ignored: outputs whose values are not compared. excluded: variations that its data does not allow.
    kind: general, multinomial (samples, of which only the distribution counts: see distributions), or validation and
    infinite_loop_timeout, which only external collections have. multinomial_tolerance: how far a class may be off.
    """

    name: str
    operation: str
    since: Version
    operands: Mapping[str, VectorOperand]
    operations: tuple[VectorOperation, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    examples: tuple[Example, ...] = ()
    witnesses: tuple[str, ...] = ()
    taken_by: tuple[str, ...] = ()
    rejected: Rejected | None = None
    relaxed: bool = False
    ignored: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    referenced: tuple[Graph, ...] = ()
    description: str = ""
    hazards: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    kind: Kind = "general"
    multinomial_tolerance: float = 0.0
    generators: Mapping[str, GeneratorDocument] = msgspec.field(default_factory=dict)
    """Which inputs and constants are made from a seed, so that they can be written as such again."""

    @property
    def main(self) -> Graph:
        """The main graph."""
        return Graph(self.operands, self.operations, self.inputs, self.outputs)

    @property
    def graphs(self) -> tuple[Graph, ...]:
        """The main graph, then the referenced ones."""
        return (self.main, *self.referenced)

    @property
    def has_loops(self) -> bool:
        """True where WHILE is among the operations."""
        return any(operation.type == "WHILE" for graph in self.graphs for operation in graph.operations)
