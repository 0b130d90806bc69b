"""Models whose results are known for some requests: those of vectors, and of requests that differ."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from npu_conformance.corpus import nearly_alike, turns, vectors
from npu_conformance.corpus.constant_layouts import BESIDE_INPUTS, LAYOUTS
from npu_conformance.corpus.other_parameters import asked_for
from npu_conformance.corpus.same_model import with_all_examples
from npu_conformance.corpus.vectors import Example, Vector, VectorHeader
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.harness.judge.outputs import judge
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.seeds import stable_hash
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, byte_size
from npu_conformance.specs.neuralnetworks.types import Memory, Model, Operand
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.turning import KINDS, OF_SEVERAL_TENSORS

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

MOST_BYTES = 8192
"""Of all arguments of a request: larger ones would make a history slow."""
_STORED = 4
"""So many stored vectors of an operation are taken."""
_ALIKE = 4
"""So many models are taken that are like one of these."""
_AXIS = OperandType.INT32
_LAYOUTS = tuple(name for name in LAYOUTS if name != BESIDE_INPUTS)

CreatePool = Callable[[bytes], Memory]


class Value(msgspec.Struct, frozen=True):
    """A tensor or scalar: its dimensions, and its bytes."""

    dimensions: tuple[int, ...]
    data: bytes


class KnownExample(msgspec.Struct, frozen=True):
    """A request, and what it has to give. inputs: None for one that is left out."""

    inputs: tuple[Value | None, ...]
    outputs: tuple[Value, ...]

    @property
    def form(self) -> tuple[object, ...]:
        """The dimensions of the inputs, None for one that is left out."""
        return tuple(one and one.dimensions for one in self.inputs)

    @property
    def has_empty_outputs(self) -> bool:
        """True where a size of an output is 0, which for the driver is one that nobody says."""
        return any(0 in one.dimensions for one in self.outputs)

    @property
    def size(self) -> int:
        """Bytes of all arguments."""
        return sum(len(one.data) for one in (*self.inputs, *self.outputs) if one is not None)


class KnownModel(msgspec.Struct, frozen=True, eq=False):
    """A model. family: of those that differ from it in hardly anything. has_loops: a loop timeout counts for it.

    build: makes it, with its constants in one of `layouts`. check: fails unless the outputs of an example, by its
    number, are these bytes, or near enough. axes: which inputs are an axis.
    """

    name: str
    family: str
    build: Callable[[CreatePool, str], Model]
    layouts: tuple[str, ...]
    examples: tuple[KnownExample, ...]
    check: Callable[[CaseContext, int, Sequence[bytes]], None]
    has_loops: bool = False
    axes: tuple[int, ...] = ()

    def __str__(self) -> str:
        return self.name

    def near(self, number: int) -> list[int]:
        """The examples whose inputs have the dimensions of those of one, which is among them."""
        form = self.examples[number].form
        return [at for at, one in enumerate(self.examples) if one.form == form]


def arguments_of(model: Model) -> tuple[list[Operand], list[Operand]]:
    """The operands that are inputs of a model, and those that are outputs."""
    main = model.main
    return [main.operands[at] for at in main.input_indexes], [main.operands[at] for at in main.output_indexes]


def of_operation(operation: str, version: Version, seed: str) -> Iterator[KnownModel]:
    """Some stored vectors of an operation, those whose requests differ, and what is nearly like one of these.

    Which ones follows from the name of each, not from how many there are: one more vector hardly changes a history.
    """
    stored = with_all_examples(filter(_is_usable, _stored(operation, version)))
    for vector in sorted(stored, key=lambda one: stable_hash(f"{seed} {one.name}"))[:_STORED]:
        yield from _family(vector.name, vector, _near(vector, version), version, seed)
    for kind in KINDS:
        if kind.since <= version and kind.has(operation):
            for vector in kind.find(operation, version)[:2]:
                name = f"{vector.name} ({kind.name})"
                yield from _family(name, vector, _turning(vector, kind.name), version, seed)


def _stored(operation: str, version: Version) -> Iterator[Vector]:
    """The vectors that a driver has to take; of those that break a rule no result is known.

    Large ones are not read: to work out their values would take longer than the history.
    """
    for header in vectors.headers(operation):
        if header.rejected is None and header.since <= version and _size(header) <= MOST_BYTES:
            yield vectors.load(operation, header.name)


def _size(header: VectorHeader) -> int:
    """Bytes of the arguments, as far as the header tells."""
    arguments = (one for one in header.operands.values() if one.role in ("input", "output"))
    return sum(byte_size(OperandType[one.type], one.dimensions) for one in arguments)


def _near(vector: Vector, version: Version) -> Iterator[Vector]:
    """What is nearly like a stored vector, or asks for all its data."""
    yield from nearly_alike.turned(vector)
    yield from nearly_alike.with_other_zero_points(vector, version)
    yield from nearly_alike.relaxed_twin(vector, version)
    if vector.operation in OF_SEVERAL_TENSORS:
        yield from turns.asking_for_data(vector, version)


def _turning(vector: Vector, kind: str) -> Iterator[Vector]:
    """Of a vector whose requests differ: models with parameters or data as constants, and one with temporaries."""
    names = {"other_parameters": asked_for(vector), "other_data": vector.inputs[1:]}.get(kind, ())
    if names:
        yield from nearly_alike.with_constants(vector, names)
    if kind == "other_parameters":
        yield from nearly_alike.with_one_left(vector, names)
    yield from nearly_alike.with_temporaries(vector)


def _family(name: str, first: Vector, alike: Iterable[Vector], version: Version, seed: str) -> Iterator[KnownModel]:
    """A vector, and some of what is like it: few, so that they live beside each other in one history."""
    if not _is_usable(first):
        return
    yield _known(first, version, name, name)
    others = list(enumerate(filter(_is_usable, alike), 1))
    chance = random.Random(f"{seed} {name}")
    for number, vector in chance.sample(others, min(len(others), _ALIKE)):
        yield _known(vector, version, f"{name}, {number}", name)


def _is_usable(vector: Vector) -> bool:
    """True where each result is known, and a driver has to take the model."""
    sizes = [_example(vector, one).size for one in vector.examples]
    is_small = bool(sizes) and max(sizes) <= MOST_BYTES
    is_plain = vector.kind == "general" and not _leaves_loops_open(vector)
    return is_small and is_plain and bool(vector.inputs) and _is_ordinary(vector)


def _known(vector: Vector, version: Version, name: str, family: str) -> KnownModel:
    def build(create_pool: CreatePool, layout: str) -> Model:
        return build_model(vector, version, create_pool=create_pool, constants=layout).model

    told = f"{'+'.join(dict.fromkeys(one.type for one in vector.operations))} {name}"
    examples = tuple(_example(vector, one) for one in vector.examples)
    axes = tuple(at for at, one in enumerate(vector.inputs) if one == "axis" and vector.operands[one].type == _AXIS)
    return KnownModel(told, family, build, _LAYOUTS, examples, partial(_check, vector), vector.has_loops, axes)


def _is_ordinary(vector: Vector) -> bool:
    """True where no value is a limit of its type: what a device makes of such ones `vts.generated` asks."""
    arrays = (array for one in vector.examples for array in (*one.inputs.values(), *one.outputs.values()))
    return all(map(turns.is_ordinary, arrays))


def _leaves_loops_open(vector: Vector) -> bool:
    """True where WHILE carries what has no size, which a driver refuses (MODEL.P8)."""
    return vector.has_loops and any(one.is_open for graph in vector.referenced for one in graph.operands.values())


def _example(vector: Vector, example: Example) -> KnownExample:
    inputs = tuple(_value(example.inputs[name]) if name in example.inputs else None for name in vector.inputs)
    return KnownExample(inputs, tuple(_value(example.outputs[name]) for name in vector.outputs))


def _value(array: Array) -> Value:
    return Value(array.shape, array.tobytes())


def _check(vector: Vector, context: CaseContext, number: int, outputs: Sequence[bytes]) -> None:
    import numpy

    example = vector.examples[number]
    found = {
        name: numpy.frombuffer(
            data, OPERAND_TYPES[vector.operands[name].type].dtype, math.prod(example.outputs[name].shape)
        ).reshape(example.outputs[name].shape)
        for name, data in zip(vector.outputs, outputs, strict=True)
    }
    judge(context, vector, example, found)
