"""Whose a buffer is, how long, and that many may use it at once."""

from __future__ import annotations

import functools
from collections.abc import Callable

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import ExecutionOptions, ExecutionRecorder
from npu_conformance.harness.run.executing.executors import bind
from npu_conformance.specs.errors import InterfaceError, ServiceError, Unsupported
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import NO_DEADLINE, NO_LOOP_TIMEOUT
from npu_conformance.specs.versions import HIDL_LAST, Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import SIZE, SUM, A, B
from npu_conformance.vts.lib.load import decline_if_exhausted, decline_if_some_are_exhausted
from npu_conformance.vts.lib.memory_domains.fixture import (
    GENERAL,
    INVALID,
    NONE,
    BufferFixture,
    Place,
    by_each_executor,
    in_each_type,
    request_of,
    status_of,
)

cases = CaseGroup("vts.memory_domains", group=Group.MEMORY)
_SINCE = Version.V1_3
_OWNER, _SPY = 10_101, 10_102
_AT_ONCE, _THREADS, _ROUNDS = 12, 4, 6
_TRIES = 10
"""How often to look for a refusal that comes by chance."""


def _fixtures(context: CaseContext, *callers: tuple[int, int]) -> list[BufferFixture]:
    """One fixture for each caller, as (uid, pid)."""
    chosen = addition.supported(context)
    return [BufferFixture(context, chosen, application=context.application(*caller)) for caller in callers]


@cases.case("tokens.of_applications", "NNHAL-MEMDOMAIN-004", since=_SINCE)
def tokens_of_applications(context: CaseContext) -> None:
    """Tokens of different applications are different as well: they are those of one service."""
    fixtures = _fixtures(context, (_OWNER, 1), (_SPY, 2))
    models = [fixture.prepare() for fixture in fixtures]
    living = [
        fixture.allocate(model, inputs=(0,)) for _ in range(3) for fixture, model in zip(fixtures, models, strict=True)
    ]
    tokens = [made.token for made in living]
    checks.equal(len(set(tokens)), len(tokens), f"number of different tokens among {tokens}")


def _spied_on(owner: BufferFixture, spy: BufferFixture) -> None:
    model, own_model = owner.prepare(), spy.prepare()
    secret = owner.allocate(model, inputs=(0, 1), outputs=(0,))
    owner.fill(secret, A)
    # Own buffers of the same roles: a driver must not take one application's roles for another's.
    own = spy.allocate(own_model, inputs=(0, 1), outputs=(0,))
    spy.fill(own, B)
    result = spy.pool(b"\xa5" * SIZE)
    for _ in range(2):  # before the owner has executed, and right behind that
        spy.fails(own_model, (secret.token, own), (result,), INVALID, "execution on another application's buffer")
        checks.equal(bytes(result.read(0, SIZE)), b"\xa5" * SIZE, "output of the rejected execution")
        spy.fails(own_model, (own, own), (secret.token,), INVALID, "execution into another application's buffer")
        owner.holds(secret, A, "the owner's content")
        owner.succeeds(model, (secret, secret), (owner.pool(),), "the owner's execution on its buffer")


@cases.case("tokens.of_another_process", "NNHAL-MEMDOMAIN-031", since=_SINCE)
def of_another_process(context: CaseContext) -> None:
    """A token is no key to a buffer of another application, or of another process of the same application."""
    chosen = addition.supported(context)
    for name, spy in (("other_uid", (_SPY, 2)), ("same_uid", (_OWNER, 2))):
        applications = (context.application(_OWNER, 1), context.application(*spy))
        with context.configuration(name):
            _spied_on(*(BufferFixture(context, chosen, application=one) for one in applications))
        for one in applications:
            one.close()  # with its models: a device may have room for two


