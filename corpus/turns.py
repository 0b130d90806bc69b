"""One model for requests that differ: tensors of as many elements in other dimensions, optional ones, empty ones.

The models are those of stored vectors, with more of their operands as inputs. The expected values are the oracles'.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.corpus import variations, vectors
from npu_conformance.corpus.model_builder import IllegalOperationError, ModelBuilder
from npu_conformance.corpus.several_shapes import is_simple, opened
from npu_conformance.corpus.variations import allowed
from npu_conformance.corpus.vectors import Example, HeaderOperand, Vector, VectorHeader, VectorOperand, VectorOperation
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

_SHAPES = 3
"""So many shapes are taken in turn."""

_ROWS = (0, 2, 1, 0, 3)
"""Numbers of rows that are taken of three, one execution after the other."""

DATA = {
    "TENSOR_FLOAT32",
    "TENSOR_FLOAT16",
    "TENSOR_QUANT8_ASYMM",
    "TENSOR_QUANT8_ASYMM_SIGNED",
    "TENSOR_BOOL8",
    "TENSOR_QUANT8_SYMM_PER_CHANNEL",
}
"""Types of which no operation has parameters."""

_LARGEST = 2.0**24
"""The largest magnitude of a value: up to here floats hold every integer."""

_RECURRENT = {
    "BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_RNN", "LSTM", "RNN", "SVDF", "UNIDIRECTIONAL_SEQUENCE_LSTM",
    "UNIDIRECTIONAL_SEQUENCE_RNN",
}  # fmt: skip

_SLICED = {"TENSOR_FLOAT32", "TENSOR_FLOAT16", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_INT32"}
"""Types of which SLICE takes rows."""


_RESHAPED = {"TENSOR_FLOAT32", "TENSOR_FLOAT16", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED"}
"""Types of which RESHAPE takes any shape."""
_SHAPE = "shape_of_the_rows"


def same_size(operation: str, version: Version) -> list[Vector]:
    """A vector whose inputs come in several shapes of as many elements; none where the operation takes no others."""
    for header in legal_headers(operation, version):
        if _may_be_rearranged(header):
            vector = vectors.load(operation, header.name)
            examples = list(itertools.islice(_rearranged(vector, version), _SHAPES)) if is_simple(vector) else []
            if len(examples) > 1:
                return [opened(vector, examples)]
    return []


def same_size_behind(operation: str, version: Version) -> list[Vector]:
    """The vector of `same_size` behind a RESHAPE: requests differ in nothing but the values of a shape.

    Its rearranged inputs are temporaries of unknown sizes, which have as many elements in each execution. None where
    RESHAPE does not take their type.
    """
    found = same_size(operation, version)
    return [_behind_reshape(one) for one in found if {one.operands[name].type.name for name in _open(one)} <= _RESHAPED]


def _open(vector: Vector) -> list[str]:
    """The inputs whose shapes differ from one example to the next."""
    return [name for name in vector.inputs if len({one.inputs[name].shape for one in vector.examples}) > 1]


def _behind_reshape(vector: Vector) -> Vector:
    import numpy

    names = {name: f"{name}_in_a_row" for name in _open(vector)}
    first = vector.examples[0].inputs
    rows = {row: replace(vector.operands[name], dimensions=(first[name].size,)) for name, row in names.items()}
    shape = VectorOperand(OperandType.TENSOR_INT32, (first[next(iter(names))].ndim,))
    made = replace(
        vector,
        since=max(vector.since, Version.V1_2),
        operands={**vector.operands, **rows, _SHAPE: shape},
        operations=(
            *(VectorOperation("RESHAPE", (row, _SHAPE), (name,)) for name, row in names.items()),
            *vector.operations,
        ),
        inputs=(*(names.get(name, name) for name in vector.inputs), _SHAPE),
    )

    def given(example: Example) -> Example:
        inputs = {
            names.get(name, name): array.reshape(-1) if name in names else array
            for name, array in example.inputs.items()
        }
        sizes = example.inputs[next(iter(names))].shape
        return Example({**inputs, _SHAPE: numpy.array(sizes, numpy.int32)}, example.outputs)

    return replace(made, examples=tuple(map(given, vector.examples)))


def other_data(operation: str, version: Version) -> list[Vector]:
    """Vectors whose tensors all come with the request, of which the next one changes one alone: one for each type.

    None where fewer than two tensors hold data. Of recurrent operations it is the first type alone: errors add up in
    half floats, which only chosen numbers keep small.
    """
    found: dict[frozenset[str], Vector] = {}
    for header in legal_headers(operation, version):
        types = frozenset(one.type for one in header.operands.values()) & DATA
        if types not in found:
            for made in asking_for_data(vectors.load(operation, header.name), version):
                found[types] = made
    return list(found.values())[: 1 if operation in _RECURRENT else None]


def asking_for_data(vector: Vector, version: Version) -> Iterator[Vector]:
    """The vector whose tensors all come with the request, where two of them or more hold data; else none."""
    header = allowed.header_of(vector)
    if allowed.applicable(header).get("all_tensors_as_inputs", header.since) > version:
        return
    given = variations.apply("all_tensors_as_inputs", vector) or vector
    examples = _changed_one_by_one(given) if is_simple(vector) else []
    if len(examples) > 2:
        yield replace(given, examples=tuple(examples))


def _changed_one_by_one(vector: Vector) -> list[Example]:
    """The first example, and for each tensor of data some in which its elements have other places."""
    inputs = {**vector.examples[0].inputs}
    data = [name for name in inputs if vector.operands[name].type.name in DATA]
    inputs |= {name: _uneven(inputs[name]) for name in data}
    first = evaluated(vector, inputs)
    return [first, *(one for name in data for one in _with_other_places(vector, first, name))]


def _with_other_places(vector: Vector, first: Example, name: str) -> Iterator[Example]:
    """At most two examples in which the elements of a tensor have other places, and a defined output is another one."""
    defined = [one for one in vector.outputs if one not in vector.ignored]
    changed = (evaluated(vector, {**first.inputs, name: moved}) for moved in _moved(first.inputs[name]))
    matter = (one for one in changed if any((one.outputs[each] != first.outputs[each]).any() for each in defined))
    return itertools.islice(matter, 2)


def _uneven(array: Array) -> Array:
    """The array; where all its elements are equal, as those of a state are, one with others, so that places matter."""
    import numpy

    if array.size < 2 or (array != array.reshape(-1)[0]).any():
        return array
    steps = numpy.arange(array.size).reshape(array.shape) % 4
    rising: Array = (
        array + (steps / 4).astype(array.dtype) if array.dtype.kind == "f" else array ^ steps.astype(array.dtype)
    )
    return rising


def _moved(array: Array) -> Iterator[Array]:
    """Each element one place on; all but the first and the last backwards; then two places on, and three."""
    import numpy

    yield numpy.roll(array, 1)
    flat = array.reshape(-1)
    if flat.size > 3:
        yield numpy.concatenate((flat[:1], flat[-2:0:-1], flat[-1:])).reshape(array.shape)
        yield numpy.roll(array, 2)
        yield numpy.roll(array, 3)


def omitted(operation: str, version: Version) -> list[Vector]:
    """A vector whose optional inputs a request may leave out; none where the operation has none that is known."""
    headers = [one for one in legal_headers(operation, version) if one.operations == (operation,)]
    pairs = [(one, other) for one in headers for other in headers if _optional_in(one, other)]
    for given, without in sorted(pairs, key=lambda pair: len(_optional_in(*pair))):
        made = _leaving_out(operation, given, without, version)
        is_open = made is not None and any(operand.is_open for operand in made.operands.values())
        if made is not None and (version >= Version.V1_2 or not is_open):
            return [made]
    return []


def emptied(operation: str, version: Version) -> list[Vector]:
    """A vector whose operation gets some rows of an input, or none; all of them are the last output.

    None where the operation takes no tensors without elements.
    """
    for header in legal_headers(operation, version):
        inputs = [one for one in header.operands.values() if one.role == "input"]
        if len(inputs) == 1 and header.operations == (operation,) and _may_be_cut(inputs[0]):
            vector = vectors.load(operation, header.name)
            given = [{vector.inputs[0]: rows} for rows in _cuts(vector) if rows.size]
            if is_simple(vector) and all(is_legal(vector, one, version) for one in given):
                return [_of_some_rows(vector)]
    return []


def _may_be_cut(operand: HeaderOperand) -> bool:
    return len(operand.dimensions) > 1 and 0 not in operand.dimensions and operand.type in _SLICED


def _cuts(vector: Vector) -> list[Array]:
    """The rows of the input that are taken in each execution, of as many as are needed."""
    import numpy

    (array,) = vector.examples[0].inputs.values()
    rows = numpy.resize(array, (max(_ROWS), *array.shape[1:]))
    return [rows[:count] for count in _ROWS]


def legal_headers(operation: str, version: Version) -> list[VectorHeader]:
    """The vectors of an operation that a version has and has to compute."""
    return [one for one in vectors.headers(operation) if one.rejected is None and one.since <= version]


def _may_be_rearranged(header: VectorHeader) -> bool:
    """True where an input has several sizes that are not all the same, and no constant says those of the output."""
    if "output_shape" in header.operands:
        return False
    shapes = [one.dimensions for one in header.operands.values() if one.role == "input"]
    return any(len(set(shape)) > 1 and 0 not in shape for shape in shapes)


def _rearranged(vector: Vector, version: Version) -> Iterator[Example]:
    """The inputs of the first example, of which those of the largest shape get others as far as the rules allow."""
    inputs = vector.examples[0].inputs
    largest = max((array.shape for array in inputs.values()), key=lambda shape: (math.prod(shape), len(shape)))
    for shape in dict.fromkeys([largest, *itertools.permutations(largest)]):
        given = {name: array.reshape(shape) if array.shape == largest else array for name, array in inputs.items()}
        if is_legal(vector, given, version):
            yield evaluated(of_any_shape(vector), given)


def is_legal(vector: Vector, inputs: Mapping[str, Array], version: Version) -> bool:
    """True where the one operation of a vector may have these inputs, as far as the model's rules can tell."""
    builder = ModelBuilder(version)
    for name, operand in vector.operands.items():
        if name in inputs:
            builder.input(replace(operand, dimensions=inputs[name].shape), inputs[name], name)
        elif operand.value is not None:
            builder.constant(operand, operand.value, name)
        elif name not in vector.outputs:
            builder.omitted(operand, name)
    (operation,) = vector.operations
    results = [replace(vector.operands[name], dimensions=()) for name in operation.outputs]
    try:
        builder.apply(operation.type, operation.inputs, results)
    except IllegalOperationError:
        return False
    return True


