"""One operation as its rules see it: types, shapes and values of its operands, as far as they are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.types import Model, Operand, Operation
from npu_conformance.specs.versions import Version

Dimensions = tuple[int | None, ...]
"""A shape; None is a size that is not known yet, 0 is a size of zero."""

if TYPE_CHECKING:
    # Listing cases reads rules: it needs no arrays.
    import numpy

    Array = numpy.ndarray[Any, Any]

Key = int | str
"""An input of an operation: its position, or its name in the catalogue."""

Result = TypeVar("Result")

_NO_VALUE = int(OperandLifeTime.NO_VALUE)
_COPY, _POOL = int(OperandLifeTime.CONSTANT_COPY), int(OperandLifeTime.CONSTANT_POOL)
_MODEL_INPUT = int(OperandLifeTime.SUBGRAPH_INPUT)


class OperationView:
    """An operation with its operands. Inputs are found by position or by the name that the catalogue gives them.

    table, reading: of the catalogue. signature, arguments: of the reading; the argument at each position, nothing where
    no signature fits.
    name, variant: as in the catalogue (the variant is empty where no signature fits). version: of the model.
    inputs, outputs: the declared operands, in order. Raises LookupError for an extension's or vendor's operation.
    """

    def __init__(
        self,
        operation: Operation,
        version: Version,
        inputs: Sequence[Operand],
        outputs: Sequence[Operand],
        *,
        shapes: Mapping[int, tuple[int, ...]] | None = None,
        values: Mapping[int, Array] | None = None,
        omitted: frozenset[int] = frozenset(),
    ) -> None:
        """At preparation shapes and omitted are left out; at execution they hold what the request shows.

        shapes: real shape of inputs by position (where absent, the declared one, 0 meaning unknown).
        values: arrays of inputs by position. omitted: positions whose request argument has no value.
        """
        self.operation, self.version = operation, version
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        self.table = catalogue.operation(operation.type)
        self.name = self.table.name
        self.reading = catalogue.reading(self.name, tuple([operand.type for operand in self.inputs]))
        self.signature, self.arguments = self.reading.signature, self.reading.arguments
        self._positions, self._defaults = self.reading.positions, self.reading.defaults
        self.variant = self.signature.variant if self.signature else ""
        self._shapes, self._values = shapes or {}, values or {}
        given = enumerate(self.inputs)
        self._present = {index for index, operand in given if operand.lifetime != _NO_VALUE} - omitted
        self._computed: dict[Any, Any] = {}
        self._dimensions: dict[Key, Dimensions | None] = {}

    @property
    def input_count(self) -> int:
        """Number of inputs in the list, omitted ones included."""
        return len(self.inputs)

    def index(self, key: Key) -> int:
        """Position of an input; -1 for a name that this variant does not have or that was left off the end."""
        if isinstance(key, int):
            return key if 0 <= key < len(self.inputs) else -1
        position = self._positions.get(key, -1)
        return position if position < len(self.inputs) else -1

    def knows(self, name: str) -> bool:
        """True for an input that the variant has, whether it is in the list or was left off the end."""
        return name in self._positions

    def has(self, key: Key) -> bool:
        """True for an input that is in the list and not omitted."""
        return self.index(key) in self._present

    def is_given(self, key: Key) -> bool | None:
        """Like `has`, but None for an input of the model before a request shows whether it has a value."""
        index = self.index(key)
        if index not in self._present:
            return False
        undecided = self.inputs[index].lifetime == _MODEL_INPUT and index not in self._shapes
        return None if undecided else True

    def operand(self, key: Key) -> Operand:
        """The declared operand of an input; raises KeyError where the operation does not have it."""
        index = self.index(key)
        if index < 0:
            raise KeyError(key)
        return self.inputs[index]

    def dimensions(self, key: Key) -> Dimensions | None:
        """Shape of an input; None where the rank is unknown or the input is absent or omitted."""
        if key not in self._dimensions:
            self._dimensions[key] = self._dimensions_at(self.index(key))
        return self._dimensions[key]

    def _dimensions_at(self, index: int) -> Dimensions | None:
        if index not in self._present:
            return None
        if index in self._shapes:
            return self._shapes[index]
        return None if self._may_be_left_out(index) else declared_dimensions(self.inputs[index])

    def _may_be_left_out(self, index: int) -> bool:
        """True for an optional model input that declares an open size: left out, its shape means nothing (MODEL.P3R).

        Such an input is usually declared with the one dimension 0, whatever the rank that the signature asks for.
        """
        operand = self.inputs[index]
        is_optional = index < len(self.arguments) and self.arguments[index].optional
        return is_optional and operand.lifetime == _MODEL_INPUT and 0 in operand.dimensions

    def output_dimensions(self, position: int) -> Dimensions | None:
        """Declared shape of an output; None where the rank is unknown."""
        return declared_dimensions(self.outputs[position])

    def value(self, key: Key) -> Array | None:
        """Value of an input as an array of its type and shape; None where it is unknown, absent or omitted."""
        index = self.index(key)
        return self._values.get(index) if index in self._present else None

    def integer(self, key: Key) -> int | None:
        """Value of a scalar input; the catalogue's default where it was left off the end; None where it is unknown."""
        index = self.index(key)
        if index < 0:
            return self._defaults.get(key) if isinstance(key, str) else None
        value = self._values.get(index) if index in self._present else None
        return int(value.flat[0]) if value is not None and value.size == 1 else None

    def integers(self, key: Key) -> tuple[int, ...] | None:
        """Value of an integer tensor input, flat; None where it is unknown, absent or omitted."""
        value = self.value(key)
        return None if value is None else tuple(int(element) for element in value.flat)

    def real(self, key: Key) -> float | None:
        """Value of a floating-point scalar input; None where it is unknown, absent or omitted."""
        value = self.value(key)
        return float(value.flat[0]) if value is not None and value.size == 1 else None

    def once(self, compute: Callable[[OperationView], Result]) -> Result:
        """What a function makes of the view, computed when it is first asked for: several clauses share it."""
        if compute not in self._computed:
            self._computed[compute] = compute(self)
        result: Result = self._computed[compute]
        return result