@cases.case("execute.unused", "NNHAL-MEMDOMAIN-032", "NNHAL-REQUEST-004", since=_SINCE)
@by_each_executor
def unused(fixture: BufferFixture) -> None:
    """A buffer among the pools of a request that no argument uses is none of its business: pools keep their numbers."""
    model, result = fixture.prepare(), fixture.pool()
    one, other = (fixture.pool(fixture.chosen.packed(values)) for values in (A, B))
    made, beside = (fixture.allocate(model, inputs=(0,), outputs=(0,)) for _ in range(2))
    fixture.fill(made, B)
    for unused_ones, (first, second), expected in (
        ((made,), (one, other), SUM),
        ((beside, made), (one, other), SUM),
        ((beside,), (made, other), (2 * B[0], 2 * B[1])),
    ):
        request = request_of((first, second), (result,), unused=unused_ones)
        result.write(0, b"\xa5" * SIZE)
        run = bind(fixture.context, model, request, ExecutionOptions(), fixture.executor)
        checks.status(run().status, {NONE}, "execution whose request has a buffer that no argument uses")
        fixture.chosen.check(bytes(result.read(0, SIZE)), expected, "sum beside a buffer that no argument uses")


@cases.case("tokens.of_bursts", "NNHAL-MEMDOMAIN-023", "NNHAL-BURST-015", since=Version.FL5)
def tokens_of_bursts(context: CaseContext) -> None:
    """Tokens of a burst are the client's, and none of a buffer: one that is released leaves its namesake as it is."""
    fixture = BufferFixture(context, addition.supported(context))
    model, zero, result = fixture.prepare(), fixture.pool(fixture.chosen.packed((0.0, 0.0))), fixture.pool()
    made = fixture.allocate(model, inputs=(0,))
    fixture.fill(made, A)
    with checks.about("NNHAL-BURST-001"):
        burst = checks.works(model.configure_execution_burst, "configureExecutionBurst")
    for _ in range(2):
        what = "releaseMemoryResource of a token that the client has given to nothing"
        with checks.about("NNHAL-BURST-015"):
            checks.works(lambda: burst.release_memory_resource(made.token), what)
        with checks.about("NNHAL-BURST-015"):
            fixture.holds(made, A, "buffer whose token a burst was told to release")
            what = "execution on a buffer whose token a burst was told to release"
            fixture.succeeds(model, (made, zero), (result,), what)
        fixture.chosen.check(bytes(result.read(0, SIZE)), A, "sum of the buffer and 0")


@cases.case("tokens.of_24_living", "NNHAL-MEMDOMAIN-004", "NNHAL-MEMDOMAIN-023", since=_SINCE)
@in_each_type
def of_24_living(fixture: BufferFixture) -> None:
    """Each of 24 living buffers is found by its token when it is an input."""
    model, zero, result = fixture.prepare(), fixture.pool(fixture.chosen.packed((0.0, 0.0))), fixture.pool()
    values = [(number / 4, -number / 4) for number in range(24)]
    living = [fixture.allocate(model, inputs=(0,)) for _ in values]
    for made, pair in zip(living, values, strict=True):
        fixture.fill(made, pair)
    for number, (made, pair) in enumerate(zip(living, values, strict=True)):
        fixture.succeeds(model, (made, zero), (result,), f"execution on buffer {number} of 24")
        fixture.chosen.check(bytes(result.read(0, SIZE)), pair, f"content of buffer {number} of 24")


@cases.case("tokens.of_the_dead", "NNHAL-MEMDOMAIN-031", "NNHAL-MEMDOMAIN-014", since=_SINCE)
def of_the_dead(context: CaseContext) -> None:
    """An application's death takes its buffers along: its token is no key for later ones, and nothing is left."""
    application = context.application(_OWNER, 1)
    owner = BufferFixture(context, addition.supported(context), application=application)
    model = owner.prepare()
    secret = owner.allocate(model, inputs=(0,))
    owner.fill(secret, A)
    application.close()
    (last,) = _fixtures(context, (_OWNER, 2))
    model = last.prepare()
    last.fails(model, (secret.token, last.pool()), (last.pool(),), INVALID, "execution on a dead application's buffer")
    made = last.allocate(model, inputs=(0,))
    with checks.about("NNHAL-MEMDOMAIN-014"):
        checks.status(last.copy_to(made), {GENERAL}, "copyTo of a fresh buffer")