def of_any_shape(vector: Vector) -> Vector:
    """The vector without the shapes of its outputs."""
    outputs = {name: replace(vector.operands[name], dimensions=()) for name in vector.outputs}
    return replace(vector, operands={**vector.operands, **outputs})


def evaluated(vector: Vector, inputs: Mapping[str, Array]) -> Example:
    """An example with these inputs, and the outputs of the oracle."""
    from npu_conformance.corpus import oracles

    return Example(inputs, oracles.evaluate(vector.main, inputs, vector.referenced))


def is_ordinary(array: Array) -> bool:
    """True where no value is a limit of its type, of which a device may make several things."""
    import numpy

    return bool(numpy.isfinite(array).all() and (abs(array.astype(float)) <= _LARGEST).all())


def _optional_in(given: VectorHeader, without: VectorHeader) -> tuple[str, ...]:
    """The arguments in which alone two vectors differ: the second one omits them. None where more than that differs."""
    if given.operands.keys() != without.operands.keys() or given.relaxed != without.relaxed:
        return ()
    pairs = {name: (given.operands[name], without.operands[name]) for name in given.operands}
    names = tuple(name for name, (one, two) in pairs.items() if one.role != "omitted" and two.role == "omitted")
    same = all(form_of(one) == form_of(two) for name, (one, two) in pairs.items() if name not in names)
    return names if same else ()