def declared_dimensions(operand: Operand) -> Dimensions | None:
    """The shape an operand declares: () of a scalar, None for a tensor of unknown rank, None for each unknown size."""
    if operand.dimensions:
        return tuple([dimension or None for dimension in operand.dimensions])
    info = OPERAND_TYPES.get(operand.type)
    return None if info is None or info.is_tensor else ()


def view_of(
    model: Model,
    operation_index: int,
    version: Version,
    *,
    subgraph: int = 0,
    pools: Sequence[memoryview | None] = (),
) -> OperationView:
    """The view of an operation as the model declares it: constants have values, everything else is open.

    subgraph: 0 is main, n + 1 is referenced[n]. pools: contents of the model's pools, None where they cannot be
    read; values of constants in those stay unknown. The model must be valid, and where it uses extensions in the
    catalogue's numbers (`extension_prefixes.with_registered_codes`).
    """
    graph = model.main if subgraph == 0 else model.referenced[subgraph - 1]
    operation = graph.operations[operation_index]
    inputs = [graph.operands[index] for index in operation.inputs]
    values = {}
    for position, operand in enumerate(inputs):
        value = constant_value(model, operand, pools)
        if value is not None:
            values[position] = value
    return OperationView(operation, version, inputs, [graph.operands[i] for i in operation.outputs], values=values)


def constant_value(model: Model, operand: Operand, pools: Sequence[memoryview | None] = ()) -> Array | None:
    """Value of a constant operand as an array; None where it is not a constant or cannot be read."""
    source = _constant_bytes(model, operand, pools)
    info = OPERAND_TYPES.get(operand.type)
    if source is None or info is None or info.size == 0:
        return None
    import numpy

    return numpy.frombuffer(source, info.dtype).reshape(operand.dimensions if info.is_tensor else ())


def _constant_bytes(model: Model, operand: Operand, pools: Sequence[memoryview | None]) -> memoryview | None:
    location = operand.location
    if operand.lifetime == _COPY:
        return memoryview(model.operand_values)[location.offset : location.offset + location.length]
    if operand.lifetime == _POOL and location.pool_index < len(pools):
        pool = pools[location.pool_index]
        return None if pool is None else pool[location.offset : location.offset + location.length]
    return None
