"""The steps of a history: each draws what it does from dice of its own, and knows what has to come of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from npu_conformance.cts.lib.runtime.histories import refusals
from npu_conformance.cts.lib.runtime.histories.history import (
    MATRIX_BYTES,
    MOST,
    AppHistory,
    Described,
    Flight,
    Job,
    Made,
    Where,
    drawn_inputs,
    is_matrix,
)
from npu_conformance.cts.lib.runtime.histories.jobs import new_job, refill, set_arguments
from npu_conformance.cts.lib.runtime.memories import Role, descriptor
from npu_conformance.cts.lib.runtime.ways import compute, start_with_dependencies, started, ways
from npu_conformance.harness.judge import checks
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode

Does = Callable[[AppHistory, random.Random], None]


def compile_net(history: AppHistory, chance: random.Random) -> None:
    """Compile a model once more."""
    if len(history.compilations) < MOST:
        history.compile(chance)


def execute(history: AppHistory, chance: random.Random) -> None:
    """Make an execution and compute it in any way; it is kept where it may be computed again."""
    job = new_job(history, chance.choice(history.compilations), chance)
    if job is not None:
        set_arguments(history, job)
        _compute(history, job, chance)
        _keep_or_free(history, job)


def execute_again(history: AppHistory, chance: random.Random) -> None:
    """Compute an execution once more, with other data in the same places."""
    if history.kept:
        job = chance.choice(history.kept)
        refill(history, job, chance)
        _compute(history, job, chance)


def start(history: AppHistory, chance: random.Random) -> None:
    """Start two to four computations, one on what another is going to give, and wait for them in any order."""
    for _ in range(chance.randint(2, 4)):
        _start_one(history, chance)
    flights, history.flights = chance.sample(history.flights, len(history.flights)), []
    for flight in flights:
        result = int(history.app.call("event_wait", flight.event))
        history.judge(flight.job, result, f"event_wait of {flight.job}")
        history.app.free(flight.event)
    for flight in flights:
        _keep_or_free(history, flight.job)


def _start_one(history: AppHistory, chance: random.Random) -> None:
    earlier = [] if history.is_failing else history.flights  # what fails behind fences nobody makes up for
    job = new_job(history, chance.choice(history.compilations), chance, after=earlier)
    if job is None:
        return
    set_arguments(history, job)
    needed = [one.event for one in history.flights if _gives_to(one.job, job)]
    others = [one.event for one in history.flights if one.event not in needed and chance.random() < 0.6]
    is_fenced = bool(needed) or (chance.random() < 0.6 and not history.is_failing)
    history.say(f"start {job}, behind {len(needed) + len(others)} events" if is_fenced else f"start {job}")
    if is_fenced:
        function = "execution_start_compute_with_dependencies"
        behind = tuple(chance.sample([*needed, *others], len(needed) + len(others)))
        answer = start_with_dependencies(history.app, job.handle, behind)
    else:
        function = "execution_start_compute"
        answer = history.app.call(function, job.handle, True)
    history.app.expect(function, answer.result)
    history.flights.append(Flight(job, started(history.app, function, answer)))


def _gives_to(earlier: Job, later: Job) -> bool:
    """True where one execution writes what another one reads."""
    written = [earlier.places[name] for name in earlier.made.net.vector.outputs]
    return any(later.places[name] in written for name in later.made.net.vector.inputs)


def _compute(history: AppHistory, job: Job, chance: random.Random) -> None:
    known = [one for one in ways(history.app.level) if one != "fenced" or not history.is_failing]
    way = chance.choice([*known, "open burst"])
    what = f"{way} of {job}"
    history.say(what)
    if way == "open burst":
        job.made.burst = job.made.burst or history.app.made("burst_create", job.made.compiled.handle, True)
        result = int(history.app.call("execution_burst_compute", job.handle, job.made.burst))
    else:
        result = compute(history.app, way, job.handle, job.made.compiled.handle)
    history.judge(job, result, what)


def _keep_or_free(history: AppHistory, job: Job) -> None:
    """Keep an execution that may be computed again; free it else, and one that is kept where there are many."""
    if not job.is_reusable:
        history.let_go(job)
        return
    history.kept.append(job)
    if len(history.kept) > MOST:
        history.let_go(history.kept.pop(0))


def allocate(history: AppHistory, chance: random.Random) -> None:
    """Describe memory for one to three arguments; the runtime may decline."""
    if len(history.described) >= MOST:
        return
    every = [
        (made, role, index)
        for made in history.compilations
        for role, index, name in made.arguments
        if is_matrix(made.net, name)
    ]
    drawn = chance.sample(every, min(len(every), chance.randint(1, 3)))
    source = descriptor(history.app, [Role(role, made.compiled.handle, index) for made, role, index in drawn])
    for _ in range(chance.randint(1, 2)):  # two memories of one descriptor are two
        handle = history.app.memory_if_given(source)
        if handle is None:
            return
        history.allocated += 1
        roles = frozenset((made.number, role, index) for made, role, index in drawn)
        history.described.append(Described(history.allocated, handle, roles))
        told = ", ".join(f"{role} {index} of {made}" for made, role, index in drawn)
        history.say(f"{history.described[-1]} for {told}")


def fill(history: AppHistory, chance: random.Random) -> None:
    """Copy a matrix into memory from a descriptor."""
    if history.described:
        held = chance.choice(history.described)
        drawn = drawn_inputs(history.nets[0], chance).values()
        history.say(f"copy into {held}")
        history.put(held, next(one.tobytes() for one in drawn if one.nbytes == MATRIX_BYTES))


def read(history: AppHistory, chance: random.Random) -> None:
    """Copy memory from a descriptor out; one without content has none to give."""
    if not history.described:
        return
    held = chance.choice(history.described)
    history.say(f"read {held}")
    if held.content is not None:
        with checks.about("FW-MEM-006"):
            checks.equal(history.read(held), held.content, f"content of {held}")
        return
    target, _ = history.app.shared_memory(MATRIX_BYTES)
    with checks.about("FW-MEM-006"):
        history.app.refused("memory_copy", ResultCode.BAD_DATA, held.handle, target)
    history.app.free(target)


def drop(history: AppHistory, chance: random.Random) -> None:
    """Free an execution, memory that no execution has, a burst, or a compilation of which nothing else lives."""
    chance.choice((_drop_job, _drop_memory, _drop_burst, _drop_compilation))(history, chance)


def _drop_job(history: AppHistory, chance: random.Random) -> None:
    if history.kept:
        job = history.kept.pop(chance.randrange(len(history.kept)))
        history.say(f"free {job}")
        history.let_go(job)


def _drop_memory(history: AppHistory, chance: random.Random) -> None:
    used: list[Where] = [one for job in history.kept for one in job.places.values()]
    free = [one for one in history.described if one not in used]
    if free:
        held = chance.choice(free)
        history.say(f"free {held}")
        history.forget(held)


def _drop_burst(history: AppHistory, chance: random.Random) -> None:
    having = [made for made in history.compilations if made.burst]
    if having:
        made = chance.choice(having)
        history.say(f"free the burst of {made}")
        history.app.free(made.burst)
        made.burst = 0


def _drop_compilation(history: AppHistory, chance: random.Random) -> None:
    unused = [made for made in history.compilations if _is_unused(history, made)]
    if len(history.compilations) > 1 and unused:
        made = chance.choice(unused)
        history.compilations.remove(made)
        history.say(f"free {made}")
        history.app.free(made.compiled.handle)


def _is_unused(history: AppHistory, made: Made) -> bool:
    """True for a compilation without executions, bursts or memory for its roles."""
    has_roles = any(number == made.number for held in history.described for number, _, _ in held.roles)
    return not (made.burst or has_roles or any(job.made is made for job in history.kept))


STEPS: Mapping[str, Does] = {
    "compile": compile_net,
    "execute": execute,
    "execute_again": execute_again,
    "start": start,
    "allocate": allocate,
    "fill": fill,
    "read": read,
    "drop": drop,
    "computed_twice": refusals.computed_twice,
    "incomplete": refusals.incomplete,
    "wrong_length": refusals.wrong_length,
    "without_role": refusals.without_role,
    "without_content": refusals.without_content,
    "burst_of_another": refusals.burst_of_another,
    "wrong_copy": refusals.wrong_copy,
}
"""What a step does, by its name."""
