"""From a Vector to what a driver gets: the canonical wire Model, and Requests whose arguments lie in two pools."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from npu_conformance.corpus.constant_layouts import CONSTANT_ALIGNMENT, COPIED, LAYOUTS, POOLED, Constants
from npu_conformance.specs.neuralnetworks import catalogue, extension_codes, registered_extensions, types
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, byte_size
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array, Example, Graph, Vector, VectorOperand

AIDL_ALIGNMENT = 64
"""AIDL's arguments start at, and with their padding end at, multiples of this many bytes (NNHAL-EXECUTE-011)."""
_NOWHERE = types.DataLocation()
_SPARE = 4096
"""Bytes that each output of a vector that has to be refused has beyond its declared size."""


class BuiltModel(msgspec.Struct, frozen=True):
    """A wire model; operand_index gives the index of each operand of the main graph by its name."""

    model: types.Model
    operand_index: Mapping[str, int]


def build_model(
    vector: Vector,
    version: Version,
    *,
    create_pool: Callable[[bytes], types.Memory] | None = None,
    constants: str = POOLED,
    reserved: int = 0,
    unspecified_outputs: bool = False,
    unranked_outputs: bool = False,
    first_prefix: int = 0,
) -> BuiltModel:
    """The wire model of a vector for one HAL version.

    create_pool: puts bytes into shared memory; if given, constants lie as the layout `constants` says, otherwise all
    are copied. reserved: bytes at the beginning of each pool for other use.
    unspecified_outputs: every dimension of the model's outputs is 0 (unknown).
    unranked_outputs: not even their rank is known (since 1.2).
    first_prefix: of the first extension that the model uses; 0 for one that follows from the vector's name.
    """
    placed = Constants(LAYOUTS[constants if create_pool else COPIED], reserved)
    first = first_prefix or extension_codes.first_prefix(vector.name)
    prefix_of = {number: first + place for place, number in enumerate(extension_codes.numbers_in(_codes(vector)))}
    main, *referenced = [_subgraph(graph, version, placed, prefix_of) for graph in vector.graphs]
    if unspecified_outputs or unranked_outputs:
        main = _with_unknown_outputs(main, with_rank=not unranked_outputs)
    pools = tuple(create_pool(bytes(pool)) for pool in placed.pools if pool) if create_pool else ()
    mapping = tuple(
        types.ExtensionNameAndPrefix(registered_extensions.with_number(number).name, prefix)
        for number, prefix in prefix_of.items()
    )
    model = types.Model(main, tuple(referenced), bytes(placed.values), pools, vector.relaxed, mapping)
    return BuiltModel(model, {name: index for index, name in enumerate(vector.operands)})


def extension_names(vector: Vector) -> list[str]:
    """The names of the extensions whose operations or operand types a vector uses."""
    return [registered_extensions.with_number(number).name for number in extension_codes.numbers_in(_codes(vector))]


def _codes(vector: Vector) -> Iterator[int]:
    """The catalogue's numbers of all operations and operand types of a vector."""
    for graph in vector.graphs:
        yield from (catalogue.operation_code(operation.type) for operation in graph.operations)
        yield from (operand.type for operand in graph.operands.values())


