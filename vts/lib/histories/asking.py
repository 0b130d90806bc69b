"""Draws executions: where their arguments lie, and in which pools of a request."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from npu_conformance.specs.neuralnetworks.types import DataLocation, Request, RequestArgument, RequestMemoryPool
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.addition import SIZE, Values
from npu_conformance.vts.lib.histories.history import History
from npu_conformance.vts.lib.histories.memory import ROWS, SCALAR, Place, is_input, rows_of
from npu_conformance.vts.lib.histories.recipe_models import RELU
from npu_conformance.vts.lib.histories.recipes import Recipe
from npu_conformance.vts.lib.histories.things import Activation, Arguments, Ask, Held, Living


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
    if len(history.memories.free()) < sum(recipe.arguments):
        return None
    again = None if given else _again(history, living, chance, with_buffers=with_buffers)
    if again is not None:
        return again
    usable = history.free_buffers if with_buffers else []
    size = _size(living, given.values(), rows, usable, chance)
    inputs = [given.get(at) or _input(history, living, at, usable, size, chance) for at in range(recipe.inputs)]
    counts, columns = [_rows(history, one, size[0]) for one in inputs], size[1]
    outputs = _outputs(history, living, inputs, [(count, columns) for count in recipe.rows(counts)], usable, chance)
    clear(history, outputs)
    activation = _activation(history, living, [*inputs, *outputs], chance)
    arguments = Arguments(living, inputs, outputs, activation, counts, columns)
    history.asked[living.number] = _requested(history, arguments, usable, chance, may_hide=may_hide)
    return history.asked[living.number]


def _size(
    living: Living, given: Iterable[Place | Held], rows: int | None, usable: Sequence[Held], chance: random.Random
) -> tuple[int, int]:
    """Rows and columns of inputs, where the model leaves them open: as a buffer has them that is, or may be, one."""
    recipe = living.recipe
    if not recipe.is_open:
        return 1, 0
    held = [one for one in given if isinstance(one, Held)]
    if rows is None and not held and chance.random() < 0.4:
        held = [one for index in range(recipe.inputs) for one in with_role(usable, living, "input", index)]
    filled = [(one.values, one.columns) for one in held if one.values is not None]
    if filled:
        values, columns = chance.choice(filled)
        return rows_of(values), columns
    wanted = rows or chance.choice(ROWS)
    return wanted, drawn_columns(wanted, recipe, chance) if recipe.is_free and not held else 0


def drawn_columns(rows: int, recipe: Recipe, chance: random.Random) -> int:
    """How many columns a tensor of any shape has: as many as others, or one, or one for each element."""
    return chance.choice((0, 1, rows * recipe.chosen.elements))


def _activation(
    history: History, living: Living, arguments: Sequence[Place | Held], chance: random.Random
) -> Activation | None:
    """The activation of a model that asks for one, in a place beside these arguments."""
    if not living.recipe.asks_activation:
        return None
    free = history.memories.free(one for one in arguments if isinstance(one, Place))
    activation = Activation(chance.choice(free), False)
    set_activation(history, activation, chance.random() < 0.5)
    return activation


def set_activation(history: History, activation: Activation, is_relu: bool) -> None:
    """Write an activation where its request has it."""
    activation.is_relu = is_relu
    history.memories.write_number(activation.place, RELU if is_relu else 0)


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
    sizes: Sequence[tuple[int, int]],
    usable: Sequence[Held],
    chance: random.Random,
) -> list[Place | Held]:
    """Where outputs of these rows and columns go: to buffers that have the room, or to places that nobody uses."""
    outputs: list[Place | Held] = []
    for index, (count, columns) in enumerate(sizes):
        taken = [*inputs, *outputs]
        buffers = [one for one in with_role(usable, living, "output", index) if one.is_free or not columns]
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
    places = [Place(pools[one.pool], one.offset) for one in before.places]
    are_free = set(places) <= set(history.memories.free()) and all_live(history, before)
    if len(places) < len(before.all) or not are_free:
        return None
    inputs, outputs = places[: len(before.inputs)], places[len(places) - len(before.outputs) :]
    for place, rows in zip(inputs, before.rows, strict=True):
        history.memories.write(place, drawn_values(chance, rows), before.living.recipe.chosen)
    activation = None
    if before.activation is not None:
        activation = Activation(places[len(inputs)], before.activation.is_relu)
        set_activation(history, activation, chance.random() < 0.5)
    clear(history, outputs)
    entries = [pools[entry] if isinstance(entry, int) else entry for entry in before.entries]
    request = replace(before.request, pools=tuple(_pool(history, entry) for entry in entries))
    return Ask(before.living, inputs, outputs, activation, before.rows, before.columns, request, entries)


def any_model(history: History, chance: random.Random) -> Living:
    """A model that lives; often one for which there are buffers."""
    known = {number for held in history.free_buffers for number, _, _ in held.roles}
    mine = [one for one in history.models if one.number in known]
    return chance.choice(mine if mine and chance.random() < 0.5 else history.models)


def with_role(buffers: Sequence[Held], living: Living, direction: str, index: int) -> list[Held]:
    """The buffers that were allocated for an argument of a model."""
    return [one for one in buffers if (living.number, direction, index) in one.roles]


def _input(
    history: History,
    living: Living,
    index: int,
    usable: Sequence[Held],
    wanted: tuple[int, int],
    chance: random.Random,
) -> Place | Held:
    """A buffer with content, a tensor that somebody has left, or a new one; of one row now and then.

    wanted: rows and columns.
    """
    recipe, (rows, columns) = living.recipe, wanted
    rows = 1 if recipe.is_open and not columns and chance.random() < 0.15 else rows
    buffers = [one for one in with_role(usable, living, "input", index) if one.columns == columns]
    filled = [one for one in buffers if one.values and is_input(one.values) and rows_of(one.values) == rows]
    if filled and chance.random() < 0.75:
        return chance.choice(filled)
    known = history.memories.known(rows, recipe.chosen)
    if known and chance.random() < 0.4:
        return chance.choice(known)
    place = chance.choice(history.memories.free())
    history.memories.write(place, drawn_values(chance, rows), recipe.chosen)
    return place


def _requested(
    history: History, arguments: Arguments, usable: Sequence[Held], chance: random.Random, *, may_hide: bool
) -> Ask:
    """Lay out the pools of the request: in any order, some twice, some that no argument names, buffers too."""
    recipe = arguments.living.recipe
    entries: list[int | Held] = []
    joined = chance.choice((0.2, 0.85, 0.95))
    wanted = [_entry(entries, one, joined, chance) for one in arguments.all]
    if chance.random() < 0.15:
        entries.append(chance.randrange(len(history.memories.pools)))
    if usable and chance.random() < 0.1:
        entries.append(chance.choice(usable))
    order = chance.sample(range(len(entries)), len(entries))
    entries = [entries[at] for at in order]
    made = [
        _argument(one, order.index(at), (count, arguments.columns), recipe, chance)
        for one, at, count in zip(arguments.all, wanted, _counts(arguments), strict=True)
    ]
    given = made[len(made) - len(arguments.outputs) :]
    if may_hide and recipe.is_open and history.may_hide_shapes:
        given = [_hidden(one, chance) for one in given]
    asked = made[: len(made) - len(given)]
    request = Request(tuple(asked), tuple(given), tuple(_pool(history, entry) for entry in entries))
    its = arguments
    return Ask(its.living, its.inputs, its.outputs, its.activation, its.rows, its.columns, request, entries)


def _counts(arguments: Arguments) -> list[int]:
    """The number of rows of each argument, 0 for a scalar."""
    scalars = [] if arguments.activation is None else [0]
    return [*arguments.rows, *scalars, *arguments.living.recipe.rows(list(arguments.rows))]


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
    argument: Place | Held, pool: int, size: tuple[int, int], recipe: Recipe, chance: random.Random
) -> RequestArgument:
    """An argument in a pool of the request; its shape is said where the model leaves it open, and now and then else.

    size: rows, none for a scalar, and columns.
    """
    rows, columns = size
    if isinstance(argument, Place) and not rows:
        return RequestArgument(False, DataLocation(pool, argument.offset, SCALAR))
    place = DataLocation(pool) if isinstance(argument, Held) else DataLocation(pool, argument.offset, SIZE * rows)
    is_said = recipe.is_open or chance.random() < 0.3
    return RequestArgument(False, place, recipe.shape(rows, columns) if is_said else ())


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