def form_of(operand: HeaderOperand) -> Hashable:
    """Type and shape of an operand, and whether it is left out."""
    return operand.type, operand.dimensions, operand.role == "omitted"


def _leaving_out(operation: str, given: VectorHeader, without: VectorHeader, version: Version) -> Vector | None:
    """The first vector, with an example that lacks what the second one omits; None where that is not legal."""
    vector, names = vectors.load(operation, given.name), _optional_in(given, without)
    values = {name: value for name in names if (value := vector.operands[name].value) is not None}
    operands = {**vector.operands, **{name: replace(vector.operands[name], value=None) for name in names}}
    open_model = replace(vector, operands=operands, inputs=(*vector.inputs, *values))
    whole = {**vector.examples[0].inputs, **values}
    rest = {name: array for name, array in whole.items() if name not in names}
    if not is_legal(open_model, rest, version):
        return None
    examples = [evaluated(of_any_shape(open_model), inputs) for inputs in (whole, rest)]
    return opened(open_model, examples)


def _of_some_rows(vector: Vector) -> Vector:
    """The vector behind a SLICE, with a request that says how many rows it takes, and with a copy of all rows."""
    import numpy

    cut, data = vector.inputs[0], max(_cuts(vector), key=len)
    rows = replace(vector.operands[cut], dimensions=data.shape)
    size = VectorOperand(OperandType.TENSOR_INT32, (data.ndim,))
    begin = replace(size, value=numpy.zeros(data.ndim, numpy.int32))
    every = replace(size, value=numpy.array(data.shape, numpy.int32))
    open_operands = {
        name: replace(vector.operands[name], dimensions=(0,) * len(vector.operands[name].dimensions))
        for name in (cut, *vector.outputs)
    }
    made = replace(
        vector,
        since=max(vector.since, Version.V1_2),
        operands={
            **vector.operands, **open_operands,
            "all_rows": rows, "no_row": begin, "sizes": size, "all_sizes": every, "copied_rows": rows,
        },
        operations=(
            VectorOperation("SLICE", ("all_rows", "no_row", "sizes"), (cut,)),
            *vector.operations,
            VectorOperation("SLICE", ("all_rows", "no_row", "all_sizes"), ("copied_rows",)),
        ),
        inputs=("all_rows", "sizes"),
        outputs=(*vector.outputs, "copied_rows"),
    )  # fmt: skip
    sizes = [numpy.array((count, *data.shape[1:]), numpy.int32) for count in _ROWS]
    return replace(made, examples=tuple(evaluated(made, {"all_rows": data, "sizes": one}) for one in sizes))
