"""The steps of a history: each draws what it does from dice of its own, and knows what has to come of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import partial

from msgspec.structs import replace

from npu_conformance.harness.run.executing.execution import ExecutionOptions, ExecutionRecorder
from npu_conformance.harness.run.executing.executors import bind as bind_once
from npu_conformance.harness.run.executing.executors import executors, run_reusable
from npu_conformance.specs.versions import HIDL_LAST, Version
from npu_conformance.vts.lib.histories import buffers, bursts, caches, disturbances, refusals, waiting
from npu_conformance.vts.lib.histories.alike import launches, let_go_of_one, only_answer, release, reusable_if_room
from npu_conformance.vts.lib.histories.asking import any_model, ask, has_buffers
from npu_conformance.vts.lib.histories.history import MOST, History
from npu_conformance.vts.lib.histories.options import drawn_options
from npu_conformance.vts.lib.histories.things import Ask, Bound, Held

Does = Callable[[History, random.Random], None]


def prepare(history: History, chance: random.Random) -> None:
    """Prepare a model."""
    if len(history.models) < MOST:
        living = history.prepare(chance)
        history.say("a preparation misses its deadline" if living is None else f"prepare {living}")


def run(history: History, chance: random.Random) -> None:
    """Execute a model in any way that ends at once."""
    living = any_model(history, chance)
    executor = chance.choice(bursts.ways(history, living))
    is_hidl_burst = executor == "burst" and not history.version.is_aidl
    may_hide = executor in executors(history.version, finding_shapes=True)
    asked = ask(history, living, chance, with_buffers=has_buffers(history) and not is_hidl_burst, may_hide=may_hide)
    if asked is None:
        return
    options = drawn_options(history.version, living.recipe, chance)
    what = f"{executor} execution of {asked}"
    history.say(what)
    execution = bind_once(history.context, asked.living.prepared_model, asked.request, options, executor)()
    history.judge(asked, execution, executor, measured=options.measure, what=what)


def in_burst(history: History, chance: random.Random) -> None:
    """Execute in a burst that stays open."""
    if not history.bursts or (chance.random() < 0.25 and len(history.bursts) < MOST):
        bursts.begin(history, chance)
    if not history.bursts:
        return
    burst = chance.choice(history.bursts)
    asked = ask(history, burst.living, chance, with_buffers=history.version.is_aidl, may_hide=True)
    if asked is None:
        return
    names = bursts.named(burst, asked, chance, may_hide=history.version.is_aidl)
    options = drawn_options(history.version, burst.living.recipe, chance)
    what = f"burst execution with names {names} of {asked}"
    history.say(what)
    with_config = history.version >= Version.FL8 and chance.random() < 0.3
    execution = burst.burst.execute(asked.request, names, options, with_config=with_config)
    history.judge(asked, execution, "burst", measured=options.measure, what=what)


def together(history: History, chance: random.Random) -> None:
    """Launch executions, execute another one, and wait for all."""
    if history.version > HIDL_LAST or history.pending:
        return
    launched = [_launched(history, chance) for _ in range(chance.randint(1, 3))]
    in_burst(history, chance)
    for asked, options, recorder in filter(None, launched):
        answer = only_answer(history.context, recorder)
        _let_go(history, asked)
        what = f"asynchronous execution of {asked}"
        history.judge(asked, answer, "asynchronous", measured=options.measure, what=what)
    history.launched.clear()


def _launched(history: History, chance: random.Random) -> tuple[Ask, ExecutionOptions, ExecutionRecorder] | None:
    """Launch an asynchronous execution."""
    asked = _of_any_model(history, chance)
    if asked is None:
        return None
    recorder = ExecutionRecorder()
    history.say(f"launch {asked}")
    options = drawn_options(history.version, asked.living.recipe, chance)
    arguments = (asked.request, options.measure, options.deadline, options.loop_timeout, recorder)
    launch = partial(asked.living.prepared_model.execute, *arguments)
    if not launches(history.context, launch, beside=bool(history.launched)):
        history.leave_outputs(asked)
        return None
    _hold(history, asked)
    return asked, options, recorder


def _hold(history: History, asked: Ask) -> None:
    history.launched.append(asked)
    history.memories.busy |= set(asked.places)


def _let_go(history: History, asked: Ask) -> None:
    history.memories.busy -= set(asked.places)


def bind(history: History, chance: random.Random) -> None:
    """Make a reusable execution."""
    asked = _of_any_model(history, chance) if history.version >= Version.FL8 and len(history.bound) < MOST else None
    if asked is None:
        return
    options = drawn_options(history.version, asked.living.recipe, chance)
    history.say(f"bind {asked}")
    execution = reusable_if_room(history.context, asked.living.prepared_model, asked.request, options)
    if execution is not None:
        history.bound.append(Bound(asked, execution, options))
    run_bound(history, chance)


def run_bound(history: History, chance: random.Random) -> None:
    """Run a reusable execution once more, with other inputs."""
    ready = waiting.ready(history)
    if not ready:
        return
    with_buffers = [one for one in ready if any(isinstance(place, Held) for place in one.ask.inputs)]
    bound = chance.choice(with_buffers if with_buffers and chance.random() < 0.5 else ready)
    waiting.refill(history, bound.ask, chance)
    executor = "reusable" if history.pending else chance.choice(("reusable", "reusable_fenced"))
    history.say(f"run the {executor} execution of {bound.ask}")
    limits = drawn_options(history.version, bound.ask.living.recipe, chance)
    options = replace(bound.options, deadline=limits.deadline, duration=limits.duration)
    execution = run_reusable(history.context, bound.execution, executor, options)
    what = f"{executor} execution of {bound.ask}"
    history.judge(bound.ask, execution, executor, measured=options.measure, what=what)


def drop(history: History, chance: random.Random) -> None:
    """Let go of something that no execution that waits needs."""
    let_go_of_one(history, partial(waiting.is_droppable, history), chance)


def _of_any_model(history: History, chance: random.Random) -> Ask | None:
    """An execution of any model that lives."""
    living = any_model(history, chance)
    return ask(history, living, chance, with_buffers=has_buffers(history))


STEPS: Mapping[str, Does] = {
    "prepare": prepare,
    "run": run,
    "in_burst": in_burst,
    "release": release,
    "together": together,
    "launch": waiting.launch,
    "settle": waiting.settle,
    "bind": bind,
    "run_bound": run_bound,
    "save": caches.save,
    "save_again": caches.save_again,
    "restore": caches.restore,
    "spoil": caches.spoil,
    "wrong_token": caches.wrong_token,
    "drop": drop,
    "allocate": buffers.allocate,
    "fill": buffers.fill,
    "read": buffers.read,
    "refused_request": disturbances.refused_request,
    "request_of_another": disturbances.request_of_another,
    "wrong_data": disturbances.wrong_data,
    "refused_model": disturbances.refused_model,
    "refused_allocation": disturbances.refused_allocation,
    "no_room": disturbances.no_room,
    "late": disturbances.late,
    "empty_buffer": disturbances.empty_buffer,
    "buffer_twice": disturbances.buffer_twice,
    "without_role": disturbances.without_role,
    "pixels": disturbances.pixels,
    "wrong_copy": refusals.wrong_copy,
    "unknown_token": refusals.unknown_token,
    "contradiction": refusals.contradiction,
    "refused_launch": refusals.refused_launch,
    "late_again": refusals.late_again,
    "endless_loop": refusals.endless_loop,
}
"""What a step does, by its name."""
