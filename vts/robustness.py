"""What one client does does not disturb another: deaths, many models, foreign objects; and nothing is left behind."""

from __future__ import annotations

import time
from collections.abc import Callable

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported, Refused
from npu_conformance.harness.run.caching import Cache, CacheClient
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import execute
from npu_conformance.harness.run.preparation import PreparationArguments, PreparationRecorder, model_of, prepare
from npu_conformance.harness.subject.handle import Application
from npu_conformance.harness.subject.holdings import COUNTS, Holdings, holdings_of, private_kib
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.harness.subject.remote_application import RemoteApplication
from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.neuralnetworks.enums import DECLINED, ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import DataLocation, ExecutionResult, Model
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import Addition, Pair
from npu_conformance.vts.lib.chain import Chain
from npu_conformance.vts.lib.load import is_too_much
from npu_conformance.vts.lib.memory_domains.fixture import BufferFixture
from npu_conformance.vts.lib.preparing import prepared_or_unsupported

cases = CaseGroup("vts.robustness", group=Group.EXECUTION)

_FIRST_UID = 10_120
_MANY = 64
_ROUNDS = 12
_LARGE = 1 << 21
"""Bytes of a constant."""
_NUMBERS = range(1, 60)
"""Numbers that a driver may have given to objects of others."""

_EXECUTIONS, _SOME = 1200, 200
"""Executions of one model, of which the first are not compared: pools and arenas come to their size."""
_GLANCE_SECONDS = 0.02
"""How long to wait before the driver's process is looked at again."""
_MOST_KIB = 8192
"""Private memory that an allocator may take in 1000 executions of one addition, and that a leak in each goes beyond."""


@cases.case("models.many", "NNHAL-PREPARE-013")
def many_models(context: CaseContext) -> None:
    """Sixty-four prepared models work at once, each with its own constant; a driver may say that it has no room."""
    chosen, pool = addition.supported(context), context.pool(addition.POOL)
    prepared: list[tuple[Pair, PreparedModel]] = []
    for number in range(_MANY):
        values = (0.25 * number, -0.25 * number)
        model = _with_constant(context, chosen, values)
        preparation = context.prepare(model)
        if preparation.prepared_model is None:
            if not prepared and all(context.supported_operations(model)):
                model_of(preparation)
            if not prepared or not is_too_much(context, preparation.status):
                checks.status(preparation.status, DECLINED, f"preparation {number} of many")
            break
        prepared.append((values, preparation.prepared_model))
    if not prepared:
        raise NotSupported("ADD with a constant in a pool is not supported")
    for values, prepared_model in reversed(prepared):
        chosen.adds(context, prepared_model, pool, values, inputs=1)


@cases.case("models.released", "NNHAL-PREPARE-013")
def released_models(context: CaseContext) -> None:
    """Sixty-four models are prepared and released one after the other: what was kept computes as before."""
    chosen, pool = addition.supported(context), context.pool(addition.POOL)
    kept = chosen.prepared(context)
    for _ in range(_MANY):
        chosen.prepared(context)
    chosen.adds(context, kept, pool)


@cases.case("models.of_300_operations", "NNHAL-EXECUTE-001", "NNHAL-PREPARE-004")
def of_300_operations(context: CaseContext) -> None:
    """A model of more operations than a byte counts is executed to its end."""
    chain, start = Chain(addition.supported(context), 300), (-20.0, -12.0)
    prepared_model, contents = prepared_or_unsupported(context, chain.model()), chain.contents(start)
    pool = context.pool(len(contents))
    pool.write(0, contents)
    execution = execute(context, prepared_model, chain.request(pool), measure=False)
    checks.status(execution.status, {ErrorStatus.NONE}, "execution of 300 additions")
    chain.check(bytes(pool.read(3 * chain.size, chain.size)), start)


@cases.case("requests.of_80_inputs", "NNHAL-EXECUTE-001", "NNHAL-EXECUTE-002")
def of_80_inputs(context: CaseContext) -> None:
    """A request of 80 inputs and 40 outputs, each in a pool of its own: every output is the sum of its own inputs."""
    fixture = BufferFixture(context, addition.supported(context))
    values = [((number - 40) / 4, number % 7 / 4) for number in range(80)]
    inputs = [fixture.pool(fixture.chosen.packed(pair)) for pair in values]
    outputs = [fixture.pool() for _ in range(40)]
    fixture.succeeds(fixture.prepare(len(outputs)), inputs, outputs, "execution with 80 inputs")
    for number, output in enumerate(outputs):
        one, other = values[2 * number : 2 * number + 2]
        total = (one[0] + other[0], one[1] + other[1])
        fixture.chosen.check(bytes(output.read(0, addition.SIZE)), total, f"output {number} of 40")


