"""Draws executions: where their arguments lie, and in which pools of a request."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from npu_conformance.specs.neuralnetworks.types import DataLocation, Request, RequestArgument, RequestMemoryPool
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.addition import SIZE, Pair
from npu_conformance.vts.lib.histories.history import Ask, Held, History, Living
from npu_conformance.vts.lib.histories.memory import LARGEST, Place


def drawn_values(chance: random.Random) -> Pair:
    """Values that every type adds exactly, of either sign."""
    return chance.randrange(-20, 21) / 4, chance.randrange(-20, 21) / 4


def ask(
    history: History,
    living: Living,
    chance: random.Random,
    *,
    with_buffers: bool = True,
    given: Mapping[int, Place | Held] = MappingProxyType({}),
) -> Ask | None:
    """Draw an execution, and write what it reads; None where there is no room. given: inputs that are not drawn."""
    memories, recipe = history.memories, living.recipe
    if len(memories.free()) < recipe.inputs + len(recipe.terms):
        return None
    if not given and living.number in history.asked and chance.random() < 0.2:
        moved = _moved(history, history.asked[living.number], chance)
        if moved is not None:
            return moved
    usable = [one for one in history.buffers if one not in history.busy] if with_buffers else []
    inputs: list[Place | Held] = []
    for index in range(recipe.inputs):
        own = given.get(index)
        inputs.append(own or _input(history, _with_role(usable, living, "input", index), chance))
    outputs: list[Place | Held] = []
    for index in range(len(recipe.terms)):
        unused = [one for one in _with_role(usable, living, "output", index) if one not in (*inputs, *outputs)]
        if unused and chance.random() < 0.6:
            outputs.append(chance.choice(unused))
            continue
        taken = [one for one in (*inputs, *outputs) if isinstance(one, Place)]
        outputs.append(chance.choice(memories.free(taken)))
    clear(history, outputs)
    history.asked[living.number] = _requested(history, living, inputs, outputs, chance)
    return history.asked[living.number]


def clear(history: History, outputs: Sequence[Place | Held]) -> None:
    """Overwrite the outputs in memory."""
    for output in outputs:
        if isinstance(output, Place):
            history.memories.clear(output)


def _moved(history: History, before: Ask, chance: random.Random) -> Ask | None:
    """An earlier execution of the model over other pools: all else of the request is the same."""
    pools = chance.sample(range(len(history.memories.pools)), len(history.memories.pools))
    places = [Place(pools[one.pool], one.offset) for one in (*before.inputs, *before.outputs) if isinstance(one, Place)]
    are_free = set(places) <= set(history.memories.free())
    if len(places) < len(before.inputs) + len(before.outputs) or not are_free:
        return None
    inputs, outputs = places[: len(before.inputs)], places[len(before.inputs) :]
    for place in inputs:
        history.memories.write(place, drawn_values(chance))
    clear(history, outputs)
    entries = [pools[entry] if isinstance(entry, int) else entry for entry in before.entries]
    request = replace(before.request, pools=tuple(_pool(history, entry) for entry in entries))
    return Ask(before.living, inputs, outputs, request, entries)


def _with_role(buffers: list[Held], living: Living, direction: str, index: int) -> list[Held]:
    return [one for one in buffers if (living.number, direction, index) in one.roles]


def _input(history: History, buffers: Sequence[Held], chance: random.Random) -> Place | Held:
    """A buffer with content, a tensor that somebody has left, or a new one."""
    filled = [one for one in buffers if one.values is not None and max(map(abs, one.values)) <= LARGEST]
    if filled and chance.random() < 0.6:
        return chance.choice(filled)
    known = history.memories.known()
    if known and chance.random() < 0.4:
        return chance.choice(known)
    place = chance.choice(history.memories.free())
    history.memories.write(place, drawn_values(chance))
    return place


def _requested(
    history: History, living: Living, inputs: list[Place | Held], outputs: list[Place | Held], chance: random.Random
) -> Ask:
    """Lay out the pools of the request: in any order, some twice, some that no argument names."""
    entries: list[int | Held] = []
    joined = chance.choice((0.2, 0.85, 0.95))
    wanted = [_entry(entries, one, joined, chance) for one in (*inputs, *outputs)]
    if chance.random() < 0.15:
        entries.append(chance.randrange(len(history.memories.pools)))
    order = chance.sample(range(len(entries)), len(entries))
    entries = [entries[at] for at in order]
    arguments = [
        _argument(history, one, order.index(at), chance) for one, at in zip((*inputs, *outputs), wanted, strict=True)
    ]
    pools = tuple(_pool(history, entry) for entry in entries)
    request = Request(tuple(arguments[: len(inputs)]), tuple(arguments[len(inputs) :]), pools)
    return Ask(living, inputs, outputs, request, entries)


def _entry(entries: list[int | Held], argument: Place | Held, joined: float, chance: random.Random) -> int:
    """The pool of the request for an argument: one that is there, or one more, of the same memory even."""
    memory = argument if isinstance(argument, Held) else argument.pool
    known = [at for at, entry in enumerate(entries) if entry is memory or entry == memory]
    if known and (isinstance(memory, Held) or chance.random() < joined):
        return chance.choice(known)
    entries.append(memory)
    return len(entries) - 1


def _argument(history: History, argument: Place | Held, pool: int, chance: random.Random) -> RequestArgument:
    place = DataLocation(pool) if isinstance(argument, Held) else DataLocation(pool, argument.offset, SIZE)
    return RequestArgument(False, place, (history.chosen.elements,) if chance.random() < 0.3 else ())


def _pool(history: History, entry: int | Held) -> RequestMemoryPool:
    if isinstance(entry, Held):
        return RequestMemoryPool(token=entry.made.token)
    return RequestMemoryPool(pool=history.memories.pools[entry].memory)


def has_buffers(history: History) -> bool:
    """True where the version has buffers of the driver."""
    return history.version >= Version.V1_3
