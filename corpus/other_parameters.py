"""One model for requests that differ in parameters: scalars, and tensors of axes, paddings or shapes.

The model is that of a stored vector, with its parameters as inputs. The expected values are the oracles'.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.corpus import vectors
from npu_conformance.corpus.several_shapes import is_simple, opened
from npu_conformance.corpus.turns import DATA, evaluated, form_of, is_legal, legal_headers, of_any_shape
from npu_conformance.corpus.variations import allowed
from npu_conformance.corpus.vectors import Example, Vector, VectorHeader
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

_MOST = 16
"""So many sets of parameters are taken in turn."""


def other_parameters(operation: str, version: Version) -> list[Vector]:
    """Vectors whose parameters come with the request, and change from one to the next: one of them, or all.

    The first one that has such requests, the first ones for which another axis is no other shape (two sizes are equal
    there, or all), and those in which a further parameter counts: a projection's clip where there is a projection. None
    where no other parameters are legal with the same data, or none give another result.
    """
    sizes: set[tuple[bool, bool]] = set()
    told: set[str] = set()
    found = []
    for size, vector in _of_each_kind(operation, version):
        alone = _changed_alone(vector)
        if size not in sizes or not alone <= told:
            found.append(vector)
        sizes.add(size)
        told |= alone
    return found


def _of_each_kind(operation: str, version: Version) -> Iterator[tuple[tuple[bool, bool], Vector]]:
    """The first vector with several sets of parameters of each kind: which sizes are equal, what is given."""
    met: set[Hashable] = set()
    legal = legal_headers(operation, version)
    for header in legal:
        kind = _equal_sizes(header), _given(header)
        if kind in met or not _parameters(header):
            continue
        vector = vectors.load(operation, header.name)
        examples = _examples(vector, legal, version) if is_simple(vector) else []
        if len(examples) > 1:
            met.add(kind)
            yield kind[0], opened(asking_for_parameters(vector), examples)


def _changed_alone(vector: Vector) -> set[str]:
    """The inputs that are another one's in an example in which nothing else is."""
    first, *others = (one.inputs for one in vector.examples)
    changed = ([name for name in first if first[name].tobytes() != one[name].tobytes()] for one in others)
    return {names[0] for names in changed if len(names) == 1}


def asked_for(vector: Vector) -> tuple[str, ...]:
    """The inputs of a vector that are parameters."""
    return tuple(name for name in vector.inputs if _is_parameter(name, vector.operands[name].type.name))


def _equal_sizes(header: VectorHeader) -> tuple[bool, bool]:
    """Whether an input has two equal sizes beyond 1 side by side, and whether one has no others."""
    inputs = (one.dimensions for one in header.operands.values() if one.role == "input")
    equal = [[one == other > 1 for one, other in pairwise(shape)] for shape in inputs if len(shape) > 1]
    return any(map(any, equal)), any(map(all, equal))


def _given(header: VectorHeader) -> frozenset[str]:
    """The operands that have a value, without which some parameters do not count."""
    return frozenset(name for name, one in header.operands.items() if one.role != "omitted")


def _parameters(header: VectorHeader) -> dict[str, Hashable]:
    """The form of each constant that is no data, by its name."""
    constants = {name: one for name, one in header.operands.items() if one.role == "constant"}
    return {name: form_of(one) for name, one in constants.items() if _is_parameter(name, one.type)}


def asking_for_parameters(vector: Vector) -> Vector:
    """The vector whose parameters are inputs."""
    names = _values(vector)
    operands = {**vector.operands, **{name: replace(vector.operands[name], value=None) for name in names}}
    return replace(vector, operands=operands, inputs=(*vector.inputs, *names))


def _values(vector: Vector) -> dict[str, Array]:
    """The values of its parameters."""
    return {
        name: one.value
        for name, one in vector.operands.items()
        if one.value is not None and _is_parameter(name, one.type.name)
    }


def _is_parameter(name: str, kind: str) -> bool:
    """True for what is no data, as the biases of quantised operations are in TENSOR_INT32."""
    return kind not in DATA and "bias" not in name


def _examples(vector: Vector, headers: Iterable[VectorHeader], version: Version) -> list[Example]:
    """The first example, and others with other parameters that are legal, and give other results."""
    asking, data = of_any_shape(asking_for_parameters(vector)), vector.examples[0].inputs
    found, tried = [evaluated(asking, {**data, **_values(vector)})], {_key(_values(vector))}
    for values in _candidates(vector, headers):
        if len(found) == _MOST:  # the other vectors need not be read
            break
        if _key(values) in tried:
            continue
        tried.add(_key(values))
        if is_legal(of_any_shape(_with_values(vector, {**data, **values})), {}, version):
            example = evaluated(asking, {**data, **values})
            if not any(_is_same(vector, example, one) for one in found):
                found.append(example)
    return found


def _candidates(vector: Vector, headers: Iterable[VectorHeader]) -> Iterator[dict[str, Array]]:
    """Each parameter alone turned around, and those of the operation's other vectors, one alone and all together."""
    own, form = _values(vector), _parameters(allowed.header_of(vector))
    for name, value in own.items():
        for other in _near(name, value):
            yield {**own, name: other}
    for header in headers:
        if _parameters(header) == form:
            values = _values(vectors.load(vector.operation, header.name))
            yield from ({**own, name: value} for name, value in values.items())
            yield values


def _near(name: str, value: Array) -> Iterator[Array]:
    """Other values of a parameter that a driver may take for the same one: of as large a sum, or the one beside it."""
    if value.ndim:
        yield value[..., ::-1]
    elif value.dtype == bool:
        yield ~value
    elif value.dtype.kind == "f":
        yield value / 2 if value else value + 0.5
    else:
        yield value + 1
        if value > 0 or "axis" in name:  # a padding below 0 is in no document
            yield value - 1


def _key(values: Mapping[str, Array]) -> Hashable:
    return tuple((name, value.tobytes()) for name, value in values.items())


def _with_values(vector: Vector, values: Mapping[str, Array]) -> Vector:
    """The vector with these values as its constants, which all rules see then."""
    changed = {name: replace(vector.operands[name], value=value) for name, value in values.items()}
    return replace(vector, operands={**vector.operands, **changed})


def _is_same(vector: Vector, one: Example, other: Example) -> bool:
    """True for the same results, where they are defined."""
    return all(
        array.shape == other.outputs[name].shape and (array == other.outputs[name]).all()
        for name, array in one.outputs.items()
        if name not in vector.ignored
    )
