"""What a runtime must refuse, or fail, in the middle of a history, and what it must leave as it was."""

from __future__ import annotations

import random

from npu_conformance.cts.lib.runtime.histories.history import MATRIX_BYTES, AppHistory, Described, Job
from npu_conformance.cts.lib.runtime.histories.jobs import new_job, set_arguments
from npu_conformance.cts.lib.runtime.histories.places import Cell
from npu_conformance.harness.judge import checks
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode


def computed_twice(history: AppHistory, chance: random.Random) -> None:
    """An execution that is not reusable is computed twice, and gets an argument behind its end (FW-EXE-002)."""
    job = new_job(history, chance.choice(history.compilations), chance, may_stay=False)
    if job is None:
        return
    set_arguments(history, job)
    history.say(f"compute twice: {job}")
    history.judge(job, history.app.compute(job.handle), f"computation of {job}")
    with checks.about("FW-EXE-002"):
        history.app.expect("second computation", history.app.compute(job.handle), ResultCode.BAD_STATE)
    history.let_go(job)


def incomplete(history: AppHistory, chance: random.Random) -> None:
    """An execution is computed before it has its last output (FW-EXE-011)."""
    job = new_job(history, chance.choice(history.compilations), chance, may_stay=False)
    if job is None:
        return
    history.say(f"compute without the last output: {job}")
    set_arguments(history, job, but_last=1)
    with checks.about("FW-EXE-011"):
        result = history.app.compute(job.handle)
        history.app.expect("computation without an output", result, ResultCode.BAD_DATA)
    _let_go_and_forget(history, job)


def wrong_length(history: AppHistory, chance: random.Random) -> None:
    """An argument is set with a byte too few, and then as it should be (FW-EXE-007)."""
    job = new_job(history, chance.choice(history.compilations), chance, may_stay=False)
    if job is None:
        return
    role = chance.choice(("input", "output"))
    index, name = chance.choice([(index, name) for side, index, name in job.made.arguments if side == role])
    size = job.made.sizes[name]
    with checks.about("FW-EXE-007"):
        arguments = (job.handle, index, None, history.pointer(size), size - 1)
        history.app.refused(f"execution_set_{role}", ResultCode.BAD_DATA, *arguments)
    _goes_on(history, job, f"{role} {index} was set with a byte too few")


def without_role(history: AppHistory, chance: random.Random) -> None:
    """Memory from a descriptor is set as what it is not for (FW-MEM-003)."""
    wanted = [
        (held, made, role, index)
        for held in history.described
        for made in history.compilations
        for role, index, _ in made.arguments
        if (made.number, role, index) not in held.roles
    ]
    if not wanted:
        return
    held, made, role, index = chance.choice(wanted)
    job = new_job(history, made, chance, may_stay=False)
    if job is None:
        return
    with checks.about("FW-MEM-003"):
        arguments = (job.handle, index, None, held.handle, 0, 0)
        history.app.refused(f"execution_set_{role}_from_memory", ResultCode.BAD_DATA, *arguments)
    _goes_on(history, job, f"{held} was set as {role} {index}, which it is not for")


def without_content(history: AppHistory, chance: random.Random) -> None:
    """An input lies in memory from a descriptor to which nothing was written (FW-MEM-004)."""
    wanted = [
        (held, made, index)
        for held in history.described
        if held.content is None
        for made in history.compilations
        for index in range(len(made.net.vector.inputs))
        if (made.number, "input", index) in held.roles
    ]
    if not wanted:
        return
    held, made, index = chance.choice(wanted)
    job = new_job(history, made, chance, may_stay=False)
    if job is None:
        return
    name = made.net.vector.inputs[index]
    if held in job.places.values():  # it has got content, or is an output
        _let_go_and_forget(history, job)
        return
    if isinstance(where := job.places[name], Cell):
        history.places.busy.remove(where)
    job.places[name] = held
    set_arguments(history, job)
    history.say(f"{held}, which is uninitialised, as input {index}: {job}")
    with checks.about("FW-MEM-004"):
        result = history.app.compute(job.handle)
        history.app.expect(f"computation with {held}, uninitialised", result, ResultCode.OP_FAILED)
    _let_go_and_forget(history, job)


def burst_of_another(history: AppHistory, chance: random.Random) -> None:
    """An execution is computed in a burst of another compilation, and then in another way (FW-EXE-014)."""
    having = [made for made in history.compilations if made.burst]
    others = [made for made in history.compilations if not having or made is not having[0]]
    job = new_job(history, chance.choice(others), chance, may_stay=False) if having and others else None
    if job is None:
        return
    set_arguments(history, job)
    with checks.about("FW-EXE-014"):
        arguments = (job.handle, having[0].burst)
        history.app.refused("execution_burst_compute", ResultCode.BAD_DATA, *arguments)
    history.say(f"in a burst of {having[0]}, and then without: {job}")
    history.judge(job, history.app.compute(job.handle), f"computation of {job}")
    history.let_go(job)


def wrong_copy(history: AppHistory, chance: random.Random) -> None:
    """Memory of another size is copied out of memory from a descriptor (FW-MEM-006)."""
    filled = [one for one in history.described if one.content is not None]
    if not filled:
        return
    held = chance.choice(filled)
    size = chance.choice((MATRIX_BYTES // 2, MATRIX_BYTES * 2))
    history.say(f"copy {held} into memory of {size} bytes")
    target, _ = history.app.shared_memory(size)
    with checks.about("FW-MEM-006"):
        history.app.refused("memory_copy", ResultCode.BAD_DATA, held.handle, target)
        checks.equal(history.read(held), held.content, f"content of {held} behind a refused copy")
    history.app.free(target)


def _goes_on(history: AppHistory, job: Job, behind: str) -> None:
    """See an execution be computed as if nothing had been refused."""
    history.say(f"{behind}; then right: {job}")
    set_arguments(history, job)
    history.judge(job, history.app.compute(job.handle), f"computation of {job}, where {behind}")
    history.let_go(job)


def _let_go_and_forget(history: AppHistory, job: Job) -> None:
    """Free an execution, and memory from descriptors that it was to write: what that holds is not said."""
    history.let_go(job)
    for one in (job.places[name] for name in job.made.net.vector.outputs):
        if isinstance(one, Described):
            history.forget(one)
