"""Independent arithmetic for expected values, one file per operation, written apart from the kernels."""

from __future__ import annotations

import functools
import importlib
import keyword
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy

from npu_conformance.corpus.oracles.base import ControlFlow, Oracle, OracleOperand, Result, Routine
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.neuralnetworks import extension_modules
from npu_conformance.specs.neuralnetworks.enums import OperationType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.registered_extensions import (
    RegisteredExtension,
    all_registered,
    cached_while_registered,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from npu_conformance.corpus.vector_types import Array, Graph, VectorOperand, VectorOperation

    Inside = Callable[[Graph, Mapping[str, Array]], Mapping[str, Array]]
    """How the outputs of a graph inside of another come from its inputs."""


def names() -> tuple[str, ...]:
    """Names of the operations that have an oracle, sorted; those of registered extensions come last."""
    stems = {path.stem.upper() for path in Path(__file__).parent.glob("*.py")}
    return (*sorted(stems.intersection(OperationType.__members__)), *_registered())


def oracle(operation: str) -> Oracle:
    """The oracle of an operation: the function of its lower case name in the module of that name; KeyError if none."""
    return _registered().get(operation) or _stored_oracle(operation)


def of_extension(extension: RegisteredExtension, operation: str) -> Oracle | None:
    """The oracle that the folder of an extension has for an operation. Raises DocumentError."""
    path, name = extension.file("oracles", operation), _function_name(operation)
    if not path.exists():
        return None
    function = extension_modules.attribute(extension, "oracles", operation, name)
    if not callable(function):
        raise DocumentError(str(path), name, f"expected a function, found a {type(function).__name__}")
    return extension_modules.guarded(function, path)


@cached_while_registered()
def _registered() -> dict[str, Oracle]:
    """Oracles of operations of registered extensions, by name."""
    named = ((name, of_extension(extension, name)) for extension in all_registered() for name in extension.operations)
    return {name: function for name, function in named if function is not None}


@functools.cache
def _stored_oracle(operation: str) -> Oracle:
    function: Oracle = _function(operation)
    return function


@functools.cache
def control_flow(operation: str) -> ControlFlow:
    """The oracle of IF or WHILE."""
    function: ControlFlow = _function(operation)
    return function


def _function(operation: str) -> Any:
    if operation not in names():
        raise KeyError(f"there is no oracle for {operation}")
    module = importlib.import_module(f"{__name__}.{operation.lower()}")
    return getattr(module, _function_name(operation))


def _function_name(operation: str) -> str:
    """The operation in small letters; a word of the language has an underscore behind it."""
    name = operation.lower()
    return f"{name}_" if keyword.iskeyword(name) else name


def evaluate(
    graph: Graph, inputs: Mapping[str, Array], referenced: Sequence[Graph] = (), inside: Inside | None = None
) -> dict[str, Array]:
    """The graph's outputs by the oracles of its operations. KeyError where an operation has none.

    inputs: arrays by operand name. referenced: the graphs that IF and WHILE refer to. inside: how those are computed,
    in this way where it is None. Raises ValueError where an oracle finds another shape than the graph declares.
    """
    inside = inside or (lambda inner, values: evaluate(inner, values, referenced))
    arrays = {name: operand.value for name, operand in graph.operands.items() if operand.value is not None}
    arrays.update(inputs)
    for operation in graph.operations:
        numbers = [graph.operands[name].subgraph for name in operation.inputs]
        if any(number is not None for number in numbers):
            arrays.update(_control_flow(graph, operation, arrays, referenced, inside))
            continue
        arguments = [_operand(graph.operands[name], arrays.get(name)) for name in operation.inputs]
        results = [_output(graph.operands[name]) for name in operation.outputs]
        for name, result in zip(operation.outputs, oracle(operation.type)(arguments, results), strict=True):
            arrays[name] = _array(result, graph.operands[name], name)
    return {name: arrays[name] for name in graph.outputs}


def _control_flow(
    graph: Graph,
    operation: VectorOperation,
    arrays: Mapping[str, Array],
    referenced: Sequence[Graph],
    inside: Inside,
) -> dict[str, Array]:
    def routine(inner: Graph) -> Routine:
        def run(values: Sequence[Array]) -> list[Array]:
            return list(inside(inner, dict(zip(inner.inputs, values, strict=True))).values())

        return run

    operands = [(name, graph.operands[name].subgraph) for name in operation.inputs]
    first, second = (routine(referenced[number]) for _, number in operands if number is not None)
    values = [arrays[name] for name, number in operands if number is None]
    return dict(zip(operation.outputs, control_flow(operation.type)(first, second, values), strict=False))


def _operand(operand: VectorOperand, array: Array | None) -> OracleOperand | None:
    if array is None:
        return None
    extension = operand.extension or b""
    return OracleOperand(
        operand.type, array.shape, operand.scale, operand.zero_point, operand.channel_quant, array, extension
    )


def _output(operand: VectorOperand) -> OracleOperand:
    extension = operand.extension or b""
    return OracleOperand(
        operand.type, operand.dimensions, operand.scale, operand.zero_point, operand.channel_quant, extension=extension
    )


def _array(result: Result, operand: VectorOperand, name: str) -> Array:
    array = numpy.array(result.raw, dtype=OPERAND_TYPES[operand.type].dtype).reshape(result.dimensions)
    declared = operand.dimensions
    known = len(declared) == array.ndim and all(
        size in (0, found) for size, found in zip(declared, array.shape, strict=True)
    )
    if declared and not known:
        raise ValueError(f"{name}: declared {list(declared)}, the oracle finds {list(array.shape)}")
    return array
