"""Buffers of the driver: for inputs and outputs of one model or of several that agree in an argument."""

from __future__ import annotations

import random

from npu_conformance.harness.judge import checks
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.types import Operand
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.histories.alike import judge_token
from npu_conformance.vts.lib.memory_domains.declining import judge_declined
from npu_conformance.vts.lib.memory_domains.fixture import Allocation
from npu_conformance.vts.lib.operation_histories.history import History
from npu_conformance.vts.lib.operation_histories.known_models import Value
from npu_conformance.vts.lib.operation_histories.things import Held, Living

_MOST = 8

Use = tuple[Living, str, int]
"""An argument of a model: its direction and index."""


def allocate(history: History, chance: random.Random) -> None:
    """Allocate for one to three arguments, or a buffer for each argument of a model; the device may decline."""
    uses = _uses(history)
    if history.version < Version.V1_3 or len(history.buffers) >= _MOST or not uses:
        return
    known = {number for held in history.buffers for number, _, _ in held.roles}
    mine = [one for one in uses if one[0].number in known]
    first = chance.choice(mine if mine and chance.random() < 0.5 else uses)
    if chance.random() < 0.25:
        for use in [one for one in uses if one[0] is first[0]]:
            _allocate(history, [use], chance)
        return
    alike = [one for one in uses if one != first and _form(one) == _form(first)]
    _allocate(history, [first, *chance.sample(alike, min(len(alike), chance.randrange(3)))], chance)


def _allocate(history: History, uses: list[Use], chance: random.Random) -> None:
    """Allocate a buffer for arguments that agree."""
    models = list(dict.fromkeys(living for living, _, _ in uses))
    dimensions = chance.choice(((), _value(uses[0], chance).dimensions))
    inputs, outputs = (_roles(uses, models, way) for way in ("input", "output"))
    prepared = tuple(one.prepared_model for one in models)
    try:
        made = Allocation(prepared, inputs, outputs, dimensions).ask(history.context.device)
    except ServiceError as error:
        judge_declined(history.context, error)
        return
    judge_token(made, {one.made.token for one in history.buffers})
    history.allocated += 1
    its = frozenset((living.number, way, at) for living, way, at in uses)
    held = Held(history.allocated, made, its, dimensions)
    history.buffers.append(held)
    history.say(f"allocate {held}, of {list(dimensions) or 'any shape'}, as {sorted(its)}")


def _roles(chosen: list[Use], models: list[Living], way: str) -> tuple[tuple[int, int], ...]:
    return tuple((models.index(living), index) for living, its, index in chosen if its == way)


def read(history: History, chance: random.Random) -> None:
    """Copy a buffer with content out."""
    filled = [one for one in history.free_buffers if one.value is not None]
    if not filled:
        return
    held = chance.choice(filled)
    assert held.value is not None
    history.say(f"read {held}")
    with checks.about("NNHAL-MEMDOMAIN-022"):
        found = history.read(held, len(held.value.data), "read")
        checks.equal(found.hex(), held.value.data.hex(), f"content of {held}")


def _uses(history: History) -> list[Use]:
    """Every argument that is not left out and has elements."""
    return [
        (living, way, index)
        for living in history.models
        for way, operands in (("input", living.inputs), ("output", living.outputs))
        for index in range(len(operands))
        if all(value is not None and value.data for value in _values(living, way, index))
    ]


def _values(living: Living, way: str, index: int) -> list[Value | None]:
    examples = living.known.examples
    return [(one.inputs if way == "input" else one.outputs)[index] for one in examples]


def _value(use: Use, chance: random.Random) -> Value:
    value = chance.choice(_values(*use))
    assert value is not None
    return value


def _form(use: Use) -> tuple[object, ...]:
    """In what arguments have to agree whose buffer is one (NNHAL-MEMDOMAIN-011)."""
    living, way, index = use
    operand: Operand = (living.inputs if way == "input" else living.outputs)[index]
    return operand.type, operand.dimensions, operand.scale, operand.zero_point, operand.extra_params