@cases.case("clients.one_dies", "NNHAL-QOS-011")
def one_dies(context: CaseContext) -> None:
    """The death of an app with a prepared model leaves another app's model computing."""
    chosen, pool = addition.supported(context), context.pool(addition.POOL)
    ours = chosen.prepared(context)
    for uid in range(_FIRST_UID, _FIRST_UID + 3):
        application = context.application(uid)
        theirs = _prepared_as(context, application, chosen.model())
        chosen.adds(context, theirs, application.memory.create("ashmem", addition.POOL))
        application.close()
        chosen.adds(context, ours, pool)


@cases.case("clients.at_once", "NNHAL-QOS-011", "NNHAL-PREPARE-013")
def several_clients(context: CaseContext) -> None:
    """Three apps with a model each execute in turn, in memory of their own: each gets its own sum."""
    chosen, clients = addition.supported(context), []
    for number in range(3):
        application = context.application(_FIRST_UID + number)
        pool = application.memory.create("ashmem", addition.POOL)
        clients.append((_prepared_as(context, application, chosen.model()), pool, (0.25 * number, 1.0)))
    for _ in range(2):
        for prepared_model, pool, values in clients:
            chosen.adds(context, prepared_model, pool, values)


@cases.case("clients.foreign_objects", "NNHAL-QOS-013", "NNHAL-ROBUST-001", since=Version.V1_2)
def foreign_objects(context: CaseContext) -> None:
    """An app that tries numbers of objects that it was not given executes no model of another app."""
    chosen, owner = addition.supported(context), context.application(_FIRST_UID)
    model = _prepared_as(context, owner, chosen.model())
    thief = context.application(_FIRST_UID + 1)
    pool = thief.memory.create("ashmem", addition.POOL)
    pool.write(0, chosen.packed(addition.A) * (addition.POOL // addition.SIZE))
    before, none = pool.read(0, addition.POOL), context.version.unavailable_time
    fields = {"request": addition.request(pool.memory), "measureTiming": False}
    params = {**fields, "deadlineNs": none, "loopTimeoutDurationNs": none}
    for number in _NUMBERS:
        is_executed = _executes(thief, {"object": number, **params})
        checks.that(not is_executed, f"object {number} of another app: expected an error, found an execution")
    checks.equal(pool.read(0, addition.POOL), before, "memory of the app that was given no model")
    chosen.adds(context, model, owner.memory.create("ashmem", addition.POOL))


@cases.case("leaks.clients", "NNHAL-ROBUST-005")
def leaks(context: CaseContext) -> None:
    """Apps that come, prepare, execute and die leave nothing: descriptors, shared memory and threads do not add up."""
    chosen = addition.supported(context)
    # The files are the client's, whose process may be the driver's: there are no more of them from round to round.
    cache = CacheClient(context).cache() if context.version >= Version.V1_2 else None
    for _ in range(2):
        _passing_client(context, chosen, cache)
    before = _holdings(context)
    for _ in range(_ROUNDS):
        _passing_client(context, chosen, cache)
    # The driver may still be clearing up after the last ones.
    _come_back(context, lambda: not _grown(before, _holdings(context)))
    for name, growth in _grown(before, _holdings(context)).items():
        context.warn_quality(f"{_ROUNDS} clients that died have left {growth} {name.replace('_', ' ')} behind")


@cases.case("leaks.released", "NNHAL-ROBUST-005", "NNHAL-PREPARE-017")
def released(context: CaseContext) -> None:
    """What a living app lets go of leaves nothing behind: a model of 2 MiB no memory, a burst no thread."""
    chosen = addition.supported(context)
    small, large = chosen.prepared(context), _with_large_constant(context, chosen)
    pool = context.pool(addition.POOL)
    chosen.put(pool)
    for _ in range(2):
        _let_go(context, small, large, pool)
    before = _holdings(context).threads, private_kib(context.subject.process())
    for _ in range(_ROUNDS):
        _let_go(context, small, large, pool)

    def growth() -> tuple[int, int]:
        return _holdings(context).threads - before[0], private_kib(context.subject.process()) - before[1]

    def is_back() -> bool:
        threads, memory = growth()
        return 2 * threads < _ROUNDS and 2 * memory < _ROUNDS * _LARGE // 1024

    if not _come_back(context, is_back):
        threads, memory = growth()
        left = f"{threads} threads and {memory} KiB"
        context.warn_quality(f"{_ROUNDS} models and as many bursts that were let go of have left {left} behind")


@cases.case("leaks.executions", "NNHAL-ROBUST-005", "NNHAL-EXECUTE-001")
def executions(context: CaseContext) -> None:
    """The 1200th execution of a model is as right as the first, and the executions before it have left no memory."""
    chosen, pool = addition.supported(context), context.pool(addition.POOL)
    prepared_model = chosen.prepared(context)
    for number in range(_SOME):
        chosen.adds(context, prepared_model, pool, (0.25 * (number % 16), 1.0))
    before = private_kib(context.subject.process())
    with checks.about("NNHAL-EXECUTE-001"):
        for number in range(_EXECUTIONS - _SOME):
            chosen.adds(context, prepared_model, pool, (1.0, 0.25 * (number % 16)))
    growth = private_kib(context.subject.process()) - before
    if growth >= _MOST_KIB:
        context.warn_quality(f"{_EXECUTIONS - _SOME} executions of an addition have left {growth} KiB behind")


@cases.case("leaks.buffers", "NNHAL-ROBUST-005", "NNHAL-MEMDOMAIN-003", since=Version.V1_3)
def buffers(context: CaseContext) -> None:
    """Buffers of the driver that were let go of leave no descriptor, shared memory or thread behind."""
    fixture = BufferFixture(context, addition.supported(context))
    prepared_model, pool = fixture.prepare(), fixture.pool(fixture.chosen.packed(addition.A))

    def use_one() -> None:
        made = fixture.allocate(prepared_model, inputs=(0,))
        made.buffer.copy_from(pool.memory, ())
        made.buffer.copy_to(pool.memory)

    for _ in range(2):
        use_one()
    before = _holdings(context)
    for _ in range(_ROUNDS):
        use_one()
    _come_back(context, lambda: not _grown(before, _holdings(context)))
    for name, growth in _grown(before, _holdings(context)).items():
        context.warn_quality(
            f"{_ROUNDS} buffers that were let go of have left {growth} {name.replace('_', ' ')} behind"
        )


def _let_go(context: CaseContext, small: PreparedModel, large: Model, pool: Pool) -> None:
    """Prepare the large model, open a burst on the small one and execute in it, and keep neither."""
    prepared_or_unsupported(context, large)
    if context.version >= Version.V1_2:
        execute(context, small, addition.request(pool.memory), measure=False, executor="burst")


def _with_large_constant(context: CaseContext, chosen: Addition) -> Model:
    """One element and a constant of 2 MiB."""
    repeated = chosen.packed(addition.B) * (_LARGE // addition.SIZE)
    model = chosen.model_with_constant(context.filled_pool(repeated), location=DataLocation(length=_LARGE))
    first, second, activation, total = model.main.operands
    sizes = (_LARGE * chosen.elements // addition.SIZE,)
    operands = (
        replace(first, dimensions=(1,)),
        replace(second, dimensions=sizes),
        activation,
        replace(total, dimensions=sizes),
    )
    return replace(model, main=replace(model.main, operands=operands))


def _passing_client(context: CaseContext, chosen: Addition, cache: Cache | None) -> None:
    """An app that prepares, executes, and caches its model, and dies without giving anything back."""
    application = context.application(_FIRST_UID)
    pool = application.memory.create("ashmem", addition.POOL)
    chosen.adds(context, _prepared_as(context, application, chosen.model()), pool)
    if cache is not None:
        caching = CacheClient(context, application)
        caching.save(chosen.model(), cache.handles())
        caching.restore(cache.handles())
    application.close()
    pool.close()  # what of it is the client's


def _come_back(context: CaseContext, is_back: Callable[[], bool]) -> bool:
    """Give the driver the time of a call to clear up, and look now and then; true once that is done."""
    end = time.monotonic() + context.manifest.deadlines.call * context.manifest.time_scale
    while not is_back():
        if time.monotonic() > end:
            return False
        context.subject.wait_until(lambda: False, _GLANCE_SECONDS)
    return True


def _holdings(context: CaseContext) -> Holdings:
    found = holdings_of(context.subject.process())
    if found is None:
        raise NotApplicable("what the driver's process holds cannot be seen")
    return found


def _grown(before: Holdings, after: Holdings) -> dict[str, int]:
    growth = {name: getattr(after, name) - getattr(before, name) for name in COUNTS}
    return {name: change for name, change in growth.items() if 2 * change >= _ROUNDS}


def _with_constant(context: CaseContext, chosen: Addition, values: Pair) -> Model:
    constant = context.pool(addition.SIZE)
    constant.write(0, chosen.packed(values))
    return chosen.model_with_constant(constant.memory)


def _prepared_as(context: CaseContext, application: Application, model: Model) -> PreparedModel:
    """Prepare a model that the device supports as another app."""
    device = context.device_of(application)
    what = "prepareModel of a supported model, called by another app"
    preparation = prepare(context.subject, device, model, PreparationArguments(), PreparationRecorder())
    return model_of(preparation, what)


def _executes(application: Application, params: dict[str, object]) -> bool:
    """True where a call with these params is answered as an execution that was done."""
    if not isinstance(application, RemoteApplication):
        raise NotApplicable("the subject's connections carry no messages")
    try:
        application.connection.call("preparedModel.executeSynchronously", params, ExecutionResult)
    except (InterfaceError, Refused):
        return False
    return True