def _aligned(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


def _subgraph(graph: Graph, version: Version, constants: Constants, prefix_of: Mapping[int, int]) -> types.Subgraph:
    index = {name: position for position, name in enumerate(graph.operands)}
    consumers = Counter(name for operation in graph.operations for name in operation.inputs)
    operands = tuple(
        _operand(operand, _boundary(name, graph), consumers[name], version, constants, prefix_of)
        for name, operand in graph.operands.items()
    )
    operations = tuple(
        types.Operation(
            extension_codes.wire_code(catalogue.operation_code(operation.type), prefix_of),
            tuple(index[name] for name in operation.inputs),
            tuple(index[name] for name in operation.outputs),
        )
        for operation in graph.operations
    )
    inputs, outputs = (tuple(index[name] for name in names) for names in (graph.inputs, graph.outputs))
    return types.Subgraph(operands, operations, inputs, outputs)


def _boundary(name: str, graph: Graph) -> OperandLifeTime | None:
    if name in graph.inputs:
        return OperandLifeTime.SUBGRAPH_INPUT
    return OperandLifeTime.SUBGRAPH_OUTPUT if name in graph.outputs else None


def _operand(
    operand: VectorOperand,
    boundary: OperandLifeTime | None,
    consumers: int,
    version: Version,
    constants: Constants,
    prefix_of: Mapping[int, int],
) -> types.Operand:
    lifetime, location = boundary, _NOWHERE
    if lifetime is None and operand.value is not None:
        lifetime, location = constants.place(operand.value)
    elif lifetime is None and operand.subgraph is not None:
        lifetime, location = OperandLifeTime.SUBGRAPH, types.DataLocation(offset=operand.subgraph)
    elif lifetime is None:
        lifetime = OperandLifeTime.NO_VALUE if operand.omitted else OperandLifeTime.TEMPORARY_VARIABLE
    return types.Operand(
        type=extension_codes.wire_code(int(operand.type), prefix_of),
        dimensions=operand.dimensions,
        scale=operand.scale,
        zero_point=operand.zero_point,
        lifetime=int(lifetime),
        location=location,
        extra_params=_extra_params(operand),
        # AIDL has no such field: what is sent there must not look as if it meant something.
        number_of_consumers=0 if version.is_aidl else consumers,
    )


def wire_operand(operand: VectorOperand, lifetime: OperandLifeTime) -> types.Operand:
    """An operand by itself, of a standard type, whose value or graph is elsewhere."""
    return types.Operand(
        type=int(operand.type),
        dimensions=operand.dimensions,
        scale=operand.scale,
        zero_point=operand.zero_point,
        lifetime=int(lifetime),
        extra_params=_extra_params(operand),
    )


def _extra_params(operand: VectorOperand) -> types.OperandExtraParams | None:
    quant = operand.channel_quant
    if operand.extension is not None:
        return types.OperandExtraParams(extension=operand.extension)
    if quant is None:
        return None
    return types.OperandExtraParams(types.SymmPerChannelQuantParams(quant.scales, quant.channel_dim))


def _with_unknown_outputs(main: types.Subgraph, *, with_rank: bool) -> types.Subgraph:
    operands = list(main.operands)
    for index in main.output_indexes:
        rank = len(operands[index].dimensions) if with_rank else 0
        operands[index] = replace(operands[index], dimensions=(0,) * rank)
    return replace(main, operands=tuple(operands))


class Region(msgspec.Struct, frozen=True):
    """Where one argument lies in its pool: offset, length and the padding behind it, in bytes."""

    offset: int
    length: int
    padding: int


class BuiltRequest(msgspec.Struct, frozen=True):
    """The arguments of one execution, laid out; inputs fill pool 0, outputs pool 1.

    input_data: the bytes of the input pool. output_size: bytes of the output pool. inputs, outputs: regions by operand
    name; an omitted input has none.
    """

    vector: Vector
    input_data: bytes
    output_size: int
    inputs: Mapping[str, Region]
    outputs: Mapping[str, Region]
    shapes: Mapping[str, tuple[int, ...]]

    def request(self, input_pool: types.RequestMemoryPool, output_pool: types.RequestMemoryPool) -> types.Request:
        """The wire request over the caller's pools. Dimensions are given where the model leaves an input's open."""
        inputs = tuple(self._input(name) for name in self.vector.inputs)
        outputs = tuple(
            types.RequestArgument(location=_location(1, self.outputs[name])) for name in self.vector.outputs
        )
        return types.Request(inputs, outputs, (input_pool, output_pool))

    def _input(self, name: str) -> types.RequestArgument:
        if name not in self.inputs:
            return types.RequestArgument(has_no_value=True)
        return types.RequestArgument(location=_location(0, self.inputs[name]), dimensions=self.shapes.get(name, ()))

    def read(self, name: str, pool: bytes | memoryview, dimensions: tuple[int, ...]) -> Array:
        """A copy of one output from the bytes of the output pool, in the shape the device reported.

        Raises ValueError where that shape needs more bytes than the region has.
        """
        import numpy

        region, dtype = self.outputs[name], OPERAND_TYPES[self.vector.operands[name].type].dtype
        elements = math.prod(dimensions)
        if elements * numpy.dtype(dtype).itemsize > region.length:
            raise ValueError(f"{name}: dimensions {list(dimensions)} do not fit into {region.length} bytes")
        return numpy.frombuffer(pool, dtype, elements, region.offset).reshape(dimensions).copy()

    def read_like(self, example: Example, pool: bytes | memoryview) -> dict[str, Array]:
        """A copy of each output from the bytes of the output pool, in the shapes that they have in the example."""
        return {name: self.read(name, pool, array.shape) for name, array in example.outputs.items()}


def build_request(
    vector: Vector,
    example: Example,
    version: Version,
    *,
    insufficient_output: bool = False,
    padded_outputs: bool = True,
    compact: bool = False,
) -> BuiltRequest:
    """Lay out inputs and outputs: 64-byte aligned and padded for AIDL, 4-byte aligned for HIDL.

    The last one comes first: that an argument is found by its order in memory must show.
    A zero-sized output gets one byte (NNHAL-SHAPE-010). insufficient_output: output 0 is one byte short, in AIDL with
    that byte as padding; meant for outputs of more than one byte. padded_outputs: false keeps the places but offers no
    padding behind outputs, so that a device has no business there. compact: as for HIDL, whatever the version.
    Outputs of a vector that has to be refused have room to spare: a device that computes it all the same must not stop
    for want of room, which would look like a refusal.
    """
    has_padding = version.is_aidl and not compact
    inputs = _Layout(has_padding=has_padding, aligned=has_padding)
    for name in reversed(vector.inputs):
        if name in example.inputs:
            inputs.append(name, example.inputs[name].nbytes)
    outputs = _Layout(has_padding=has_padding and padded_outputs, aligned=has_padding)
    spare = 0 if vector.rejected is None else _SPARE
    for position, name in reversed(list(enumerate(vector.outputs))):
        short = 1 if insufficient_output and position == 0 else 0
        outputs.append(name, max(_output_bytes(name, vector, example), 1) + spare, short)
    data = bytearray(inputs.size)
    for name, region in inputs.regions.items():
        data[region.offset : region.offset + region.length] = example.inputs[name].tobytes()
    shapes = {
        name: array.shape for name, array in example.inputs.items() if vector.operands[name].dimensions != array.shape
    }
    return BuiltRequest(vector, bytes(data), outputs.size, inputs.regions, outputs.regions, shapes)


class _Layout:
    """Arguments one behind the other in a pool."""

    def __init__(self, *, has_padding: bool, aligned: bool) -> None:
        self._has_padding = has_padding
        self._alignment = AIDL_ALIGNMENT if aligned else CONSTANT_ALIGNMENT
        self.regions: dict[str, Region] = {}
        self._end = 0

    def append(self, name: str, length: int, short: int = 0) -> None:
        """Place `length` bytes, of which the last `short` are not offered as room for data."""
        end = _aligned(self._end + length, self._alignment)
        padding = end - self._end - length + short if self._has_padding else 0
        self.regions[name] = Region(self._end, length - short, padding)
        self._end = end

    @property
    def size(self) -> int:
        """Bytes of the pool: at least one, since a pool of none cannot be mapped."""
        return max(self._end, 1)


def _output_bytes(name: str, vector: Vector, example: Example) -> int:
    operand = vector.operands[name]
    if name in example.outputs:
        return example.outputs[name].nbytes
    if operand.dimensions:
        return byte_size(operand.type, operand.dimensions)
    # It must be rejected and has an unknown rank: nothing may look as if only the room for the output were missing.
    elements = max((array.size for array in example.inputs.values()), default=1)
    return elements * OPERAND_TYPES[operand.type].size


def _location(pool: int, region: Region) -> types.DataLocation:
    return types.DataLocation(pool, region.offset, region.length, region.padding)
