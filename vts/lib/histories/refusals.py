"""What a driver must refuse or end in the middle of a history, and what it must leave as it was."""

from __future__ import annotations

import random
import time
from functools import partial

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.executing import launching
from npu_conformance.harness.run.executing.executors import bind, execute, executors, naming_buffers, run_reusable
from npu_conformance.specs.neuralnetworks.enums import EXHAUSTED, MISSED, ErrorStatus, busy
from npu_conformance.specs.neuralnetworks.types import DataLocation, Request, RequestArgument, RequestMemoryPool
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.deadlines import LATE, MILLISECOND, deadline
from npu_conformance.vts.lib.fenced import BoundModel
from npu_conformance.vts.lib.histories import bursts, waiting
from npu_conformance.vts.lib.histories.asking import any_model, ask, has_buffers
from npu_conformance.vts.lib.histories.history import History
from npu_conformance.vts.lib.histories.memory import ROWS, rows_of
from npu_conformance.vts.lib.histories.options import drawn_options
from npu_conformance.vts.lib.histories.recipes import Recipe
from npu_conformance.vts.lib.histories.things import Held, Root, signal_open
from npu_conformance.vts.lib.load import is_too_much
from npu_conformance.vts.lib.loops import Loop, expect_sooner_than_default
from npu_conformance.vts.lib.memory_domains.fixture import status_of
from npu_conformance.vts.lib.structure_models import LOOP

_INVALID = {ErrorStatus.INVALID_ARGUMENT}
_CONTRADICTED = {ErrorStatus.GENERAL_FAILURE, ErrorStatus.OUTPUT_INSUFFICIENT_SIZE}
"""AOSP's driver says the latter of what an IF computes; `vts.memory_domains.shapes` asks for the former."""
_LOOPING = Recipe(2, ((0, 1),), rounds=1)
"""Stands for a model with a loop, whose timeout counts."""
_IN_ERROR = {ErrorStatus.INVALID_ARGUMENT, ErrorStatus.GENERAL_FAILURE}
"""NNHAL-FENCED-004."""


def wrong_copy(history: History, chance: random.Random) -> None:
    """A copy has another size than its buffer: into the buffer, which has no content then, or out of it."""
    free = history.free_buffers
    if not free:
        return
    held = chance.choice(free)
    if held.values is not None and chance.random() < 0.5:
        _copy_out(history, held, chance.choice([one for one in ROWS if one != rows_of(held.values)]))
        return
    right = held.rows or chance.choice(ROWS)
    other = chance.choice([one for one in ROWS if one != right])
    if held.rows is not None and chance.random() < 0.5:
        _copy_in(history, held, other, other)
    else:
        _copy_in(history, held, right, other)


def _copy_out(history: History, held: Held, rows: int) -> None:
    history.say(f"copy {held} into memory of {rows} rows")
    with checks.about("NNHAL-MEMDOMAIN-020"):
        status = status_of(lambda: held.made.buffer.copy_to(history.copies[rows].memory))
        checks.status(status, _INVALID, f"copyTo of {held} into memory of another size")
    history.read(held, "read after a refused copyTo")


def _copy_in(history: History, held: Held, said: int, rows: int) -> None:
    """The memory has another size than the dimensions say, or both are none that the buffer can have."""
    history.say(f"copy memory of {rows} rows into {held} as {said} rows")
    shape = held.shape(said)
    with checks.about("NNHAL-MEMDOMAIN-017" if said != rows else "NNHAL-MEMDOMAIN-018"):
        status = status_of(lambda: held.made.buffer.copy_from(history.copies[rows].memory, shape))
        checks.status(status, _INVALID, f"copyFrom of memory of {rows} rows into {held} as {said} rows")
    held.values = None  # NNHAL-MEMDOMAIN-016


def unknown_token(history: History, chance: random.Random) -> None:
    """An input or output lies in a buffer that nobody has allocated."""
    if not has_buffers(history):
        return
    asked = ask(history, any_model(history, chance), chance, with_buffers=False)
    if asked is None:
        return
    known = [one.made.token for one in history.buffers]
    token = chance.choice((0, max(known, default=0) + (1 << 20)))
    request = _from_token(asked.request, token, chance)
    executor = chance.choice(naming_buffers(history.version))
    history.say(f"{executor} execution with token {token}: {asked}")
    execution = execute(history.context, asked.living.prepared_model, request, measure=False, executor=executor)
    if not history.is_refused_for_others(asked, execution):
        with checks.about("NNHAL-MEMDOMAIN-023"):
            checks.status(execution.status, _INVALID, f"{executor} execution with token {token}, of no buffer")
    history.forget_outputs(asked)


def _from_token(request: Request, token: int, chance: random.Random) -> Request:
    """The request with one argument in a pool of its own, a buffer of that token."""
    inputs, outputs = list(request.inputs), list(request.outputs)
    arguments = chance.choice((inputs, outputs))
    at = chance.randrange(len(arguments))
    place = DataLocation(len(request.pools))
    arguments[at] = RequestArgument(location=place, dimensions=arguments[at].dimensions)
    pools = (*request.pools, RequestMemoryPool(token=token))
    return replace(request, inputs=tuple(inputs), outputs=tuple(outputs), pools=pools)


