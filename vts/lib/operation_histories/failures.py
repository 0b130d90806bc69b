"""What has to fail, and must leave nothing behind."""

from __future__ import annotations

import random

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.executing.execution import Execution, ExecutionOptions, shape_rules
from npu_conformance.harness.run.executing.executors import execute
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import Request
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.histories.alike import judge_too_little_room, with_unknown_sizes, wrong_requests
from npu_conformance.vts.lib.operation_histories import bursts, running
from npu_conformance.vts.lib.operation_histories.asking import ask
from npu_conformance.vts.lib.operation_histories.history import History
from npu_conformance.vts.lib.operation_histories.memory import Region
from npu_conformance.vts.lib.operation_histories.things import Ask, Living

_NO_AXIS = (77).to_bytes(4, "little")


def wrong_request(history: History, chance: random.Random) -> None:
    """A request has an argument too few, or in a pool that does not exist."""
    asked = ask(history, history.any_model(chance), chance, with_buffers=False)
    if asked is None:
        return
    history.say(f"a wrong request for {asked.living}")
    execution = _executed(history, asked, chance.choice(wrong_requests(asked.request)), chance, measured=False)
    if not history.is_refused(asked, execution):
        with checks.about("NNHAL-REQUEST-001"):
            checks.status(execution.status, {ErrorStatus.INVALID_ARGUMENT}, "execution of a wrong request")
        _work_again(history, asked.living, chance)


def wrong_axis(history: History, chance: random.Random) -> None:
    """An axis that comes with the request is beyond every rank: whatever comes of that, the next request is right."""
    living = history.any_model(chance)
    asked = ask(history, living, chance, with_buffers=False) if living.known.axes else None
    place = None if asked is None else asked.inputs[chance.choice(living.known.axes)]
    if asked is None or not isinstance(place, Region):
        return
    history.memory.write(place, _NO_AXIS)
    history.say(f"an axis of 77: {asked}")
    execution = _executed(history, asked, asked.request, chance, measured=False)
    shape_rules(execution)
    history.leave_outputs(asked)
    _work_again(history, living, chance)


def no_room(history: History, chance: random.Random) -> None:
    """An output has too little room, which is a failure from 1.2 on (NNHAL-SHAPE-004)."""
    asked = ask(history, history.any_model(chance), chance, with_buffers=history.version.is_aidl)
    if asked is None or history.version < Version.V1_2:
        return
    sizes = [len(one.data) for one in asked.living.known.examples[asked.example].outputs]
    places = [at for at, one in enumerate(asked.outputs) if isinstance(one, Region) and sizes[at] > 1]
    if not places:
        return
    at, outputs, measured = chance.choice(places), list(asked.request.outputs), chance.random() < 0.5
    location = outputs[at].location
    outputs[at] = replace(outputs[at], location=replace(location, length=sizes[at] - 1))
    history.say(f"too little room for output {at}: {asked}")
    execution = _executed(history, asked, replace(asked.request, outputs=tuple(outputs)), chance, measured=measured)
    if history.is_refused(asked, execution):
        return
    judge_too_little_room(history.context, execution, at, _shapes(asked), measured=measured)
    history.leave_outputs(asked)  # to keep what buffers held is a warning of vts.memory_domains
    _work_again(history, asked.living, chance)


def _work_again(history: History, living: Living, chance: random.Random) -> None:
    """Mostly execute the model once more after an execution of it that has failed, with any example."""
    living.last = None
    if chance.random() < 0.7:
        running.run_model(history, living, chance)


def _shapes(asked: Ask) -> list[list[tuple[int, ...]]]:
    """The shapes that each output may be told to have: with no rank where the model knows none."""
    example = asked.living.known.examples[asked.example]
    pairs = zip(example.outputs, asked.living.outputs, strict=True)
    return [[*with_unknown_sizes(one.dimensions), *([] if operand.dimensions else [()])] for one, operand in pairs]


def _executed(history: History, asked: Ask, request: Request, chance: random.Random, *, measured: bool) -> Execution:
    """Execute another request with the same pools, in an open burst where the model has one, or in any other way."""
    burst = bursts.burst_of(history, asked.living)
    if burst is not None and chance.random() < 0.6:
        return bursts.execute(history, burst, asked, request, ExecutionOptions(measured), chance)
    executor = chance.choice(bursts.ways(history, asked.living, finding_shapes=True))
    return execute(history.context, asked.living.prepared_model, request, measure=measured, executor=executor)
