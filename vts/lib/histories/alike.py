"""What histories of additions and of operations do alike: ways to execute, wrong requests, what is judged."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Protocol

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import CaseEnded, NotApplicable
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing import launching
from npu_conformance.harness.run.executing.burst import Burst
from npu_conformance.harness.run.executing.execution import (
    Execution,
    ExecutionOptions,
    ExecutionRecorder,
    config_of,
    shape_rules,
    timing_rules,
)
from npu_conformance.harness.run.executing.executors import executors
from npu_conformance.harness.run.executing.launching import Launched
from npu_conformance.harness.run.executing.reusable import reusable_execution
from npu_conformance.specs.errors import InterfaceError, ServiceError
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import DeviceBuffer
from npu_conformance.specs.neuralnetworks.types import Request
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.histories.things import Root, signal_open
from npu_conformance.vts.lib.load import is_too_much

Shape = tuple[int, ...]


def reusable_if_room(
    context: CaseContext, model: hal.PreparedModel, request: Request, options: ExecutionOptions
) -> hal.Execution | None:
    """A reusable execution of a request; None where the device has no room for one more beside others."""
    try:
        return checks.works(
            lambda: reusable_execution(context, model, request, config_of(options)), "createReusableExecution"
        )
    except NotApplicable as full:
        if full.warning:
            context.warn_quality(full.warning)
        return None


class Opened(Protocol):
    """A burst that stays open. names: by which it knows pools, by their number."""

    @property
    def living(self) -> object:
        """The model."""
        ...

    burst: Burst
    names: dict[int, int]


class WithBursts(Protocol):
    """A history with bursts."""

    @property
    def bursts(self) -> Sequence[Opened]:
        """Those that are open."""
        ...

    def say(self, text: str) -> None:
        """Put a step in words."""
        ...


def launches(context: CaseContext, launch: Callable[[], object], *, beside: bool) -> bool:
    """Launch an asynchronous execution; False where a device takes none beside those that it has.

    beside: whether it has others.
    """
    try:
        launch()
    except ServiceError as error:
        checks.that(beside and is_too_much(context, error.status), f"execute: expected success, found {error}")
        return False
    return True


def release(history: WithBursts, chance: random.Random) -> None:
    """Let a burst forget a memory."""
    known = [(burst, pool) for burst in history.bursts for pool in burst.names]
    if not known:
        return
    burst, pool = chance.choice(known)
    name = burst.names.pop(pool)
    history.say(f"release {name} in the burst of {burst.living}")
    checks.works(lambda: burst.burst.release(name), "release of a memory")


class WithThings(Protocol):
    """A history in which models live, and what they have made."""

    version: Version
    models: list[Any]
    bursts: list[Any]
    bound: list[Any]
    buffers: list[Any]

    def say(self, text: str) -> None:
        """Put a step in words."""
        ...


def let_go_of_one(history: WithThings, may_go: Callable[[object], bool], chance: random.Random) -> None:
    """Let go of something. What a model has made lives on, but for HIDL's bursts, which AOSP's own lose with it."""
    kinds = [history.bursts, history.bound, history.buffers]
    if len(history.models) > 2:
        kinds += [history.models] * 2
    kind = chance.choice(kinds)
    mine = [one for one in kind if may_go(one)]
    if not mine:
        return
    one = chance.choice(mine)
    kind.remove(one)
    if kind is history.models:
        if not history.version.is_aidl:
            history.bursts[:] = [burst for burst in history.bursts if burst.living is not one]
        one.prepared_model = None
    has_name = kind is history.models or kind is history.buffers
    history.say(f"let go of {one if has_name else type(one).__name__}")


class Waiting(Protocol):
    """A fenced execution that waits."""

    launched: Launched


def let_all_end(context: CaseContext, roots: Iterable[Root], pending: Sequence[Waiting]) -> None:
    """Signal the client's fences, and wait for what has waited for them: nothing works beside the next history.

    It would be in the way of a device with room for one execution, and write into memory that others have by then.
    """
    signal_open(roots)
    for fence in [one.launched.fence for one in pending]:
        if fence is not None:
            with suppress(CaseEnded, InterfaceError):  # the history has been judged
                launching.wait(context, fence)


def ending_at_once(version: Version, *, is_waiting: bool, has_burst: bool, finding_shapes: bool = False) -> list[str]:
    """The executors that end at once: with no second burst of a model, nor after executions that wait."""
    without = [word for word, is_left_out in (("fenced", is_waiting), ("burst", has_burst)) if is_left_out]
    found = executors(version, finding_shapes=finding_shapes)
    return [one for one in found if not any(word in one for word in without)]


def only_answer(context: CaseContext, recorder: ExecutionRecorder) -> Execution:
    """What an asynchronous execution has ended as: its callback is notified once (NNHAL-EXECUTE-003)."""
    seconds = context.manifest.deadlines.execute * context.manifest.time_scale
    context.subject.wait_until(partial(bool, recorder.answers), seconds)
    with checks.about("NNHAL-EXECUTE-003"):
        checks.equal(len(recorder.answers), 1, "number of notifications of one execution")
    return recorder.answers[0]


def wrong_requests(request: Request) -> list[Request]:
    """The request with an argument too few, or with one in a pool that does not exist."""
    inputs, outputs = request.inputs, request.outputs
    nowhere = replace(outputs[0], location=replace(outputs[0].location, pool_index=len(request.pools)))
    return [
        replace(request, inputs=inputs[1:]),
        replace(request, outputs=outputs[1:]),
        replace(request, outputs=(nowhere, *outputs[1:])),
    ]


def judge_too_little_room(
    context: CaseContext, execution: Execution, at: int, shapes: Sequence[Collection[Shape]], *, measured: bool
) -> None:
    """An execution fails for want of room, and says for which output, and the shapes that it knows.

    at: the output that has too little. shapes: those that each output may be told to have.
    """
    with checks.about("NNHAL-SHAPE-004"):
        checks.that(execution.status != ErrorStatus.NONE, "an output has too little room, found NONE")
    timing_rules(context, execution, measured=measured)
    shape_rules(execution)
    if execution.status != ErrorStatus.OUTPUT_INSUFFICIENT_SIZE:
        return
    with checks.about("NNHAL-SHAPE-005"):
        found = [shape.is_sufficient for shape in execution.output_shapes]
        checks.equal(found, [place != at for place in range(len(shapes))], "which of the outputs have room enough")
    for shape, possible in zip(execution.output_shapes, shapes, strict=True):
        with checks.about("NNHAL-SHAPE-006"):
            checks.member(shape.dimensions, possible, "dimensions where an output has too little room")


def with_unknown_sizes(shape: Shape) -> list[Shape]:
    """A shape, and the same with 0 for any sizes that are not known."""
    return list(itertools.product(*((size, 0) for size in shape)))


@checks.about("NNHAL-MEMDOMAIN-004")
def judge_token(made: DeviceBuffer, tokens: Collection[int]) -> None:
    """See that a new buffer has a token of its own. tokens: of those that live."""
    checks.that(made.token > 0 and made.token not in tokens, f"allocate: token {made.token} beside {tokens}")
