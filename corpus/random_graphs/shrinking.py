"""Makes a graph that fails smaller, as long as it still fails: operations, outputs, sizes, then values.

What an operation read of one that is gone becomes an input of the model, with the value that it had there: mostly one
operation is left, or the two between which the fault is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy
from msgspec.structs import replace

from npu_conformance.corpus import oracles
from npu_conformance.corpus.model_builder import IllegalOperationError, ModelBuilder
from npu_conformance.corpus.vector_types import Example, Graph, Vector, VectorOperand, VectorOperation
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

TRIALS = 300
"""How often a graph is tried at most."""

Fails = Callable[[Vector], bool]


def shrunk(vector: Vector, fails: Fails, trials: int = TRIALS) -> Vector:
    """The smallest graph found that `fails` still; the graph itself where no smaller one does."""
    shrinking = _Shrinking(vector, fails, trials)
    shrinking.improve(_single_operations)
    while shrinking.improve(_without_operations):
        pass
    shrinking.improve(_single_outputs)
    for candidates in (_smaller_sizes, _simpler_values):
        while shrinking.improve(candidates):
            pass
    return shrinking.best


def smaller(vector: Vector) -> Iterator[Vector]:
    """Every smaller graph that `shrunk` would try first, those without most of the graph in front."""
    for candidates in (_single_operations, _without_operations, _single_outputs, _smaller_sizes, _simpler_values):
        yield from candidates(vector)


@dataclass
class _Shrinking:
    best: Vector
    fails: Fails
    left: int

    def improve(self, candidates: Callable[[Vector], Iterator[Vector]]) -> bool:
        """Take the first candidate that fails; False where none does."""
        for candidate in candidates(self.best):
            if not self.left:
                return False
            self.left -= 1
            if self.fails(candidate):
                self.best = candidate
                return True
        return False


def values_of(vector: Vector) -> dict[str, Array]:
    """The values of all operands of a graph that have any, by the oracles."""
    produced = tuple(name for operation in vector.operations for name in operation.outputs)
    whole = Graph(vector.operands, vector.operations, vector.inputs, produced)
    found = oracles.evaluate(whole, vector.examples[0].inputs, vector.referenced)
    constants = {name: operand.value for name, operand in vector.operands.items() if operand.value is not None}
    return {**constants, **vector.examples[0].inputs, **found}


def cut(
    vector: Vector,
    operations: Sequence[VectorOperation],
    outputs: Sequence[str] = (),
    values: Mapping[str, Array] | None = None,
) -> Vector:
    """The graph of some of its operations. outputs: of the new graph; those that it had, or nobody reads, if empty.

    values: those of all operands, where they are known.
    """
    values = values_of(vector) if values is None else values
    read = dict.fromkeys(name for operation in operations for name in operation.inputs)
    produced = dict.fromkeys(name for operation in operations for name in operation.outputs)
    wanted = outputs or [name for name in produced if name in vector.outputs or name not in read]
    used = [name for name in vector.operands if name in read or name in produced]
    operands = {name: vector.operands[name] for name in used}
    given = tuple(name for name in used if name not in produced and _is_variable(operands[name]))
    example = Example({name: values[name] for name in given}, {name: values[name] for name in wanted})
    return replace(
        vector,
        operation=operations[-1].type,
        operands=operands,
        operations=tuple(operations),
        inputs=given,
        outputs=tuple(wanted),
        examples=(example,),
        ignored=tuple(name for name in vector.ignored if name in wanted),
    )


def _is_variable(operand: VectorOperand) -> bool:
    return operand.value is None and not operand.omitted and operand.subgraph is None


def _single_operations(vector: Vector) -> Iterator[Vector]:
    """Each operation by itself."""
    if len(vector.operations) > 1:
        values = values_of(vector)
        yield from _with_inputs(cut(vector, (operation,), (), values) for operation in vector.operations)


def _without_operations(vector: Vector) -> Iterator[Vector]:
    """The graph without some operations that follow each other: half of them, a quarter, ..., one."""
    count = len(vector.operations)
    length = count // 2
    values = values_of(vector) if length else {}
    while length:
        for start in range(0, count, length):
            kept = (*vector.operations[:start], *vector.operations[start + length :])
            if kept:
                yield from _with_inputs([cut(vector, kept, (), values)])
        length //= 2


def _with_inputs(vectors: Iterable[Vector]) -> Iterator[Vector]:
    """An operation on constants alone is no candidate: a model wants an input."""
    return (vector for vector in vectors if vector.inputs)


def _single_outputs(vector: Vector) -> Iterator[Vector]:
    """The graph with one of its outputs that somebody reads less: every result that nobody reads has to stay."""
    read = {name for operation in vector.operations for name in operation.inputs}
    needed = [name for name in vector.outputs if name not in read]
    if len(needed) < len(vector.outputs):
        values = values_of(vector)
        yield cut(vector, vector.operations, needed, values)
        for name in vector.outputs:
            if name in read:
                yield cut(vector, vector.operations, [*needed, name], values)


def _smaller_sizes(vector: Vector) -> Iterator[Vector]:
    """Halve every dimension of a size at once, or one dimension of one tensor."""
    if vector.referenced:
        return
    tensors = {name: array for name, array in data_of(vector).items() if array.ndim}
    sizes = sorted({size for array in tensors.values() for size in array.shape if size > 1}, reverse=True)
    for size in sizes:
        yield from over(vector, {name: _halved(array, size) for name, array in tensors.items()})
    for name, array in tensors.items():
        for axis, size in enumerate(array.shape):
            if size > 1:
                yield from over(vector, {name: array.take(range(size // 2), axis)})


def _simpler_values(vector: Vector) -> Iterator[Vector]:
    """The vector with one tensor all zero, or rounded to whole numbers."""
    for name, array in data_of(vector).items():
        zero = numpy.full_like(array, vector.operands[name].zero_point)
        for simpler in (zero, numpy.round(array) if array.dtype.kind == "f" else array):
            if not numpy.array_equal(simpler, array):
                yield from over(vector, {name: simpler})


def data_of(vector: Vector) -> dict[str, Array]:
    """Inputs and constants that are data, not parameters: inputs of the model, and constants that are no int32."""
    given = vector.examples[0].inputs
    found = {name: array for name, array in given.items() if vector.operands[name].channel_quant is None}
    for name, operand in vector.operands.items():
        is_data = operand.channel_quant is None and OPERAND_TYPES[operand.type].dtype != "int32"
        if operand.value is not None and operand.dimensions and is_data:
            found[name] = operand.value
    return found


def _halved(array: Array, size: int) -> Array:
    for axis, found in enumerate(array.shape):
        if found == size:
            array = array.take(range(size // 2), axis)
    return array


def over(vector: Vector, changed: Mapping[str, Array]) -> Iterator[Vector]:
    """The graph over changed inputs and constants, with the shapes and values that follow; nothing if it is illegal."""
    try:
        operands, results = _operands_over(vector, changed)
        inputs = {name: changed.get(name, array) for name, array in vector.examples[0].inputs.items()}
        made = replace(vector, operands={**operands, **results}, examples=(Example(inputs, {}),))
        found = oracles.evaluate(made.main, inputs, made.referenced)
    except (IllegalOperationError, ValueError, ArithmeticError, LookupError):
        return
    if all(numpy.isfinite(array.astype(numpy.float64)).all() for array in found.values()):
        yield replace(made, examples=(Example(inputs, found),))


def _operands_over(
    vector: Vector, changed: Mapping[str, Array]
) -> tuple[dict[str, VectorOperand], dict[str, VectorOperand]]:
    """All operands, and those of them that are results in the shapes that the rules give them."""
    operands = {
        name: replace(operand, dimensions=changed[name].shape, value=None if operand.value is None else changed[name])
        if name in changed
        else operand
        for name, operand in vector.operands.items()
    }
    results: dict[str, VectorOperand] = {}
    for operation in vector.operations:
        builder = ModelBuilder(vector.since, vector.referenced)
        for name in dict.fromkeys(operation.inputs):
            _add(builder, name, results.get(name, operands[name]))
        declared = [replace(operands[name], dimensions=()) for name in operation.outputs]
        if vector.referenced:
            declared = [operands[name] for name in operation.outputs]
        made = builder.apply(operation.type, operation.inputs, declared)
        results.update(zip(operation.outputs, map(builder.operand, made), strict=True))
    return operands, results


def _add(builder: ModelBuilder, name: str, operand: VectorOperand) -> None:
    if operand.subgraph is not None:
        builder.reference(operand.subgraph, name)
    elif operand.omitted:
        builder.omitted(operand, name)
    elif operand.value is not None:
        builder.constant(operand, operand.value, name)
    else:
        builder.input(operand, numpy.zeros(operand.dimensions), name)
