"""The steps of a history: each draws what it does from dice of its own, and knows what has to come of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import partial

from msgspec.structs import replace

from npu_conformance.harness.run.executing.execution import ExecutionOptions, ExecutionRecorder
from npu_conformance.harness.run.executing.executors import run_reusable
from npu_conformance.specs.versions import HIDL_LAST, Version
from npu_conformance.vts.lib.histories.alike import launches, let_go_of_one, only_answer, release, reusable_if_room
from npu_conformance.vts.lib.histories.options import drawn_options
from npu_conformance.vts.lib.operation_histories import buffers, bursts, caches, failures, waiting
from npu_conformance.vts.lib.operation_histories.asking import another_example, ask
from npu_conformance.vts.lib.operation_histories.history import MOST, History
from npu_conformance.vts.lib.operation_histories.running import run_model
from npu_conformance.vts.lib.operation_histories.things import Ask, Bound

Does = Callable[[History, random.Random], None]


def prepare(history: History, chance: random.Random) -> None:
    """Prepare a model."""
    if len(history.models) < MOST:
        history.say(f"prepare {history.prepare(chance)}")


def run(history: History, chance: random.Random) -> None:
    """Execute a model in any way that ends at once."""
    run_model(history, history.any_model(chance), chance)


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
    options = drawn_options(history.version, burst.living.known, chance)
    history.say(f"burst execution of {asked}")
    execution = bursts.execute(history, burst, asked, asked.request, options, chance)
    history.judge(asked, execution, "burst", measured=options.measure)


def together(history: History, chance: random.Random) -> None:
    """Launch asynchronous executions, execute another one, and wait for all."""
    if history.version > HIDL_LAST or history.pending:
        return
    launched = [_launched(history, chance) for _ in range(chance.randint(1, 3))]
    in_burst(history, chance)
    for asked, options, recorder in filter(None, launched):
        answer = only_answer(history.context, recorder)
        history.judge(asked, answer, "asynchronous", measured=options.measure)
        history.launched.remove(asked)


def _launched(history: History, chance: random.Random) -> tuple[Ask, ExecutionOptions, ExecutionRecorder] | None:
    """Launch an asynchronous execution."""
    asked = ask(history, history.any_model(chance), chance)
    if asked is None:
        return None
    recorder, options = ExecutionRecorder(), drawn_options(history.version, asked.living.known, chance)
    history.say(f"launch {asked}")
    arguments = (asked.request, options.measure, options.deadline, options.loop_timeout, recorder)
    launch = partial(asked.living.prepared_model.execute, *arguments)
    if not launches(history.context, launch, beside=bool(history.launched)):
        history.leave_outputs(asked)
        return None
    history.launched.append(asked)
    return asked, options, recorder


def bind(history: History, chance: random.Random) -> None:
    """Make a reusable execution, and run it."""
    if history.version < Version.FL8 or len(history.bound) >= MOST:
        return
    asked = ask(history, history.any_model(chance), chance, may_hide=True)
    if asked is None:
        return
    options = drawn_options(history.version, asked.living.known, chance)
    history.say(f"bind {asked}")
    execution = reusable_if_room(history.context, asked.living.prepared_model, asked.request, options)
    if execution is not None:
        history.bound.append(Bound(asked, execution, options))
    run_bound(history, chance)


def run_bound(history: History, chance: random.Random) -> None:
    """Run a reusable execution once more, with the data of another example."""
    ready = waiting.ready(history)
    if not ready:
        return
    bound = chance.choice(ready)
    another_example(history, bound.ask, chance)
    is_plain = history.pending or bound.ask.hides_shapes
    executor = "reusable" if is_plain else chance.choice(("reusable", "reusable_fenced"))
    history.say(f"run the {executor} execution of {bound.ask}")
    limits = drawn_options(history.version, bound.ask.living.known, chance)
    options = replace(bound.options, deadline=limits.deadline, duration=limits.duration)
    execution = run_reusable(history.context, bound.execution, executor, options)
    history.judge(bound.ask, execution, executor, measured=options.measure)


def drop(history: History, chance: random.Random) -> None:
    """Let go of something that no execution that waits needs."""
    let_go_of_one(history, partial(_is_droppable, history), chance)


def _is_droppable(history: History, one: object) -> bool:
    """True for what no execution that waits needs."""
    busy = [held for asked in history.under_way for held in asked.buffers]
    needed = [pair for pending in history.pending for pair in (pending.ask.living, pending.bound)]
    return one not in busy and not any(one is other for other in needed)


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
    "restore": caches.restore,
    "drop": drop,
    "allocate": buffers.allocate,
    "read": buffers.read,
    "wrong_request": failures.wrong_request,
    "wrong_axis": failures.wrong_axis,
    "no_room": failures.no_room,
}
"""What a step does, by its name."""
