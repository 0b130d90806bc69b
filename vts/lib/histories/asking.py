"""Draws executions: where their arguments lie, and in which pools of a request."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from npu_conformance.specs.neuralnetworks.types import DataLocation, Request, RequestArgument, RequestMemoryPool
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.addition import SIZE, Values
from npu_conformance.vts.lib.histories.history import Ask, Held, History, Living
from npu_conformance.vts.lib.histories.memory import ROWS, Place, is_input, rows_of


def drawn_values(chance: random.Random, rows: int = 1) -> Values:
    """Values that every type adds exactly, of either sign: two for each row."""
    return tuple(chance.randrange(-20, 21) / 4 for _ in range(2 * rows))


def ask(
    history: History,
    living: Living,
    chance: random.Random,
    *,
    with_buffers: bool = True,
    given: Mapping[int, Place | Held] = MappingProxyType({}),
    rows: int | None = None,
    may_hide: bool = False,
) -> Ask | None:
    """Draw an execution, and write what it reads; None where there is no room.

    given: inputs that are not drawn. rows: of the inputs, where the model leaves it open; drawn if None. may_hide: the
    request need not say the shapes of outputs.
    """
    recipe = living.recipe
    if len(history.memories.free()) < recipe.inputs + len(recipe.terms):
        return None
    again = None if given else _again(history, living, chance, with_buffers=with_buffers)
    if again is not None:
        return again
    usable = history.free_buffers if with_buffers else []
    wanted = (rows or chance.choice(ROWS)) if recipe.is_open else 1
    inputs = [
        given.get(index) or _input(history, living, index, usable, wanted, chance) for index in range(recipe.inputs)
    ]
    counts = [_rows(history, one, wanted) for one in inputs]
    outputs = _outputs(history, living, inputs, recipe.rows(counts), usable, chance)
    clear(history, outputs)
    history.asked[living.number] = _requested(
        history, living, inputs, outputs, counts, usable, chance, may_hide=may_hide
    )
    return history.asked[living.number]


def _again(history: History, living: Living, chance: random.Random, *, with_buffers: bool) -> Ask | None:
    """The latest execution of a model over other pools, sometimes."""
    before = history.asked.get(living.number)
    if before is None or before.hides_shapes or chance.random() >= 0.2:
        return None
    is_usable = with_buffers or all(isinstance(one, int) for one in before.entries)
    return _moved(history, before, chance) if is_usable else None


def _outputs(
    history: History,
    living: Living,
    inputs: Sequence[Place | Held],
    counts: Sequence[int],
    usable: Sequence[Held],
    chance: random.Random,
) -> list[Place | Held]:
    """Where outputs of so many rows go: each to a buffer that has the room, or to a place that nobody uses."""
    outputs: list[Place | Held] = []
    for index, count in enumerate(counts):
        taken = [*inputs, *outputs]
        buffers = with_role(usable, living, "output", index)
        fitting = [one for one in buffers if one not in taken and one.rows in (None, count)]
        if fitting and chance.random() < 0.6:
            outputs.append(chance.choice(fitting))
        else:
            outputs.append(chance.choice(history.memories.free(one for one in taken if isinstance(one, Place))))
    return outputs


def _rows(history: History, argument: Place | Held, wanted: int) -> int:
    """The number of rows of an input; what it is to be where nothing is known of it yet."""
    values = argument.values if isinstance(argument, Held) else history.memories.values.get(argument)
    if values is not None:
        return rows_of(values)
    return argument.rows or wanted if isinstance(argument, Held) else wanted


def clear(history: History, outputs: Sequence[Place | Held]) -> None:
    """Overwrite the outputs in memory."""
    for output in outputs:
        if isinstance(output, Place):
            history.memories.clear(output)


def _moved(history: History, before: Ask, chance: random.Random) -> Ask | None:
    """An earlier execution of the model over other pools: all else of the request is the same."""
    pools = chance.sample(range(len(history.memories.pools)), len(history.memories.pools))
    places = [Place(pools[one.pool], one.offset) for one in (*before.inputs, *before.outputs) if isinstance(one, Place)]
    are_free = set(places) <= set(history.memories.free()) and all_live(history, before)
    if len(places) < len(before.inputs) + len(before.outputs) or not are_free:
        return None
    inputs, outputs = places[: len(before.inputs)], places[len(before.inputs) :]
    for place, rows in zip(inputs, before.rows, strict=True):
        history.memories.write(place, drawn_values(chance, rows), before.living.recipe.chosen)
    clear(history, outputs)
    entries = [pools[entry] if isinstance(entry, int) else entry for entry in before.entries]
    request = replace(before.request, pools=tuple(_pool(history, entry) for entry in entries))
    return Ask(before.living, inputs, outputs, before.rows, request, entries)


def with_role(buffers: Sequence[Held], living: Living, direction: str, index: int) -> list[Held]:
    """The buffers that were allocated for an argument of a model."""
    return [one for one in buffers if (living.number, direction, index) in one.roles]


def _input(
    history: History, living: Living, index: int, usable: Sequence[Held], wanted: int, chance: random.Random
) -> Place | Held:
    """A buffer with content, a tensor that somebody has left, or a new one; of one row now and then."""
    recipe = living.recipe
    rows = 1 if recipe.is_open and chance.random() < 0.15 else wanted
    buffers = with_role(usable, living, "input", index)
    filled = [one for one in buffers if one.values and is_input(one.values) and rows_of(one.values) == rows]
    if filled and chance.random() < 0.6:
        return chance.choice(filled)
    known = history.memories.known(rows, recipe.chosen)
    if known and chance.random() < 0.4:
        return chance.choice(known)
    place = chance.choice(history.memories.free())
    history.memories.write(place, drawn_values(chance, rows), recipe.chosen)
    return place


def _requested(
    history: History,
    living: Living,
    inputs: list[Place | Held],
    outputs: list[Place | Held],
    rows: list[int],
    usable: Sequence[Held],
    chance: random.Random,
    *,
    may_hide: bool,
) -> Ask:
    """Lay out the pools of the request: in any order, some twice, some that no argument names, buffers too."""
    entries: list[int | Held] = []
    joined = chance.choice((0.2, 0.85, 0.95))
    wanted = [_entry(entries, one, joined, chance) for one in (*inputs, *outputs)]
    if chance.random() < 0.15:
        entries.append(chance.randrange(len(history.memories.pools)))
    if usable and chance.random() < 0.1:
        entries.append(chance.choice(usable))
    order = chance.sample(range(len(entries)), len(entries))
    entries = [entries[at] for at in order]
    counts = [*rows, *living.recipe.rows(rows)]
    arguments = [
        _argument(one, order.index(at), living.recipe.shape(count), count, chance)
        for one, at, count in zip((*inputs, *outputs), wanted, counts, strict=True)
    ]
    asked, given = arguments[: len(inputs)], arguments[len(inputs) :]
    if may_hide and living.recipe.is_open and history.may_hide_shapes:
        given = [_hidden(one, chance) for one in given]
    request = Request(tuple(asked), tuple(given), tuple(_pool(history, entry) for entry in entries))
    return Ask(living, inputs, outputs, rows, request, entries)


def _hidden(output: RequestArgument, chance: random.Random) -> RequestArgument:
    """An output of open shape of which the request says less, sometimes."""
    said = chance.choice((output.dimensions, output.dimensions, (), (0, *output.dimensions[1:])))
    return replace(output, dimensions=said)


def _entry(entries: list[int | Held], argument: Place | Held, joined: float, chance: random.Random) -> int:
    """The pool of the request for an argument: one that is there, or one more, of the same memory even."""
    memory = argument if isinstance(argument, Held) else argument.pool
    known = [at for at, entry in enumerate(entries) if entry is memory or entry == memory]
    if known and (isinstance(memory, Held) or chance.random() < joined):
        return chance.choice(known)
    entries.append(memory)
    return len(entries) - 1


def _argument(
    argument: Place | Held, pool: int, shape: tuple[int, ...], rows: int, chance: random.Random
) -> RequestArgument:
    """An argument in a pool of the request. shape: said where the model leaves it open, and now and then else."""
    place = DataLocation(pool) if isinstance(argument, Held) else DataLocation(pool, argument.offset, SIZE * rows)
    is_said = len(shape) > 1 or chance.random() < 0.3
    return RequestArgument(False, place, shape if is_said else ())


def _pool(history: History, entry: int | Held) -> RequestMemoryPool:
    if isinstance(entry, Held):
        return RequestMemoryPool(token=entry.made.token)
    return RequestMemoryPool(pool=history.memories.pools[entry].memory)


def all_live(history: History, asked: Ask) -> bool:
    """True where every buffer that is a pool of a request lives."""
    return all(isinstance(one, int) or one in history.buffers for one in asked.entries)


def has_buffers(history: History) -> bool:
    """True where the version has buffers of the driver."""
    return history.version >= Version.V1_3
