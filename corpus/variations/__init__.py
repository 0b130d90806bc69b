"""Variations: pure functions that make another vector with the same meaning out of one.

They mean what the variations of AOSP's test generator mean. `apply` returns None where the vector does not allow it;
`allowed` says what is allowed. The `since` of the result follows the catalogue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.corpus.variations.allowed import (
    ACTIVATION,
    FLOAT16,
    LAYOUT,
    NOT_COUPLED,
    SIGNED,
    applicable,
    header_of,
    is_addable,
    is_tensor,
)
from npu_conformance.corpus.vectors import Example, Graph, Vector, VectorOperand, VectorOperation
from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.combinations import combination_since
from npu_conformance.specs.neuralnetworks.enums import FusedActivation, OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, operand_type

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

_NCHW = (0, 3, 1, 2)
_CLAMPS = (FusedActivation.RELU6, FusedActivation.RELU1, FusedActivation.RELU)
_SHAPE = "output_shape"
"""The argument of TRANSPOSE_CONV_2D that holds a shape in the layout of the activations."""


def apply(name: str, vector: Vector) -> Vector | None:
    """Apply a variation by its name; None where the vector does not allow it. KeyError for an unknown name."""
    function = _FUNCTIONS[name]
    since = applicable(header_of(vector)).get(name)
    if since is None:
        return None
    varied = function(vector)
    return None if varied is None else replace(varied, since=since)


def _relaxed(vector: Vector) -> Vector | None:
    """The same model with relaxComputationFloat32toFloat16: every operation may compute as coarsely as float16."""
    halved = {name: _half_operand(operand) for name, operand in vector.operands.items()}
    for example in vector.examples:
        if _overflows(vector, example, halved, {name: _half(array) for name, array in example.inputs.items()}):
            return None
    return replace(vector, relaxed=True)


def _float16(vector: Vector) -> Vector | None:
    """float32 operands become float16. Expected values are computed anew where a value had to be rounded."""
    operands = {name: _half_operand(operand) for name, operand in vector.operands.items()}
    # Expected values are no longer what the oracle finds for the inputs, where these are exact: they are written, too.
    varied = replace(vector, operands=operands, referenced=_retyped(vector.referenced, _half_operand), generators={})
    examples = []
    for example in vector.examples:
        outputs: Mapping[str, Array]
        inputs = {name: _half(array) for name, array in example.inputs.items()}
        if _overflows(vector, example, operands, inputs):
            return None
        if not vector.referenced and _is_exact(vector, example, operands, inputs):
            outputs = {name: _half(array) for name, array in example.outputs.items()}
        else:
            outputs = _recomputed(varied, inputs, example)
        examples.append(Example(inputs, outputs))
    return replace(varied, examples=tuple(examples))


def signed(vector: Vector) -> Vector:
    """Unsigned 8-bit quantisation becomes signed: zero points and elements are smaller by 128.

    This is the variation quant8_signed, whose results are right of operations that it applies to.
    """
    names = {name for name, operand in vector.operands.items() if operand.type is OperandType.TENSOR_QUANT8_ASYMM}
    operands = {name: _signed_operand(operand) for name, operand in vector.operands.items()}
    examples = tuple(
        Example(
            {name: _shifted(array) if name in names else array for name, array in example.inputs.items()},
            {name: _shifted(array) if name in names else array for name, array in example.outputs.items()},
        )
        for example in vector.examples
    )
    referenced = _retyped(vector.referenced, _signed_operand)
    return replace(vector, operands=operands, examples=examples, referenced=referenced)


def _nchw(vector: Vector) -> Vector | None:
    """Input 0 and output 0 in the layout batch, channels, height, width; filters keep theirs."""
    (operation,) = vector.operations
    permuted = {operation.inputs[0], operation.outputs[0]}
    operands = {
        name: _permuted_operand(operand) if name in permuted else operand for name, operand in vector.operands.items()
    }
    layout = _argument(vector, LAYOUT)
    if layout is None:
        layout = LAYOUT
        operation = replace(operation, inputs=(*operation.inputs, layout))
    operands[layout] = VectorOperand(OperandType.BOOL, value=_ones())
    shape = _argument(vector, _SHAPE)
    if shape is not None:
        sizes = operands[shape].value
        if sizes is None:
            return None
        operands[shape] = replace(operands[shape], value=sizes[list(_NCHW)])
    examples = tuple(
        Example(
            {name: _permuted(array) if name in permuted else array for name, array in example.inputs.items()},
            {name: _permuted(array) if name in permuted else array for name, array in example.outputs.items()},
        )
        for example in vector.examples
    )
    return replace(vector, operands=operands, operations=(operation,), examples=examples)


def _fused(vector: Vector) -> Vector | None:
    """A fused activation clamps the outputs: by the name of the vector the first one of three that changes any."""
    activation, (output,) = _argument(vector, ACTIVATION), vector.outputs
    if activation is None or vector.ignored:
        return None
    turn = sum(vector.name.encode()) % len(_CLAMPS)
    for code in _CLAMPS[turn:] + _CLAMPS[:turn]:
        low, high = _limits(vector.operands[output], code)
        clamped = [
            example.outputs[output].clip(low, high).astype(example.outputs[output].dtype) for example in vector.examples
        ]
        pairs = list(zip(vector.examples, clamped, strict=True))
        if all((array != example.outputs[output]).any() for example, array in pairs):
            operands = {**vector.operands, activation: replace(vector.operands[activation], value=_int32(int(code)))}
            examples = tuple(replace(example, outputs={output: array}) for example, array in pairs)
            return replace(vector, operands=operands, examples=examples)
    return None


def _limits(operand: VectorOperand, activation: FusedActivation) -> tuple[float, float]:
    """Stored elements that an activation leaves: rounding keeps which of two numbers is the larger."""
    from npu_conformance.corpus.oracles.base import OracleOperand

    output = OracleOperand(operand.type, scale=operand.scale, zero_point=operand.zero_point)
    return output.activation_ranges[activation]


def _all_inputs_as_internal(vector: Vector) -> Vector | None:
    """Each input that ADD can take is computed inside the model: ADD(new input, zero)."""
    operands, additions, renamed = dict(vector.operands), [], {}
    for name in vector.inputs:
        operand = vector.operands[name]
        if operand.omitted or not is_addable(operand.type.name, operand.dimensions):
            continue
        new, zero, none = f"{name}_new", f"{name}_zero", f"{name}_none"
        operands[new] = operand
        operands[zero] = replace(operand, dimensions=(1,), value=_zero(operand))
        operands[none] = VectorOperand(OperandType.INT32, value=_int32(0))
        additions.append(VectorOperation("ADD", (new, zero, none), (name,)))
        renamed[name] = new
    examples = tuple(
        replace(example, inputs={renamed.get(name, name): array for name, array in example.inputs.items()})
        for example in vector.examples
    )
    inputs = tuple(renamed.get(name, name) for name in vector.inputs)
    operations = (*additions, *vector.operations)
    return replace(vector, operands=operands, operations=operations, inputs=inputs, examples=examples)


def _all_tensors_as_inputs(vector: Vector) -> Vector | None:
    """Constant tensors become model inputs; scalars stay constant."""
    constants = {
        name: operand.value
        for name, operand in vector.operands.items()
        if operand.value is not None and is_tensor(operand.type.name)
    }
    operands = {
        name: replace(operand, value=None) if name in constants else operand
        for name, operand in vector.operands.items()
    }
    inputs = tuple(name for name in operands if name in vector.inputs or name in constants)
    examples = tuple(replace(example, inputs={**example.inputs, **constants}) for example in vector.examples)
    return replace(vector, operands=operands, inputs=inputs, examples=examples)


def unsigned(vector: Vector) -> Vector | None:
    """The inverse of quant8_signed; None where there is no such form, or where it need not agree.

    The forms of an extension's operation are its vendor's: nothing says that they agree.
    """
    if catalogue.is_registered(vector.operation):
        return None
    operands = {name: _unsigned_operand(operand) for name, operand in vector.operands.items()}
    names = {name for name, operand in vector.operands.items() if operand.type.name in SIGNED.values()}
    if not names or NOT_COUPLED.intersection(operation.type for operation in vector.operations):
        return None
    examples = tuple(
        Example(
            {name: _raised(array) if name in names else array for name, array in example.inputs.items()},
            {name: _raised(array) if name in names else array for name, array in example.outputs.items()},
        )
        for example in vector.examples
    )
    result = replace(
        vector, operands=operands, examples=examples, referenced=_retyped(vector.referenced, _unsigned_operand)
    )
    (operation,) = vector.operations
    inputs = tuple(operands[name].type.name for name in operation.inputs)
    outputs = tuple(operands[name].type.name for name in operation.outputs)
    return None if combination_since(operation.type, inputs, outputs) is None else result


def _half(array: Array) -> Array:
    import numpy

    if array.dtype != numpy.float32:
        return array
    with numpy.errstate(over="ignore", under="ignore"):
        return array.astype(numpy.float16)


def _half_operand(operand: VectorOperand) -> VectorOperand:
    kind = operand_type(FLOAT16.get(operand.type.name, operand.type.name))
    return replace(operand, type=kind, value=None if operand.value is None else _half(operand.value))


def _pairs(
    vector: Vector, example: Example, operands: Mapping[str, VectorOperand], inputs: Mapping[str, Array]
) -> Iterator[tuple[Array, Array]]:
    """Every constant and input before and after it was rounded."""
    for name, array in example.inputs.items():
        yield array, inputs[name]
    for name, operand in vector.operands.items():
        after = operands[name].value
        if operand.value is not None and after is not None:
            yield operand.value, after


def _overflows(
    vector: Vector, example: Example, operands: Mapping[str, VectorOperand], inputs: Mapping[str, Array]
) -> bool:
    import numpy

    expected = ((array, _half(array)) for array in example.outputs.values())
    return any(
        bool((numpy.isfinite(before) & ~numpy.isfinite(after)).any())
        for before, after in (*_pairs(vector, example, operands, inputs), *expected)
    )


def _is_exact(
    vector: Vector, example: Example, operands: Mapping[str, VectorOperand], inputs: Mapping[str, Array]
) -> bool:
    return all(bool((before == after).all()) for before, after in _pairs(vector, example, operands, inputs))


def _recomputed(varied: Vector, inputs: Mapping[str, Array], example: Example) -> Mapping[str, Array]:
    from npu_conformance.corpus import oracles

    if varied.operation in oracles.names():
        return oracles.evaluate(varied.main, inputs, varied.referenced)
    return {name: _half(array) for name, array in example.outputs.items()}


def _shifted(array: Array) -> Array:
    import numpy

    return (array.astype(numpy.int16) - 128).astype(numpy.int8)


def _retyped(graphs: tuple[Graph, ...], change: Callable[[VectorOperand], VectorOperand]) -> tuple[Graph, ...]:
    """The graphs that IF and WHILE refer to, with operands changed as those of the main graph are."""
    return tuple(
        replace(graph, operands={name: change(operand) for name, operand in graph.operands.items()}) for graph in graphs
    )


def _signed_operand(operand: VectorOperand) -> VectorOperand:
    """The signed form of an operand of unsigned 8-bit quantisation; any other as it is."""
    if operand.type is not OperandType.TENSOR_QUANT8_ASYMM:
        return operand
    value = None if operand.value is None else _shifted(operand.value)
    kind = OperandType.TENSOR_QUANT8_ASYMM_SIGNED
    return replace(operand, type=kind, zero_point=operand.zero_point - 128, value=value)


def _unsigned_operand(operand: VectorOperand) -> VectorOperand:
    """The unsigned form of an operand of signed 8-bit quantisation; any other as it is."""
    if operand.type is not OperandType.TENSOR_QUANT8_ASYMM_SIGNED:
        return operand
    value = None if operand.value is None else _raised(operand.value)
    return replace(operand, type=OperandType.TENSOR_QUANT8_ASYMM, zero_point=operand.zero_point + 128, value=value)


def _raised(array: Array) -> Array:
    import numpy

    return (array.astype(numpy.int16) + 128).astype(numpy.uint8)


def _permuted(array: Array) -> Array:
    import numpy

    return numpy.ascontiguousarray(array.transpose(_NCHW))


def _permuted_operand(operand: VectorOperand) -> VectorOperand:
    dimensions = tuple(operand.dimensions[axis] for axis in _NCHW)
    return replace(operand, dimensions=dimensions, value=None if operand.value is None else _permuted(operand.value))


def _argument(vector: Vector, name: str) -> str | None:
    """The operand of the one operation that the catalogue gives this name; None where it is not in the list."""
    (operation,) = vector.operations
    kinds = tuple(vector.operands[operand].type for operand in operation.inputs)
    signature = catalogue.find_signature(operation.type, kinds)
    position = signature.position(name) if signature else -1
    return operation.inputs[position] if 0 <= position < len(kinds) else None


def _zero(operand: VectorOperand) -> Array:
    import numpy

    return numpy.array([operand.zero_point], dtype=OPERAND_TYPES[operand.type].dtype)


def _int32(value: int) -> Array:
    import numpy

    return numpy.array(value, dtype=numpy.int32)


def _ones() -> Array:
    import numpy

    return numpy.array(1, dtype=numpy.uint8)


_FUNCTIONS: dict[str, Callable[[Vector], Vector | None]] = {
    "relaxed": _relaxed,
    "float16": _float16,
    "quant8_signed": signed,
    "nchw": _nchw,
    "fused": _fused,
    "all_inputs_as_internal": _all_inputs_as_internal,
    "all_tensors_as_inputs": _all_tensors_as_inputs,
}
