"""Draws executions: an example of a model, where its arguments lie, and in which pools of a request."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import closing

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Operand,
    Request,
    RequestArgument,
    RequestMemoryPool,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.operation_histories.history import History
from npu_conformance.vts.lib.operation_histories.known_models import KnownExample, Value
from npu_conformance.vts.lib.operation_histories.memory import NoRoomError, Region
from npu_conformance.vts.lib.operation_histories.things import Argument, Ask, Held, Living


def ask(
    history: History, living: Living, chance: random.Random, *, with_buffers: bool = True, may_hide: bool = False
) -> Ask | None:
    """Draw an execution, and write what it reads; None where there is no room, or no such example.

    may_hide: the shapes of outputs need not be said, nor be without 0.
    """
    before = history.asked.get(living.number)
    if before is not None and chance.random() < 0.4 and _may_repeat(history, before, with_buffers, may_hide):
        asked = replace(before)
        another_example(history, asked, chance)
        return asked
    numbers = [at for at, one in enumerate(living.known.examples) if may_hide or not one.has_empty_outputs]
    if not numbers:
        return None
    try:
        asked = _drawn(history, living, _number(living, numbers, chance), chance, with_buffers, may_hide)
    except NoRoomError:
        return None
    write(history, asked)
    history.asked[living.number] = asked
    return asked


def _may_repeat(history: History, before: Ask, with_buffers: bool, may_hide: bool) -> bool:
    """True where the last request of a model can be asked for once more, over the same memory."""
    is_alright = (with_buffers or not before.buffers) and (may_hide or not before.hides_shapes)
    return is_alright and history.is_free(before)


def _number(living: Living, numbers: Sequence[int], chance: random.Random) -> int:
    """An example: often one whose inputs have the shapes of those of the last one."""
    near = [at for at in living.known.near(living.last) if at in numbers] if living.last is not None else []
    living.last = chance.choice(near if near and chance.random() < 0.6 else numbers)
    return living.last


def write(history: History, asked: Ask) -> None:
    """Write the inputs of an execution, and over its outputs."""
    example = asked.living.known.examples[asked.example]
    for place, value in zip(asked.inputs, example.inputs, strict=True):
        if isinstance(place, Region) and value is not None:
            history.memory.write(place, value.data)
        elif isinstance(place, Held) and value is not None:
            fill(history, place, value)
    for output in asked.outputs:
        if isinstance(output, Region):
            history.memory.clear(output)


def another_example(history: History, asked: Ask, chance: random.Random) -> None:
    """Let an execution that is asked for have the data of another example of the same shapes, mostly."""
    examples, now = asked.living.known.examples, asked.example
    others = [at for at in asked.living.known.near(now) if at != now and _fits(asked, examples[at])]
    asked.example = chance.choice(others) if others and chance.random() < 0.85 else now
    write(history, asked)


def _fits(asked: Ask, example: KnownExample) -> bool:
    """True for an example that the request takes as it is.

    Inputs of one buffer have one value, and outputs the shapes that are said, or room enough.
    """
    given = zip(asked.inputs, example.inputs, strict=True)
    pairs = [(place, value) for place, value in given if isinstance(place, Held)]
    outputs = zip(asked.request.outputs, asked.living.outputs, asked.outputs, example.outputs, strict=True)
    return all(value == other for place, value in pairs for same, other in pairs if place is same) and all(
        _takes(argument.dimensions or operand.dimensions, place, value) for argument, operand, place, value in outputs
    )


def _takes(said: tuple[int, ...], place: Region | Held, value: Value) -> bool:
    """True where an output has the shape that is said, or nobody says one and it has room."""
    is_open = not said or 0 in said
    return value.dimensions == said or (is_open and _has_room(place, value))


def _has_room(place: Region | Held, value: Value) -> bool:
    """True where an output that nobody has said the shape of fits."""
    return isinstance(place, Region) and len(value.data) <= place.length


def fill(history: History, held: Held, value: Value) -> None:
    """Copy a value into a buffer, unless it is what it holds."""
    if held.value == value:
        return
    with closing(history.context.pool(len(value.data))) as pool, checks.about("NNHAL-MEMDOMAIN-015"):
        pool.write(0, value.data)
        memory = pool.memory
        checks.works(lambda: held.made.buffer.copy_from(memory, value.dimensions), f"copyFrom of {held}")
    held.value = value


def _with_role(buffers: Sequence[Held], living: Living, direction: str, index: int, value: Value) -> list[Held]:
    """The buffers that were allocated for an argument of a model, and take a value."""
    mine = [one for one in buffers if (living.number, direction, index) in one.roles and value.data]
    return [one for one in mine if one.dimensions in ((), value.dimensions)]


def _drawn(
    history: History, living: Living, number: int, chance: random.Random, with_buffers: bool, may_hide: bool
) -> Ask:
    """An execution with an example. Raises NoRoomError."""
    example = living.known.examples[number]
    usable = history.free_buffers if with_buffers and history.version >= Version.V1_3 else []
    taken = history.taken
    outputs = _outputs(history, living, example, usable, taken, chance)
    unused = [one for one in usable if one not in outputs]  # a buffer may not be both
    inputs = _inputs(history, living, example, unused, taken, chance)
    may_hide = may_hide and history.version >= Version.V1_2
    request, entries = _request(history, living, example, [*inputs, *outputs], chance, may_hide=may_hide)
    return Ask(living, number, inputs, outputs, request, entries)


def _outputs(
    history: History,
    living: Living,
    example: KnownExample,
    usable: Sequence[Held],
    taken: list[Region],
    chance: random.Random,
) -> list[Region | Held]:
    """A buffer or a place for each output, each its own. taken: grows by the places."""
    found: list[Region | Held] = []
    for index, value in enumerate(example.outputs):
        held = [one for one in _with_role(usable, living, "output", index, value) if one not in found]
        found.append(_place(history, held, _longest(living, example, index), taken, chance))
    return found


def _inputs(
    history: History,
    living: Living,
    example: KnownExample,
    usable: Sequence[Held],
    taken: list[Region],
    chance: random.Random,
) -> list[Argument]:
    """The same for each input that is not left out; what is the same value may be in the same buffer."""
    found: list[Argument] = []
    for index, value in enumerate(example.inputs):
        if value is None:
            found.append(None)
            continue
        given = {one: other for one, other in zip(found, example.inputs, strict=False) if isinstance(one, Held)}
        held = [one for one in _with_role(usable, living, "input", index, value) if given.get(one, value) == value]
        found.append(_place(history, held, len(value.data), taken, chance))
    return found


def _place(
    history: History, held: Sequence[Held], length: int, taken: list[Region], chance: random.Random
) -> Region | Held:
    """One of these buffers, mostly, or a place, which is taken then."""
    if held and chance.random() < 0.85:
        return chance.choice(held)
    place = history.memory.place(length, taken, chance)
    taken.append(place)
    return place


def _longest(living: Living, example: KnownExample, index: int) -> int:
    """Bytes of an output in any example whose inputs have the shapes of those of one."""
    return max(len(one.outputs[index].data) for one in living.known.examples if one.form == example.form)


def _request(
    history: History,
    living: Living,
    example: KnownExample,
    places: Sequence[Argument],
    chance: random.Random,
    *,
    may_hide: bool,
) -> tuple[Request, list[int | Held]]:
    """The request, whose pools come in any order, and some that no argument names."""
    entries: list[int | Held] = []
    for place in places:
        entry = place.pool if isinstance(place, Region) else place
        if entry is not None and entry not in entries:
            entries.append(entry)
    if chance.random() < 0.15:
        entries.append(chance.randrange(len(history.memory.pools)))
    chance.shuffle(entries)
    values, operands = (*example.inputs, *example.outputs), (*living.inputs, *living.outputs)
    arguments = []
    for number, (place, value, operand) in enumerate(zip(places, values, operands, strict=True)):
        is_output = number >= len(example.inputs)
        dimensions = _said(value, operand, chance, may_hide=may_hide and is_output)
        arguments.append(_argument(place, value, entries, dimensions, is_output=is_output))
    pools = tuple(_pool(history, entry) for entry in entries)
    count = len(example.inputs)
    return Request(tuple(arguments[:count]), tuple(arguments[count:]), pools), entries


def _said(value: Value | None, operand: Operand, chance: random.Random, *, may_hide: bool) -> tuple[int, ...]:
    """The dimensions that a request says: those that the model leaves open, mostly, and others now and then."""
    if value is None:
        return ()
    is_left_open = value.dimensions != operand.dimensions
    is_said = chance.random() < 0.6 if is_left_open and may_hide else is_left_open or chance.random() < 0.3
    return value.dimensions if is_said else ()


def _argument(
    place: Argument, value: Value | None, entries: Sequence[int | Held], dimensions: tuple[int, ...], *, is_output: bool
) -> RequestArgument:
    """An argument; an output has its whole place, of one byte where it has no elements (NNHAL-SHAPE-010)."""
    if place is None or value is None:
        return RequestArgument(has_no_value=True)
    if isinstance(place, Held):
        return RequestArgument(False, DataLocation(entries.index(place)), dimensions)
    location = DataLocation(entries.index(place.pool), place.offset, place.length if is_output else len(value.data))
    return RequestArgument(False, location, dimensions)


def _pool(history: History, entry: int | Held) -> RequestMemoryPool:
    if isinstance(entry, Held):
        return RequestMemoryPool(token=entry.made.token)
    return RequestMemoryPool(pool=history.memory.pools[entry].memory)
