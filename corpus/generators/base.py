"""What generators are written with: operands, vectors, pairwise cover and seeded data.

The module of an operation has `def vectors() -> Vectors` and yields `positive(...)` and `rejected(...)`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy

from npu_conformance.corpus import oracles, variations
from npu_conformance.corpus.pairwise import pairwise as pairwise
from npu_conformance.corpus.variations import allowed
from npu_conformance.corpus.vectors import (
    ChannelQuant,
    Example,
    Graph,
    Rejected,
    Vector,
    VectorOperand,
    VectorOperation,
    element_values,
)
from npu_conformance.specs.documents.vectors import GeneratorDocument, Phase
from npu_conformance.specs.neuralnetworks.combinations import combination_since
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.extension_codes import AnyOperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.versions import NEWEST, Version

Vectors = Iterator[Vector]
Array = numpy.ndarray[Any, Any]
Data = Sequence[Any] | Array | float | GeneratorDocument
"""Elements in row-major order (nested lists and arrays are flattened), one number for all, or a generator."""


@dataclass(frozen=True)
class OperandSpec:
    """An operand with its data: a model input, or with `constant` a constant, or with neither an output.

    left_out: a model input without data, which requests leave out.
    """

    operand: VectorOperand
    data: Array | GeneratorDocument | None = None
    constant: bool = False
    shape: tuple[int, ...] = ()
    left_out: bool = False


def tensor(
    operand_type: AnyOperandType,
    dimensions: Sequence[int],
    data: Data | None = None,
    *,
    scale: float = 0.0,
    zero_point: int = 0,
    channel_quant: tuple[Sequence[float], int] | None = None,
    constant: bool = False,
    shape: Sequence[int] | None = None,
) -> OperandSpec:
    """A tensor: with data a model input (or a constant), without data an output. channel_quant: scales, dimension.

    shape: that of the data, where the dimensions leave it open.
    """
    quant = None
    if channel_quant:
        quant = ChannelQuant(tuple(map(element_values.float32, channel_quant[0])), channel_quant[1])
    operand = VectorOperand(operand_type, tuple(dimensions), element_values.float32(scale), zero_point, quant)
    real = operand.dimensions if shape is None else tuple(shape)
    return OperandSpec(operand, _elements(data, operand, real), constant, real)


def constant(operand_type: AnyOperandType, dimensions: Sequence[int], data: Data, **quantization: Any) -> OperandSpec:
    """A constant tensor."""
    return tensor(operand_type, dimensions, data, constant=True, **quantization)


def int32s(*values: int) -> OperandSpec:
    """A constant TENSOR_INT32 of rank 1: axes, sizes, a shape."""
    return constant(OperandType.TENSOR_INT32, (len(values),), values)


def scalar(operand_type: AnyOperandType, value: float) -> OperandSpec:
    """A constant scalar."""
    return tensor(operand_type, (), [value], constant=True)


def int32(value: int) -> OperandSpec:
    """A constant INT32."""
    return scalar(OperandType.INT32, value)


def boolean(value: bool) -> OperandSpec:
    """A constant BOOL."""
    return scalar(OperandType.BOOL, int(value))


def reference(number: int) -> OperandSpec:
    """A reference to a graph of the vector, by its number."""
    return OperandSpec(VectorOperand(OperandType.SUBGRAPH, subgraph=number))


def graph(
    operands: Mapping[str, OperandSpec],
    operations: Sequence[tuple[str, Sequence[str], Sequence[str]]],
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> Graph:
    """A graph for `referenced`. operations: type, names of inputs, names of outputs; in an order of execution."""
    steps = tuple(VectorOperation(kind, tuple(sources), tuple(results)) for kind, sources, results in operations)
    return Graph({name: _with_value(one) for name, one in operands.items()}, steps, tuple(inputs), tuple(outputs))


def omitted(operand_type: AnyOperandType, dimensions: Sequence[int] = (), **quantization: Any) -> OperandSpec:
    """An optional operand without value (NO_VALUE)."""
    spec = tensor(operand_type, dimensions, **quantization)
    return replace(spec, operand=replace(spec.operand, omitted=True))


def left_out(operand_type: AnyOperandType, dimensions: Sequence[int] = (0,)) -> OperandSpec:
    """An optional operand that is an input of the model, and that requests leave out (hasNoValue)."""
    return replace(omitted(operand_type, dimensions), left_out=True)


def positive(
    name: str,
    operation: str,
    inputs: Mapping[str, OperandSpec],
    outputs: Mapping[str, OperandSpec],
    *,
    since: str = "1.0",
    hazards: Sequence[str] = (),
    description: str = "",
    requirements: Sequence[str] = (),
    ignored: Sequence[str] = (),
    excluded: Sequence[str] = (),
    referenced: Sequence[Graph] = (),
) -> Vector:
    """A vector that must run; its expected values come from the oracle. `since` is lifted to that of the types.

    excluded: variations that the data does not allow, such as float16 where values exceed its range. Infinities and
    negative zeros exclude all_inputs_as_internal by themselves, since the ADD in front need not keep them.
    Raises ValueError where the oracle finds another output shape than the generator declares.
    """
    if any(spec.operand.is_open for spec in outputs.values()):
        # Before 1.2 neither a model nor a request may leave the shape of an output open (REQUEST.R5).
        since = max(Version(since), Version.V1_2).value
    vector = replace(_one_operation(name, operation, inputs, outputs, since), referenced=tuple(referenced))
    values = {key: materialised(spec) for key, spec in inputs.items() if _is_sent(spec)}
    example = Example(values, oracles.evaluate(vector.main, values, vector.referenced))
    filled = replace(
        vector,
        examples=(example,),
        witnesses=("oracle",),
        hazards=tuple(hazards),
        description=description,
        requirements=tuple(requirements),
        ignored=tuple(ignored),
        excluded=tuple(excluded),
    )
    return replace(filled, excluded=(*excluded, *_impossible(filled)))


def _impossible(vector: Vector) -> tuple[str, ...]:
    """Variations that the model allows and the data does not."""
    possible = allowed.applicable(allowed.header_of(vector))
    special = any(map(_is_special, vector.examples[0].inputs.values()))
    return tuple(
        name
        for name in possible
        if (name == "all_inputs_as_internal" and special) or variations.apply(name, vector) is None
    )


def _is_special(array: Array) -> bool:
    if array.dtype.kind != "f":
        return False
    negative_zero = (array == 0) & numpy.signbit(array)
    return bool((negative_zero | ~numpy.isfinite(array)).any())


def rejected(
    name: str,
    operation: str,
    inputs: Mapping[str, OperandSpec],
    outputs: Mapping[str, OperandSpec],
    *,
    clause: str,
    phase: Phase | None = None,
    since: str = "1.0",
    until: str = NEWEST.value,
    hazards: Sequence[str] = (),
    description: str = "",
    requirements: Sequence[str] = (),
    referenced: Sequence[Graph] = (),
) -> Vector:
    """A vector that must be refused because of one clause, in the versions from `since` to `until`.

    phase: model where the structure is wrong (clause MODEL.*), which is refused at once; execution where an
    operation's own clause is, which may be noticed when it runs, at the latest. By default as the clause is.
    """
    vector = _one_operation(name, operation, inputs, outputs, since, lift=until == NEWEST.value)
    vector = replace(vector, referenced=tuple(referenced))
    values = {key: materialised(spec) for key, spec in inputs.items() if _is_sent(spec)}
    return replace(
        vector,
        examples=(Example(values, {}),),
        rejected=Rejected(clause, phase or ("model" if clause.startswith("MODEL.") else "execution"), Version(until)),
        hazards=tuple(hazards),
        description=description,
        requirements=tuple(requirements),
    )


def _one_operation(
    name: str,
    operation: str,
    inputs: Mapping[str, OperandSpec],
    outputs: Mapping[str, OperandSpec],
    since: str,
    *,
    lift: bool = True,
) -> Vector:
    """lift: from `since` to the version that brought the combination of types."""
    operands = {key: _with_value(spec) for key, spec in {**inputs, **outputs}.items()}
    kinds = {key: operand.type.name for key, operand in operands.items()}
    legal = combination_since(operation, tuple(kinds[key] for key in inputs), tuple(kinds[key] for key in outputs))
    types = (OPERAND_TYPES[operand.type].since for operand in operands.values())
    lifted = max(Version(since), legal if legal and lift else Version(since), *types)
    arguments = tuple(key for key, spec in inputs.items() if _is_input(spec))
    operations = (VectorOperation(operation, tuple(inputs), tuple(outputs)),)
    generators = {key: spec.data for key, spec in inputs.items() if isinstance(spec.data, GeneratorDocument)}
    return Vector(name, operation, lifted, operands, operations, arguments, tuple(outputs), generators=generators)


def _is_input(spec: OperandSpec) -> bool:
    return spec.left_out or _is_sent(spec)


def _is_sent(spec: OperandSpec) -> bool:
    return spec.data is not None and not spec.constant


def _with_value(spec: OperandSpec) -> VectorOperand:
    return replace(spec.operand, value=materialised(spec)) if spec.constant else spec.operand


def materialised(spec: OperandSpec) -> Array:
    """The elements of a model input or constant; raises ValueError for an operand without any."""
    if isinstance(spec.data, GeneratorDocument):
        return element_values.generate(spec.data, spec.operand.type, spec.shape)
    if spec.data is None:
        raise ValueError("a constant needs data")
    return spec.data


def _elements(data: Data | None, operand: VectorOperand, shape: tuple[int, ...]) -> Array | GeneratorDocument | None:
    if data is None or isinstance(data, GeneratorDocument):
        return data
    dtype = element_values.dtype_of(operand.type)
    with numpy.errstate(over="ignore", under="ignore"):
        array = numpy.asarray(data).astype(dtype)
    if dtype.kind != "f" and not numpy.array_equal(numpy.asarray(data), array):
        raise ValueError(f"{data} does not fit into {dtype}")
    return numpy.full(shape, array) if array.ndim == 0 else array.reshape(shape)


def dyadic(seed: int, dimensions: Sequence[int], low: float = -4.0, high: float = 4.0, step: float = 0.125) -> Array:
    """Seeded multiples of `step` (a power of two): small ones, and their sums, are exact in float16."""
    random = numpy.random.default_rng(seed)
    steps = random.integers(round(low / step), round(high / step), tuple(dimensions), endpoint=True)
    return numpy.asarray(steps * step)


def uniform(seed: int, dimensions: Sequence[int], low: float = -2.0, high: float = 2.0) -> Array:
    """Seeded floats that need all their bits."""
    return numpy.random.default_rng(seed).uniform(low, high, tuple(dimensions))


def integers(seed: int, dimensions: Sequence[int], low: int, high: int) -> Array:
    """Seeded integers in [low, high]."""
    return numpy.random.default_rng(seed).integers(low, high, tuple(dimensions), endpoint=True)
