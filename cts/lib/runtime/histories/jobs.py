"""Draws executions: where their arguments lie, and which values they have."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from npu_conformance.cts.lib.runtime.histories.history import (
    AppHistory,
    Argument,
    Described,
    Flight,
    Job,
    Made,
    Where,
    drawn_inputs,
    is_matrix,
)
from npu_conformance.cts.lib.runtime.histories.places import Cell
from npu_conformance.specs.neuralnetworks.runtime.result_codes import MAXIMUM_LOOP_TIMEOUT_NS
from npu_conformance.specs.neuralnetworks.runtime.types import Pointer

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array

_LARGEST = 6
"""What was computed is an input again up to here, so that all that follows is exact."""


def new_job(
    history: AppHistory,
    made: Made,
    chance: random.Random,
    *,
    after: Sequence[Flight] = (),
    may_stay: bool = True,
) -> Job | None:
    """An execution whose arguments have their places and values, and are not set yet; None where there is no room.

    after: what is under way, from whose outputs it may read. may_stay: it may be one that is computed again.
    """
    cells = history.places.free(chance, len(made.arguments))
    if cells is None:
        return None
    given = _given(history, made, chance, after)
    inputs, places = drawn_inputs(made.net, chance), dict[str, Where]()
    for argument in made.arguments:
        taken = list(places.values())
        if argument.name in given:
            places[argument.name], inputs[argument.name] = given[argument.name]
        elif argument.role == "input":
            array = inputs[argument.name]
            places[argument.name], inputs[argument.name] = _placed(history, made, argument, cells, array, taken, chance)
        else:
            places[argument.name] = _where(history, made, argument, cells, taken, chance)
            history.clear(places[argument.name])
    history.places.busy |= {one for one in places.values() if isinstance(one, Cell)}
    is_reusable = may_stay and not given and history.app.level.is_aidl and chance.random() < 0.4
    job = Job(made, history.app.execution(made.compiled.handle), inputs, places, is_reusable)
    _configure(history, job, chance)
    return job


def _given(
    history: AppHistory, made: Made, chance: random.Random, after: Sequence[Flight]
) -> dict[str, tuple[Where, Array]]:
    """An input that lies where a computation that is under way writes a matrix of small numbers, sometimes."""
    coming = [
        (flight.job.places[name], array)
        for flight in after
        if not flight.job.is_reusable
        for name, array in history.expected(flight.job).items()
        if is_matrix(flight.job.made.net, name) and isinstance(flight.job.places[name], Cell) and _is_small(array)
    ]
    names = [name for name in made.net.vector.inputs if is_matrix(made.net, name)]
    return {chance.choice(names): chance.choice(coming)} if coming and chance.random() < 0.8 else {}


def _placed(
    history: AppHistory,
    made: Made,
    argument: Argument,
    cells: list[Cell],
    array: Array,
    taken: list[Where],
    chance: random.Random,
) -> tuple[Where, Array]:
    """Where an input lies, and what is there: often what memory from a descriptor holds, for two inputs even."""
    where = _where(history, made, argument, cells, [], chance)
    if isinstance(where, Described) and where.content is not None:
        held = _as_array(where.content, array)
        if where in taken or (_is_small(held) and chance.random() < 0.7):
            return where, held
    history.put(where, array.tobytes())
    return where, array


def _where(
    history: AppHistory,
    made: Made,
    argument: Argument,
    cells: list[Cell],
    taken: list[Where],
    chance: random.Random,
) -> Where:
    """A cell, the app's own memory, or memory from a descriptor for this argument that nobody else has."""
    used = [*taken, *_used(history)]
    role = (made.number, argument.role, argument.position)
    usable = [one for one in history.described if role in one.roles and one not in used]
    if usable and chance.random() < 0.6:
        return chance.choice(usable)
    return cells.pop() if chance.random() < 0.6 else history.pointer(made.sizes[argument.name])


def _is_small(array: Array) -> bool:
    return bool(abs(array).max() <= _LARGEST)


def _as_array(content: bytes, like: Array) -> Array:
    import numpy

    return numpy.frombuffer(content, like.dtype).reshape(like.shape)


def _used(history: AppHistory) -> list[Where]:
    """Memory of executions that are kept or under way."""
    jobs = [*history.kept, *(flight.job for flight in history.flights)]
    return [one for job in jobs for one in job.places.values()]


def refill(history: AppHistory, job: Job, chance: random.Random) -> None:
    """Give the inputs of an execution other values, and nothing to its outputs."""
    job.inputs = drawn_inputs(job.made.net, chance)
    filled: list[Where] = []
    for name, array in job.inputs.items():
        where = job.places[name]
        if isinstance(where, Described) and where.content is not None and where in filled:
            job.inputs[name] = _as_array(where.content, array)
            continue
        history.put(where, array.tobytes())
        filled.append(where)
    for name in job.made.net.vector.outputs:
        history.clear(job.places[name])


def set_arguments(history: AppHistory, job: Job, but_last: int = 0) -> None:
    """Set the arguments of an execution, which has to succeed. but_last: so many of them are not set."""
    arguments = job.made.arguments
    for role, index, name in arguments[: len(arguments) - but_last]:
        where, function = job.places[name], f"execution_set_{role}"
        if isinstance(where, Pointer):
            history.app.succeed(function, job.handle, index, None, where, job.made.sizes[name])
        else:
            history.app.succeed(f"{function}_from_memory", job.handle, index, None, *_range(history, job, name, where))


def _range(history: AppHistory, job: Job, name: str, where: Cell | Described) -> tuple[int, int, int]:
    """The memory object of an argument, and which of its bytes: all of memory from a descriptor."""
    if isinstance(where, Described):
        return where.handle, 0, 0
    return history.places.handles[where.memory], where.offset, job.made.sizes[name]


def _configure(history: AppHistory, job: Job, chance: random.Random) -> None:
    """What an execution is asked for beside its arguments: none of it changes what comes out."""
    app = history.app
    if job.is_reusable:
        app.succeed("execution_set_reusable", job.handle, True)
    if job.made.is_single and chance.random() < 0.4:
        app.succeed("execution_set_measure_timing", job.handle, True)
        job.is_measured = True
    if job.made.net.vector.referenced or chance.random() < 0.2:  # loops have time on a busy machine
        app.succeed("execution_set_loop_timeout", job.handle, MAXIMUM_LOOP_TIMEOUT_NS)