@cases.case("tokens.of_the_freed", "NNHAL-MEMDOMAIN-004", "NNHAL-MEMDOMAIN-023", "NNHAL-MEMDOMAIN-014", since=_SINCE)
@in_each_type
def of_the_freed(fixture: BufferFixture) -> None:
    """A freed buffer's token is unknown, or the next buffer's; that one is fresh, and has nothing of the old one.

    A driver that is not notified of releases may keep the buffer: that is a quality warning.
    """
    model, result = fixture.prepare(), fixture.pool()
    freed = fixture.allocate(model, inputs=(0,))
    fixture.fill(freed, A)
    token = freed.token
    del freed
    made = fixture.allocate(model, inputs=(0,))
    with checks.about("NNHAL-MEMDOMAIN-014"):
        checks.status(fixture.copy_to(made), {GENERAL}, "copyTo of a fresh buffer behind a freed one")
    fixture.fill(made, B)
    zero = fixture.pool(fixture.chosen.packed((0.0, 0.0)))
    if made.token == token:
        fixture.succeeds(model, (token, zero), (result,), "execution with a token that is used again")
        fixture.chosen.check(bytes(result.read(0, SIZE)), B, "content of the new buffer")
        return
    execution = fixture.run(model, (token, zero), (result,))
    checks.status(execution.status, {NONE, INVALID}, "execution with the token of a freed buffer")
    if execution.status == NONE:
        fixture.chosen.check(bytes(result.read(0, SIZE)), A, "content of the buffer that was freed and is still there")
        fixture.context.warn_quality("the token of a freed buffer can still be used: buffers are kept")


@cases.case("tokens.many", "NNHAL-MEMDOMAIN-004", "NNHAL-MEMDOMAIN-003", since=_SINCE)
@in_each_type
def many(fixture: BufferFixture) -> None:
    """Hundreds of buffers one after the other, some of them alive: each is fresh, and the living keep their content."""
    model = fixture.prepare()
    kept = fixture.allocate(model, inputs=(0,))
    fixture.fill(kept, A)
    for _ in range(200):
        made = fixture.allocate(model, inputs=(0,))
        checks.that(made.token != kept.token, f"token {kept.token} of a living buffer was given out again")
        with checks.about("NNHAL-MEMDOMAIN-014"):
            checks.status(fixture.copy_to(made), {GENERAL}, "copyTo of a fresh buffer")
        fixture.fill(made, B)
    fixture.holds(kept, A, "content of the first buffer")


@cases.case("at_once.launched", "NNHAL-MEMDOMAIN-030", since=_SINCE, until=HIDL_LAST)
def launched_at_once(context: CaseContext) -> None:
    """Asynchronous executions that read one buffer while others write another: every one is notified."""
    fixture = BufferFixture(context, addition.supported(context))
    model = fixture.prepare()
    source, target = fixture.allocate(model, inputs=(0, 1)), fixture.allocate(model, inputs=(0,), outputs=(0,))
    fixture.fill(source, A)
    other, recorders, status = fixture.pool(fixture.chosen.packed(B)), list[ExecutionRecorder](), int(NONE)
    results = [fixture.pool() for _ in range(_AT_ONCE)]
    asked = [
        request_of(inputs, (output,))
        for result in results
        for inputs, output in (((source, other), result), ((source, other), target), ((target, other), fixture.pool()))
    ]
    for request in asked:
        recorder = ExecutionRecorder()
        status = status_of(functools.partial(model.execute, request, False, NO_DEADLINE, NO_LOOP_TIMEOUT, recorder))
        if status != NONE:
            break
        recorders.append(recorder)
    seconds = context.manifest.deadlines.execute * context.manifest.time_scale
    ended = context.subject.wait_until(lambda: all(recorder.answers for recorder in recorders), seconds)
    checks.that(ended, f"executions launched at once: not all were notified within {seconds:g} s")
    if recorders:
        decline_if_exhausted(context, status)
    checks.status(status, {NONE}, "execute")
    for recorder in recorders:
        checks.equal(len(recorder.answers), 1, "number of notifications of one execution")
    readers = [recorder.answers[0] for recorder in recorders[::3]]  # others may meet a buffer without content
    decline_if_some_are_exhausted(context, [answer.status for answer in readers])
    for result, answer in zip(results, readers, strict=True):
        checks.status(answer.status, {NONE}, "execution that reads a buffer while others do")
        fixture.chosen.check(bytes(result.read(0, SIZE)), SUM, "sum of a buffer that others read")
    _still_works(fixture)