def contradiction(history: History, chance: random.Random) -> None:
    """An output has another number of rows than its buffer can have, whether the request says so or not."""
    wanted = [
        (living, held, index)
        for living in history.models
        for held in history.free_buffers
        if held.like.is_open and held.rows is not None
        for index in range(len(living.recipe.terms))
        if (living.number, "output", index) in held.roles
    ]
    if not wanted:
        return
    living, held, index = chance.choice(wanted)
    asked = ask(history, living, chance, with_buffers=False)
    if asked is None or history.shapes(asked)[index] == held.shape(held.rows or 1):
        return
    is_said = chance.random() < 0.5
    executor = chance.choice(naming_buffers(history.version, finding_shapes=not is_said))
    request = _into(asked.request, index, held, is_said=is_said)
    history.say(f"{executor} execution into {held}, of {held.rows} rows, as output {index}: {asked}")
    execution = execute(history.context, living.prepared_model, request, measure=False, executor=executor)
    allowed = _INVALID if is_said else _CONTRADICTED
    if not history.is_refused_for_others(asked, execution, allowed):
        with checks.about("NNHAL-MEMDOMAIN-027" if is_said else "NNHAL-MEMDOMAIN-028"):
            checks.status(
                execution.status, allowed, f"{executor} execution into {held}, which cannot hold output {index}"
            )
    history.forget_outputs(asked)
    history.buffers.remove(held)  # what it holds then is for `vts.memory_domains.shapes` to see


def _into(request: Request, index: int, held: Held, *, is_said: bool) -> Request:
    """The request with an output in a buffer, of which it says the dimensions or not."""
    outputs = list(request.outputs)
    shape = outputs[index].dimensions if is_said else ()
    outputs[index] = RequestArgument(location=DataLocation(len(request.pools)), dimensions=shape)
    return replace(request, outputs=tuple(outputs), pools=(*request.pools, RequestMemoryPool(token=held.made.token)))


def refused_launch(history: History, chance: random.Random) -> None:
    """A fenced execution is refused while others wait: for its request, or for a fence that has failed already.

    It is one of a model, or a run of a reusable execution, which is not busy then.
    """
    if history.version < Version.V1_3:
        return
    bound = waiting.ready_sometimes(history, chance)
    asked = bound.ask if bound else ask(history, any_model(history, chance), chance, with_buffers=False)
    if asked is None:
        return
    is_wrong, own = bound is None and chance.random() < 0.5, Root(history.context.fence())
    if not is_wrong:
        own.is_settled = True
        own.fence.fail()
    roots = [*(one for one in history.roots if not one.is_settled), own]
    fences = tuple(one.fence for one in chance.sample(roots, len(roots)))
    model = BoundModel(bound.execution) if bound else asked.living.prepared_model
    request = replace(asked.request, inputs=asked.request.inputs[1:]) if is_wrong else asked.request
    history.say(f"a fenced execution to be refused, {'an input less' if is_wrong else 'a fence in error'}: {asked}")
    launched = launching.launch(history.context, model, request, fences, settle=partial(signal_open, roots))
    allowed = _INVALID if is_wrong else _IN_ERROR
    if launched.status not in allowed and not (history.pending and is_too_much(history.context, launched.status)):
        with checks.about("NNHAL-FENCED-001" if is_wrong else "NNHAL-FENCED-004"):
            checks.status(launched.status, allowed, "launch of a fenced execution that is to be refused")
    signal_open([own])
    history.leave_outputs(asked)
    waiting.finish_early(history, roots[:-1], chance)


def late_again(history: History, chance: random.Random) -> None:
    """The deadline of one run of a reusable execution has passed, which is nothing to the next one."""
    ready = waiting.ready(history)
    if not ready:
        return
    bound = chance.choice(ready)
    executor = "reusable" if history.pending else chance.choice(("reusable", "reusable_fenced"))
    waiting.refill(history, bound.ask, chance)
    limits = chance.choice(({"deadline": deadline("past", history.version)}, {"duration": 1}))
    what = f"late {executor} execution of {bound.ask}, {'/'.join(limits)}"
    history.say(what)
    execution = run_reusable(history.context, bound.execution, executor, replace(bound.options, **limits))
    if not history.is_refused_for_others(bound.ask, execution):
        with checks.about("NNHAL-QOS-003"):
            checks.status(execution.status, LATE, what)
    if execution.status == ErrorStatus.NONE:
        history.judge(bound.ask, execution, executor, measured=bound.options.measure, what=what)
    else:
        history.leave_outputs(bound.ask)  # what did not begin has not failed, for AOSP's driver


def endless_loop(history: History, chance: random.Random) -> None:
    """A loop without end ends by its timeout of a millisecond, whatever other limits and hints there are."""
    if history.version < Version.V1_3 or not history.known.aborts_loops:
        return
    if history.looping is None:
        history.known.aborts_loops = all(history.context.supported_operations(LOOP))
        history.looping = history.context.prepare(LOOP).prepared_model if history.known.aborts_loops else None
    if history.looping is None:
        return
    request = Loop(history.context, 1, step=0.0).request
    options = replace(drawn_options(history.version, _LOOPING, chance), loop_timeout=MILLISECOND)
    ways = set(executors(history.version, loop_timeout=True)) & set(bursts.ways(history))
    executor = chance.choice(sorted(ways))
    history.say(f"{executor} execution of a loop without end")
    started = time.monotonic()
    execution = bind(history.context, history.looping, request, options, executor)()
    others = busy(history.version) if history.pending or history.launched else ()
    if execution.status in {ErrorStatus.GENERAL_FAILURE, *EXHAUSTED, *others}:
        history.known.aborts_loops = execution.status != ErrorStatus.GENERAL_FAILURE
        return
    with checks.about("NNHAL-CONTROLFLOW-011"):
        checks.status(execution.status, MISSED, f"{executor} execution of a loop without end")
        expect_sooner_than_default(history.context, time.monotonic() - started)
