"""Twins: models of an operation that differ in one thing alone, which makes them compute something else.

A driver that knows a model by a part of it (its shapes, the first bytes of its constants, all but a zero point) makes
one of two such models compute as the other. The models are edited stored vectors, the expected values the oracles'.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from npu_conformance.corpus import nearly_alike, turns, vectors
from npu_conformance.corpus.other_parameters import asked_for
from npu_conformance.corpus.several_shapes import is_simple
from npu_conformance.corpus.twins import arguments, constants, quantization
from npu_conformance.corpus.vectors import Vector, VectorHeader
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.specs.neuralnetworks.operation_view import view_of
from npu_conformance.specs.neuralnetworks.validate import check_operation, validate_model
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

Edit = Callable[[Vector, Version], Iterator[tuple[str, Vector]]]
"""What makes twins of a vector, each with the name of what differs. They may be illegal, or compute the same."""

_EDITS: tuple[Edit, ...] = (
    quantization.zero_points, quantization.scales, quantization.scales_of_channels,
    constants.other_data, constants.other_ends, constants.other_boxes, constants.other_parameters,
    constants.other_graphs, constants.relaxed,
    arguments.orders, arguments.omissions, arguments.other_operations, arguments.types,
)  # fmt: skip
_MOST = 12
"""So many pairs of an operation come from one edit."""
_FORMS = 6
"""So many forms of an operation (types, and which arguments are given) are taken."""
_STEPS = 3
"""By so many a quantised result may be off."""


class Twins(NamedTuple):
    """Two models, each with one example. name: what they differ in."""

    name: str
    one: Vector
    other: Vector


def twins(operation: str, version: Version) -> Iterator[Twins]:
    """For each thing in which two models of an operation may differ the first two that do."""
    bases = list(_bases(operation, version))
    found: set[str] = set()
    for edit in _EDITS:
        pairs = (pair for base in bases for pair in _edited(base, edit, version, found))
        yield from itertools.islice(pairs, _MOST)


def _edited(vector: Vector, edit: Edit, version: Version, found: set[str]) -> Iterator[Twins]:
    """What an edit makes of a vector, but for what was found before."""
    for name, edited in edit(vector, version):
        other = None if name in found else _computed(edited, version)
        if other is not None and _differ(vector, other):
            found.add(name)
            yield Twins(name, vector, other)


def of_two_requests(name: str, vector: Vector, version: Version) -> Iterator[Twins]:
    """Models of fixed shapes for the first two requests of one whose shapes come with the request."""
    for pair in itertools.islice(_beside_the_first(nearly_alike.with_constants(vector, ()), version), 1):
        if pair is not None:
            yield Twins(name, *pair)


def of_parameters(vector: Vector, version: Version) -> Iterator[Twins]:
    """Models that have the parameters of the requests of one as constants: the first beside each of the others."""
    fixed = nearly_alike.with_constants(vector, asked_for(vector))
    for number, pair in enumerate(_beside_the_first(fixed, version), 1):
        if pair is not None:
            yield Twins(f"parameters_{number}", *pair)


def _beside_the_first(vectors: Iterable[Vector], version: Version) -> Iterator[tuple[Vector, Vector] | None]:
    """The first vector with each of the others; None for a pair of which one is illegal or has limits."""
    first, *others = (_computed(one, version) for one in vectors)
    for other in others:
        yield None if first is None or other is None else (first, other)


def _bases(operation: str, version: Version) -> Iterator[Vector]:
    """The first vector of each form; as it is stored, and with all inputs but the first one as constants."""
    plain = filter(_is_plain, (vectors.load(operation, one.name) for one in _forms(operation, version)))
    for vector in itertools.islice(plain, _FORMS):
        first = replace(vector, examples=vector.examples[:1])
        fixed = nearly_alike.with_constants(first, vector.inputs[1:]) if len(vector.inputs) > 1 else ()
        for one in (first, *fixed):
            for edited in (constants.of_many_bits(quantization.of_either_sign(one)), one):
                base = _computed(edited, version)
                if base is not None:
                    yield base
                    break


def _forms(operation: str, version: Version) -> list[VectorHeader]:
    """The first header of each form: those first whose types are others than all before."""
    forms: dict[frozenset[str], dict[tuple[str, ...], VectorHeader]] = {}
    for header in turns.legal_headers(operation, version):
        arguments = header.operands.values()
        of_types = forms.setdefault(frozenset(one.type for one in arguments if one.type.startswith("TENSOR_")), {})
        of_types.setdefault(tuple(one.role for one in arguments), header)
    by_turn = itertools.zip_longest(*(of_types.values() for of_types in forms.values()))
    return [header for turn in by_turn for header in turn if header is not None]


def _is_plain(vector: Vector) -> bool:
    is_general = vector.kind == "general" and bool(vector.inputs) and not vector.relaxed
    return is_general and (bool(vector.referenced) or is_simple(vector))


def _computed(vector: Vector, version: Version) -> Vector | None:
    """The vector with its first example alone, and the oracles' results; None where it is illegal or has limits."""
    inputs = {name: array for name, array in vector.examples[0].inputs.items() if name in vector.inputs}
    opened = vector if vector.referenced else turns.of_any_shape(vector)
    if not _is_defined(vector) or not _is_legal(opened, inputs, max(version, Version.V1_2)):
        return None
    example = turns.evaluated(opened, inputs)
    if not all(array.size and turns.is_ordinary(array) for array in (*inputs.values(), *example.outputs.values())):
        return None
    results = {name: vector.operands[name].with_dimensions(array.shape) for name, array in example.outputs.items()}
    whole = replace(vector, operands={**vector.operands, **results}, examples=(example,))
    # Outputs of any shape, with which it was evaluated, are legal since HAL 1.2.
    return whole if version >= Version.V1_2 or _is_legal(whole, inputs, version) else None