@cases.case("at_once.readers", "NNHAL-MEMDOMAIN-030", since=_SINCE)
def readers_at_once(context: CaseContext) -> None:
    """Threads that execute on one buffer and copy it out: each gets what is in it."""
    fixture = BufferFixture(context, addition.supported(context))
    model = fixture.prepare()
    source, other = fixture.allocate(model, inputs=(0, 1)), fixture.pool(fixture.chosen.packed(B))
    fixture.fill(source, A)
    results, copies = ([fixture.pool() for _ in range(_THREADS)] for _ in range(2))
    calls: list[Callable[[], object]] = []
    for result, copy in zip(results, copies, strict=True):
        calls.append(_adds(model, source, other, result))
        calls.append(functools.partial(source.buffer.copy_to, copy.memory))
    outcomes = context.run_concurrently(calls * _ROUNDS)
    if any(isinstance(outcome, ServiceError) for outcome in outcomes):
        _decline_if_there_is_no_room(fixture, model)
    for outcome in outcomes:
        if isinstance(outcome, Unsupported):
            raise outcome
        if isinstance(outcome, InterfaceError):
            checks.fail("a call that reads a buffer while others do", "success", checks.format_error(outcome))
    for result, copy in zip(results, copies, strict=True):
        fixture.chosen.check(bytes(result.read(0, SIZE)), SUM, "sum of a buffer that others read")
        fixture.chosen.check(bytes(copy.read(0, SIZE)), A, "copy of a buffer that others read")


def _decline_if_there_is_no_room(fixture: BufferFixture, model: PreparedModel) -> None:
    """NotSupported where executions at once are refused that use no buffer."""
    calls = [_adds(model, fixture.pool(), fixture.pool(), fixture.pool()) for _ in range(_THREADS)]
    for _ in range(_TRIES):
        for outcome in fixture.context.run_concurrently(calls * _ROUNDS):
            if isinstance(outcome, ServiceError):
                decline_if_exhausted(fixture.context, outcome.status)


@cases.case("at_once.writers", "NNHAL-MEMDOMAIN-030", since=_SINCE)
def writers_at_once(context: CaseContext) -> None:
    """Threads that write one buffer and others that read it: each call ends, however it does; the buffer works on."""
    fixture = BufferFixture(context, addition.supported(context))
    model = fixture.prepare()
    made, other = fixture.allocate(model, inputs=(0,), outputs=(0,)), fixture.pool(fixture.chosen.packed(B))
    fixture.fill(made, A)
    writing, reading, copy = fixture.pool(fixture.chosen.packed(A)), fixture.pool(), fixture.pool()
    calls: list[Callable[[], object]] = [
        lambda: made.buffer.copy_from(writing.memory, ()),
        _adds(model, other, other, made),
        _adds(model, made, other, reading),
        lambda: made.buffer.copy_to(copy.memory),
    ]
    context.run_concurrently(calls * _ROUNDS)
    checks.status(fixture.copy_to(made), {NONE, GENERAL}, "copyTo after all others")
    fixture.fill(made, B)
    fixture.holds(made, B, "content after all others")
    _still_works(fixture)


def _adds(model: PreparedModel, one: Place, other: Place, total: Place) -> Callable[[], object]:
    request = request_of((one, other), (total,))
    return lambda: model.execute_synchronously(request, False, NO_DEADLINE, NO_LOOP_TIMEOUT)


def _still_works(fixture: BufferFixture) -> None:
    model, result = fixture.prepare(), fixture.pool()
    made = fixture.allocate(model, inputs=(0, 1))
    fixture.fill(made, A)
    fixture.succeeds(model, (made, made), (result,), "execution after all others")
    fixture.chosen.check(bytes(result.read(0, SIZE)), (2 * A[0], 2 * A[1]), "sum after all others")
