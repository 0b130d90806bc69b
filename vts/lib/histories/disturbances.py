"""What has to fail, or may, and must leave nothing behind."""

from __future__ import annotations

import random

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.executing.execution import Execution, ExecutionOptions
from npu_conformance.harness.run.executing.executors import execute, executors, naming_buffers
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import (
    NO_IDENTITY,
    DataLocation,
    Request,
    RequestArgument,
    RequestMemoryPool,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.addition import SIZE
from npu_conformance.vts.lib.deadlines import LATE, deadline
from npu_conformance.vts.lib.histories import buffers, bursts
from npu_conformance.vts.lib.histories.alike import judge_too_little_room, with_unknown_sizes, wrong_requests
from npu_conformance.vts.lib.histories.asking import ask, has_buffers, with_role
from npu_conformance.vts.lib.histories.history import History
from npu_conformance.vts.lib.histories.memory import ROWS, Place, rows_of
from npu_conformance.vts.lib.histories.recipe_models import model_of
from npu_conformance.vts.lib.histories.things import Ask, Held, Living, OpenBurst
from npu_conformance.vts.lib.memory_domains.fixture import Allocation, addition_with_activation

_INVALID = {ErrorStatus.INVALID_ARGUMENT}
_NO_ACTIVATION = (7.5, -3.25)
"""Whatever the type, its bytes are no number of an activation."""


def refused_request(history: History, chance: random.Random) -> None:
    """A request has an argument too few, or in a pool that does not exist."""
    asked = _mostly_of_bursts(history, chance, with_buffers=False)
    if asked is None:
        return
    history.say(f"a wrong request for {asked.living}")
    execution = _executed(history, asked, chance.choice(wrong_requests(asked.request)), chance)
    if history.is_refused_for_others(asked, execution):
        return
    with checks.about("NNHAL-REQUEST-001"):
        checks.status(execution.status, _INVALID, "execution of a wrong request")
    history.forget_outputs(asked)


def request_of_another(history: History, chance: random.Random) -> None:
    """A request that was right for one model is wrong for another."""
    asked = _mostly_of_bursts(history, chance, with_buffers=False)
    if asked is None:
        return
    others = [one for one in history.models if one.recipe.arguments != asked.living.recipe.arguments]
    if not others:
        return
    other = chance.choice(others)
    executor = chance.choice(bursts.ways(history, asked.living, other))
    for living in (asked.living, other):
        what = f"{executor} execution by {living} of {asked}"
        history.say(what)
        execution = execute(history.context, living.prepared_model, asked.request, measure=False, executor=executor)
        if living is not other:
            history.judge(asked, execution, executor, measured=False, what=what)
        elif not history.is_refused_for_others(asked, execution):
            with checks.about("NNHAL-REQUEST-001"):
                checks.status(execution.status, _INVALID, what)
    history.forget_outputs(asked)


def wrong_data(history: History, chance: random.Random) -> None:
    """An execution gets an activation that does not exist."""
    if history.failing is None:
        model = addition_with_activation(history.recipes[0].chosen)
        if not all(history.context.supported_operations(model)):
            return
        history.failing = history.context.prepare(model).prepared_model
    free = history.memories.free()
    if history.failing is None or len(free) < 4:
        return
    first, second, code, output = chance.sample(free, 4)
    for place in (first, second, code):
        history.memories.write(place, _NO_ACTIVATION, history.recipes[0].chosen)
    history.memories.clear(output)
    arguments = [
        RequestArgument(location=DataLocation(at, place.offset, 4 if place is code else SIZE))
        for at, place in enumerate((first, second, code, output))
    ]
    pools = tuple(
        RequestMemoryPool(pool=history.memories.pools[place.pool].memory) for place in (first, second, code, output)
    )
    history.say("an activation that does not exist")
    request = Request(tuple(arguments[:3]), (arguments[3],), pools)
    # It need not fail: Android's own implementation takes such a code for another one.
    execute(history.context, history.failing, request, measure=False, executor=chance.choice(bursts.ways(history)))
    history.memories.clear(output)


def refused_model(history: History, chance: random.Random) -> None:
    """An operation of a model reads an operand that does not exist."""
    recipe = chance.choice([one for one in history.recipes if not one.in_pool])
    model = model_of(recipe)
    first, *others = model.main.operations
    wrong = replace(first, inputs=(len(model.main.operands), *first.inputs[1:]))
    history.say("prepare a wrong model")
    preparation = history.context.prepare(replace(model, main=replace(model.main, operations=(wrong, *others))))
    with checks.about("NNHAL-MODEL-038"):
        checks.status(preparation.launch_status, _INVALID, "prepareModel of a wrong model")


def refused_allocation(history: History, chance: random.Random) -> None:
    """A buffer is to have no role, or roles of tensors that differ in type or rank."""
    if not has_buffers(history):
        return
    first = chance.choice(history.models)
    others = [one for one in history.models if not buffers.have_tensors_alike(one.recipe, first.recipe)]
    if others and chance.random() < 0.7:
        models = (first.prepared_model, chance.choice(others).prepared_model)
        rule, what, wrong = "NNHAL-MEMDOMAIN-011", "of unlike tensors", Allocation(models, ((0, 0), (1, 0)))
    else:
        rule, what, wrong = "NNHAL-MEMDOMAIN-005", "without roles", Allocation((first.prepared_model,))
    history.say(f"allocate a buffer {what}")
    statuses = {ErrorStatus.INVALID_ARGUMENT, ErrorStatus.GENERAL_FAILURE}
    with checks.about(rule):
        checks.raises_status(lambda: wrong.ask(history.context.device), statuses, f"allocate {what}")


def no_room(history: History, chance: random.Random) -> None:
    """An output has too little room, which is a failure from 1.2 on (NNHAL-SHAPE-004)."""
    asked = _mostly_of_bursts(history, chance, with_buffers=history.version.is_aidl)
    if asked is None or history.version < Version.V1_2:
        return
    places = [at for at, one in enumerate(asked.outputs) if isinstance(one, Place)]
    if not places:
        return
    at = chance.choice(places)
    outputs = list(asked.request.outputs)
    location = outputs[at].location
    outputs[at] = replace(outputs[at], location=replace(location, length=location.length - 1))
    history.say(f"too little room: {asked}")
    request, measured = replace(asked.request, outputs=tuple(outputs)), chance.random() < 0.5
    execution = _executed(history, asked, request, chance, measured=measured, finding_shapes=True)
    if history.is_refused_for_others(asked, execution):
        return
    shapes = [with_unknown_sizes(shape) for shape in history.shapes(asked)]
    judge_too_little_room(history.context, execution, at, shapes, measured=measured)
    history.leave_outputs(asked)  # to keep what buffers held is a warning of vts.memory_domains


def late(history: History, chance: random.Random) -> None:
    """The deadline of an execution has passed; it may succeed all the same."""
    ways = [one for one in executors(history.version) if one in ("synchronous", "asynchronous", "reusable")]
    asked = _mostly_of_bursts(history, chance) if history.version >= Version.V1_3 else None
    if asked is None:
        return
    past, mine = deadline("past", history.version), _open_burst(history, asked)
    executor = "open burst" if mine is not None and chance.random() < 0.5 else chance.choice(ways)
    what = f"late {executor} execution of {asked}"
    history.say(what)
    if mine is not None and executor == "open burst":
        names = bursts.named(mine, asked, chance, may_hide=True)
        with_config = history.version >= Version.FL8 and chance.random() < 0.3
        execution = mine.burst.execute(asked.request, names, ExecutionOptions(deadline=past), with_config=with_config)
        _release_one(history, mine, chance)
    else:
        execution = execute(
            history.context, asked.living.prepared_model, asked.request, measure=False, executor=executor, deadline=past
        )
    if not history.is_refused_for_others(asked, execution):
        with checks.about("NNHAL-QOS-003"):
            checks.status(execution.status, LATE, what)
    if execution.status == ErrorStatus.NONE:
        history.judge(asked, execution, executor, measured=False, what=what)
    else:
        # What did not begin has not failed, for AOSP's driver: its buffers keep their content.
        history.leave_outputs(asked)


def empty_buffer(history: History, chance: random.Random) -> None:
    """An input is a buffer without content; others that have one keep it."""
    empty = [one for one in history.free_buffers if one.values is None]
    wanted = [
        (living, held, index)
        for living in history.models
        for held in empty
        for number, direction, index in held.roles
        if direction == "input" and number == living.number
    ]
    if not wanted:
        return
    living, held, index = chance.choice(sorted(wanted, key=lambda one: (one[0].number, one[1].number, one[2])))
    rows = held.rows or chance.choice(ROWS)
    given = {other: one for other in range(living.recipe.inputs) for one in _usable(history, living, other, rows)}
    asked = ask(history, living, chance, with_buffers=False, given={**given, index: held}, rows=rows)
    if asked is None:
        return
    history.say(f"without content: {asked}")
    execution = execute(history.context, living.prepared_model, asked.request, measure=False, executor="synchronous")
    expected = {ErrorStatus.GENERAL_FAILURE}
    if not history.is_refused_for_others(asked, execution, expected):
        with checks.about("NNHAL-MEMDOMAIN-014"):
            checks.status(execution.status, expected, f"execution with {held}, uninitialised")
    history.forget_outputs(asked)
    for one in given.values():
        with checks.about("NNHAL-EXECUTE-002"):
            history.read(one, f"another input of an execution with {held}, uninitialised")


def _usable(history: History, living: Living, index: int, rows: int) -> list[Held]:
    """Buffers with content that can be an input of a model with so many rows."""
    free = with_role(history.free_buffers, living, "input", index)
    return [one for one in free if one.values is not None and not one.columns and rows_of(one.values) == rows]


def buffer_twice(history: History, chance: random.Random) -> None:
    """A buffer is an input and an output of one execution, with a role for each."""
    wanted = [
        (living, held, index, result)
        for living in history.models
        for held in history.free_buffers
        if held.values is not None
        for index in range(living.recipe.inputs)
        for result in range(len(living.recipe.terms))
        if {(living.number, "input", index), (living.number, "output", result)} <= held.roles
    ]
    if not wanted:
        return
    living, held, index, result = chance.choice(wanted)
    assert held.values is not None
    asked = ask(history, living, chance, with_buffers=False, given={index: held}, rows=rows_of(held.values))
    if asked is None:
        return
    outputs = list(asked.request.outputs)
    outputs[result] = replace(asked.request.inputs[index], dimensions=())
    history.say(f"{held} as input {index} and output {result}: {asked}")
    request = replace(asked.request, outputs=tuple(outputs))
    executor = chance.choice([one for one in executors(history.version) if one != "burst"])
    execution = execute(history.context, living.prepared_model, request, measure=False, executor=executor)
    if not history.is_refused_for_others(asked, execution):
        with checks.about("NNHAL-MEMDOMAIN-025"):
            checks.status(execution.status, _INVALID, f"{executor} execution with {held} as input and output")
    history.forget_outputs(asked)
    history.buffers.remove(held)  # whether a refused execution empties the buffers of its outputs is free


def pixels(history: History, chance: random.Random) -> None:
    """An input lies in memory that the device need not take, a hardware buffer that is no BLOB."""
    asked = _mostly_of_bursts(history, chance, with_buffers=False) if history.version.is_aidl else None
    if asked is None:
        return
    pool = RequestMemoryPool(pool=history.context.pool(SIZE, "hardware_buffer").memory)
    inputs = list(asked.request.inputs)
    inputs[chance.randrange(len(inputs))] = RequestArgument(location=DataLocation(len(asked.request.pools)))
    history.say(f"an input in pixels: {asked}")
    request = replace(asked.request, inputs=tuple(inputs), pools=(*asked.request.pools, pool))
    _executed(history, asked, request, chance)
    history.forget_outputs(asked)


def without_role(history: History, chance: random.Random) -> None:
    """A buffer is used as what it was not allocated for: of a model like its own, or beside a use that it may have."""
    filled = [one for one in history.free_buffers if one.values is not None]
    wanted = [
        (living, held, use)
        for held in filled
        for living in history.models
        for use in _uses(living)
        if (living.number, *use) not in held.roles
    ]
    if not wanted:
        return
    like = [one for one in wanted if _is_near(*one)]
    living, held, (direction, index) = chance.choice(like if like and chance.random() < 0.7 else wanted)
    legal = [other for number, kind, other in held.roles if (number, kind) == (living.number, "input")]
    legal = [] if direction == "output" or chance.random() < 0.3 else sorted(legal)
    assert held.values is not None
    given = {chance.choice(legal): held} if legal else {}
    asked = ask(history, living, chance, with_buffers=False, given=given, rows=rows_of(held.values))
    if asked is None:
        return
    history.say(f"{held} as {direction} {index}, which it is not for: {asked}")
    executor = chance.choice(naming_buffers(history.version))
    request = _with_buffer(asked.request, held, direction, index)
    execution = execute(history.context, living.prepared_model, request, measure=False, executor=executor)
    if not history.is_refused_for_others(asked, execution):
        with checks.about("NNHAL-MEMDOMAIN-024"):
            checks.status(execution.status, _INVALID, f"{executor} execution with {held} as {direction} {index}")
    history.forget_outputs(asked)
    if direction == "output":  # whether a refused execution empties the buffers of its outputs is free
        history.buffers.remove(held)


def _is_near(living: Living, held: Held, use: tuple[str, int]) -> bool:
    """True where a driver may take the use for a right one: of a model of the same kind, or beside one of the model."""
    mine = any(number == living.number and kind == use[0] for number, kind, _ in held.roles)
    return mine or any((kind, index) == use for _, kind, index in held.roles)


def _uses(living: Living) -> list[tuple[str, int]]:
    recipe = living.recipe
    return [
        *(("input", index) for index in range(recipe.inputs)),
        *(("output", index) for index in range(len(recipe.terms))),
    ]


def _with_buffer(request: Request, held: Held, direction: str, index: int) -> Request:
    """The request with a buffer as one of its inputs or outputs, in a pool of its own where it has none."""
    pool = RequestMemoryPool(token=held.made.token)
    pools = request.pools if pool in request.pools else (*request.pools, pool)
    arguments = list(request.inputs if direction == "input" else request.outputs)
    arguments[index] = RequestArgument(location=DataLocation(pools.index(pool)))
    changed = {"inputs" if direction == "input" else "outputs": tuple(arguments)}
    return replace(request, pools=pools, **changed)


def _executed(
    history: History,
    asked: Ask,
    request: Request,
    chance: random.Random,
    *,
    measured: bool = False,
    finding_shapes: bool = False,
) -> Execution:
    """Execute another request with the same pools, in an open burst where the model has one, or in any other way."""
    mine = [one for one in history.bursts if one.living is asked.living]
    if mine and chance.random() < 0.6:
        names = bursts.named(mine[0], asked, chance, may_hide=history.version.is_aidl)
        names += [NO_IDENTITY] * (len(request.pools) - len(names))
        execution = mine[0].burst.execute(request, names, ExecutionOptions(measure=measured))
        _release_one(history, mine[0], chance)
        return execution
    executor = chance.choice(bursts.ways(history, asked.living, finding_shapes=finding_shapes))
    return execute(history.context, asked.living.prepared_model, request, measure=measured, executor=executor)


def _mostly_of_bursts(history: History, chance: random.Random, *, with_buffers: bool = True) -> Ask | None:
    """An execution, mostly of a model with an open burst."""
    in_bursts = [one.living for one in history.bursts if one.living in history.models]
    living = chance.choice(in_bursts if in_bursts and chance.random() < 0.6 else history.models)
    return ask(history, living, chance, with_buffers=with_buffers and has_buffers(history))


def _open_burst(history: History, asked: Ask) -> OpenBurst | None:
    """The burst of a model that takes deadlines."""
    found = [one for one in history.bursts if one.living is asked.living]
    return found[0] if found and history.version.is_aidl else None


def _release_one(history: History, burst: OpenBurst, chance: random.Random) -> None:
    """Mostly let the burst forget a memory after an execution that has failed."""
    if burst.names and chance.random() < 0.7:
        name = burst.names.pop(chance.choice(list(burst.names)))
        history.say(f"release {name}")
        checks.works(lambda: burst.burst.release(name), "release of a memory behind a failed execution")
