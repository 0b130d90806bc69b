"""Buffers of the driver: for some roles of some models, filled and read by the client and by executions."""

from __future__ import annotations

import random
from collections.abc import Sequence

from npu_conformance.harness.judge import checks
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.vts.lib.histories.alike import judge_token
from npu_conformance.vts.lib.histories.asking import drawn_columns, drawn_values, has_buffers
from npu_conformance.vts.lib.histories.history import History
from npu_conformance.vts.lib.histories.memory import ROWS
from npu_conformance.vts.lib.histories.recipes import Recipe
from npu_conformance.vts.lib.histories.things import Held, Living
from npu_conformance.vts.lib.memory_domains.declining import judge_declined
from npu_conformance.vts.lib.memory_domains.fixture import Allocation, status_of

_MOST = 6


def allocate(history: History, chance: random.Random) -> None:
    """Allocate for inputs and outputs of one to three models; the device may decline."""
    if not has_buffers(history) or len(history.buffers) >= _MOST:
        return
    first = chance.choice(history.models).recipe
    alike = [one for one in history.models if have_tensors_alike(one.recipe, first)]
    models = chance.sample(alike, chance.randint(1, min(3, len(alike))))
    if chance.random() < 0.2:  # a model may be listed twice, with other roles
        models.append(models[0])
    inputs = _drawn_roles([one.recipe.inputs for one in models], models, 0, chance)
    outputs = _drawn_roles([len(one.recipe.terms) for one in models], models, 0 if inputs else 1, chance)
    rows, dimensions = _drawn_shape(first, chance)
    is_free = all(one.recipe.is_free for one in models) and not any(dimensions)
    prepared = tuple(one.prepared_model for one in models)
    try:
        made = Allocation(prepared, tuple(inputs), tuple(outputs), dimensions).ask(history.context.device)
    except ServiceError as error:
        judge_declined(history.context, error)
        return
    judge_token(made, {one.made.token for one in history.buffers})
    roles = [(models[at].number, "input", index) for at, index in inputs]
    roles += [(models[at].number, "output", index) for at, index in outputs]
    history.allocated += 1
    held = Held(history.allocated, made, frozenset(roles), first, rows, is_free)
    history.buffers.append(held)
    history.say(f"allocate {held}, of {rows or 'any number of'} rows, as {roles}")
    if inputs and chance.random() < 0.7:
        _fill(history, held, chance)


def _drawn_roles(
    counts: Sequence[int], models: Sequence[Living], least: int, chance: random.Random
) -> list[tuple[int, int]]:
    """Up to three roles, each of another argument: the place of its model in the list, and the index."""
    every = [(at, index) for at, count in enumerate(counts) for index in range(count)]
    drawn = chance.sample(every, min(len(every), chance.randint(least, 3)))
    of_arguments = {(models[at].number, index): (at, index) for at, index in drawn}
    return list(of_arguments.values())


def have_tensors_alike(one: Recipe, other: Recipe) -> bool:
    """True for models whose tensors have one type and rank."""
    return (one.chosen, one.is_open) == (other.chosen, other.is_open)


def _drawn_shape(recipe: Recipe, chance: random.Random) -> tuple[int | None, tuple[int, ...]]:
    """The number of rows of a buffer, None for an open one, and the dimensions that its description says."""
    if not recipe.is_open:
        return 1, chance.choice(((), recipe.shape(1)))
    if chance.random() < 0.4:
        rows = chance.choice(ROWS)
        return rows, recipe.shape(rows)
    return None, chance.choice(((), (0, 0), (0, recipe.chosen.elements)))


def fill(history: History, chance: random.Random) -> None:
    """Copy values into a buffer."""
    held = _chosen(history, chance)
    if held is not None:
        _fill(history, held, chance)


def _fill(history: History, held: Held, chance: random.Random) -> None:
    rows = held.rows or chance.choice(ROWS)
    values = drawn_values(chance, rows)
    pool = history.copies[rows]
    pool.write(0, held.chosen.packed(values))
    is_said = held.rows is None or chance.random() < 0.5
    columns = drawn_columns(rows, held.like, chance) if held.is_free else 0
    dimensions = held.like.shape(rows, columns) if is_said else ()
    history.say(f"copy {values} into {held}")
    with checks.about("NNHAL-MEMDOMAIN-015"):
        status = status_of(lambda: held.made.buffer.copy_from(pool.memory, dimensions))
        checks.status(status, {ErrorStatus.NONE}, f"copyFrom of {held}")
    held.values, held.columns = values, columns


def read(history: History, chance: random.Random) -> None:
    """Copy a buffer out; one without content has none to give."""
    held = _chosen(history, chance)
    if held is None:
        return
    history.say(f"read {held}")
    if held.values is not None:
        history.read(held, "read")
        return
    with checks.about("NNHAL-MEMDOMAIN-014"):
        status = status_of(lambda: held.made.buffer.copy_to(history.copies[held.rows or 1].memory))
        checks.status(status, {ErrorStatus.GENERAL_FAILURE}, f"copyTo of {held}, which is uninitialised")


def _chosen(history: History, chance: random.Random) -> Held | None:
    free = history.free_buffers
    return chance.choice(free) if free else None