def _is_defined(vector: Vector) -> bool:
    """False for an operation that has no result for some quantised values."""
    first = vector.operands[vector.operations[0].inputs[0]]
    return not (first.scale and vector.operations[0].type in nearly_alike.OF_SOME_VALUES)


def _is_legal(vector: Vector, inputs: Mapping[str, Array], version: Version) -> bool:
    """True where no rule of the model, or of the operation with these inputs, is broken."""
    known = {name: vector.operands[name].with_value(array) for name, array in inputs.items()}
    model = build_model(replace(vector, operands={**vector.operands, **known}, inputs=()), version).model
    return not validate_model(model, version) and not check_operation(view_of(model, 0, version))


def _differ(one: Vector, other: Vector) -> bool:
    """True where arguments come in another order, or results differ by more than a device may be off."""
    if (one.inputs, one.outputs, one.relaxed) != (other.inputs, other.outputs, other.relaxed):
        return True
    return any(_is_other(one, other, name) for name in one.outputs)


def _is_other(one: Vector, other: Vector, name: str) -> bool:
    import numpy

    mine, its = (vector.examples[0].outputs[name] for vector in (one, other))
    if (mine.itemsize, mine.shape) != (its.itemsize, its.shape):
        return True
    if mine.itemsize == 1:  # what has other types of as many bytes has the same bytes as inputs
        mine, its = mine.view(numpy.uint8), its.view(numpy.uint8)
    return bool((abs(mine.astype(float) - its.astype(float)) > _tolerated(its, other.operands[name].scale)).any())


def _tolerated(array: Array, scale: float) -> Array:
    """How far results may be off: a twentieth, three steps of quantisation, one of an integer, or not at all."""
    import numpy

    if array.dtype.kind == "f":
        return numpy.asarray(0.05 * numpy.maximum(1, abs(array.astype(float))))
    return numpy.asarray(_STEPS if scale else int(array.dtype == numpy.int32))
