"""AIDL's bursts: memory identifier tokens, what is kept under them, times, and device memory."""

from __future__ import annotations

import itertools
import time
from functools import partial

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.burst import call, configure_burst
from npu_conformance.harness.run.executing.execution import ExecutionOptions, timing_rules
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import (
    DEFAULT_LOOP_TIMEOUT_DURATION_NS,
    MAXIMUM_LOOP_TIMEOUT_DURATION_NS,
    ErrorStatus,
)
from npu_conformance.specs.neuralnetworks.hal import DeviceBuffer
from npu_conformance.specs.neuralnetworks.types import (
    NO_IDENTITY,
    NO_LOOP_TIMEOUT,
    BufferDesc,
    BufferRole,
    DataLocation,
    Request,
    RequestMemoryPool,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import plus
from npu_conformance.vts.lib.burst import PAIRS, BurstFixture, burst_fixture
from npu_conformance.vts.lib.deadlines import LATE, MILLISECOND
from npu_conformance.vts.lib.loops import Loop, expect_aborted, expect_sooner_than_default
from npu_conformance.vts.lib.memory_domains.declining import judge_declined
from npu_conformance.vts.lib.preparing import prepared_or_unsupported
from npu_conformance.vts.lib.structure_models import LOOP

cases = CaseGroup("vts.burst", group=Group.EXECUTION)

_INVALID = {ErrorStatus.INVALID_ARGUMENT}
_LARGE = 2**63 - 1
_LONGER = DEFAULT_LOOP_TIMEOUT_DURATION_NS + 500 * MILLISECOND


def _forms(context: CaseContext) -> dict[str, bool]:
    """Whether a call has a config, by the name of the configuration: both since feature level 8, none before."""
    return {"plain": False, "with_config": True} if context.version >= Version.FL8 else {"plain": False}


def _in_three_pools(fixture: BurstFixture) -> Request:
    """Each argument in a pool of its own, all of the same memory."""
    request = fixture.request()
    places = (*request.inputs, *request.outputs)
    apart = tuple(replace(one, location=replace(one.location, pool_index=at)) for at, one in enumerate(places))
    return replace(request, inputs=apart[:2], outputs=apart[2:], pools=request.pools * 3)


@cases.case("tokens.below_minus_one", "NNHAL-BURST-014", since=Version.FL5)
def below_minus_one(context: CaseContext) -> None:
    """A token below -1 is rejected, at whatever place of the list."""
    fixture = burst_fixture(context)
    burst, request = configure_burst(fixture.prepared_model), _in_three_pools(fixture)
    for name, with_config in _forms(context).items():
        with context.configuration(name):
            for place in range(3):
                for wrong in (-2, -(2**63)):
                    tokens = tuple(wrong if at == place else at for at in range(3))
                    execution = call(burst, request, tokens, with_config=with_config)
                    checks.status(execution.status, _INVALID, f"execution with tokens {list(tokens)}")
            fixture.fill(*PAIRS[:2])
            fixture.succeeded(
                call(burst, request, (0, 1, 2), with_config=with_config), plus(*PAIRS[:2]), "with good tokens"
            )


@cases.case("tokens.wrong_number", "NNHAL-BURST-013", since=Version.FL5)
def wrong_number(context: CaseContext) -> None:
    """There is one token for each pool: lists that are shorter or longer are rejected."""
    fixture = burst_fixture(context)
    burst, request = configure_burst(fixture.prepared_model), _in_three_pools(fixture)
    for name, with_config in _forms(context).items():
        with context.configuration(name):
            for tokens in ((0, 1), (0, 1, 2, 3), (), (NO_IDENTITY,) * 2, (NO_IDENTITY,) * 4):
                execution = call(burst, request, tokens, with_config=with_config)
                checks.status(execution.status, _INVALID, f"execution of three pools with tokens {list(tokens)}")
            fixture.fill(*PAIRS[:2])
            fixture.succeeded(
                call(burst, request, (0, 1, 2), with_config=with_config), plus(*PAIRS[:2]), "with good tokens"
            )


@cases.case("tokens.any", "NNHAL-BURST-014", "NNHAL-BURST-017", since=Version.FL5)
def any_tokens(context: CaseContext) -> None:
    """Token -1 is no identity, also of several pools; 0, large numbers and one token twice for one memory are."""
    fixture = burst_fixture(context)
    burst, request = configure_burst(fixture.prepared_model), _in_three_pools(fixture)
    lists = ((-1, -1, -1), (0, -1, 1), (_LARGE, _LARGE - 1, 2**31), (5, 5, 5), (-1, 5, -1))
    for turn, tokens in enumerate(lists):
        with context.configuration(f"list_{turn}"):
            for first in PAIRS[:2]:
                fixture.fill(first, PAIRS[2])
                execution = call(burst, request, tokens, ExecutionOptions(measure=turn % 2 == 0))
                fixture.succeeded(execution, plus(first, PAIRS[2]), f"execution with tokens {list(tokens)}")
                timing_rules(context, execution, measured=turn % 2 == 0)


@cases.case("tokens.new_contents", "NNHAL-BURST-017", since=Version.FL5)
def new_contents(context: CaseContext) -> None:
    """A driver keeps where the memory of a token is, not what is in it."""
    fixture = burst_fixture(context)
    burst = configure_burst(fixture.prepared_model)
    for name, with_config in _forms(context).items():
        with context.configuration(name):
            for turn in range(4):
                fixture.fill(PAIRS[turn], PAIRS[0])
                execution = call(burst, fixture.request(), (3,), with_config=with_config)
                fixture.succeeded(execution, plus(PAIRS[turn], PAIRS[0]), f"contents {turn} of one token")


@cases.case("tokens.none_is_not_kept", "NNHAL-BURST-014", "NNHAL-BURST-017", since=Version.FL5)
def none_is_not_kept(context: CaseContext) -> None:
    """Nothing is kept under -1: two memories under it are two memories."""
    fixture = burst_fixture(context)
    burst = configure_burst(fixture.prepared_model)
    for turn in range(4):
        pool = fixture.another_pool()
        fixture.fill(PAIRS[turn], PAIRS[1], pool)
        execution = call(burst, fixture.request(pool), (NO_IDENTITY,))
        fixture.succeeded(execution, plus(PAIRS[turn], PAIRS[1]), f"memory {turn} without identity", pool)


@cases.case("tokens.alike", "NNHAL-BURST-017", since=Version.FL5)
def tokens_alike(context: CaseContext) -> None:
    """Tokens that differ in one of their 63 bits alone name two memories, the first of which is known again."""
    fixture = burst_fixture(context)
    burst, pools = configure_burst(fixture.prepared_model), (fixture.pool, fixture.another_pool())
    for bit in (*range(0, 62, 8), 31, 32, 62):
        for turn, token in enumerate((5, 5 ^ 1 << bit, 5)):
            pool = pools[turn % 2]
            fixture.fill(PAIRS[turn], PAIRS[1], pool)
            execution = call(burst, fixture.request(pool), (token,))
            fixture.succeeded(execution, plus(PAIRS[turn], PAIRS[1]), f"memory of token {token}", pool)
        for token in (5, 5 ^ 1 << bit):
            checks.works(partial(burst.release_memory_resource, token), "releaseMemoryResource of a used token")


@cases.case("release.then_another", "NNHAL-BURST-015", "NNHAL-BURST-017", since=Version.FL5)
def release_then_another(context: CaseContext) -> None:
    """A token that was released may name another memory."""
    fixture = burst_fixture(context)
    burst = configure_burst(fixture.prepared_model)
    for token, turn in itertools.product((0, 9, _LARGE), range(4)):
        pool = fixture.another_pool() if turn % 2 else fixture.pool
        fixture.fill(PAIRS[turn], PAIRS[1], pool)
        execution = call(burst, fixture.request(pool), (token,))
        fixture.succeeded(execution, plus(PAIRS[turn], PAIRS[1]), f"memory {turn} of token {token}", pool)
        checks.works(partial(burst.release_memory_resource, token), "releaseMemoryResource of a used token")


@cases.case("release.harmless", "NNHAL-BURST-015", since=Version.FL5)
def release_harmless(context: CaseContext) -> None:
    """Releasing a token that was never used or was released already does nothing."""
    fixture = burst_fixture(context)
    burst = configure_burst(fixture.prepared_model)
    for tokens in ((0, 77, _LARGE), (2, 2)):
        fixture.fill(*PAIRS[:2])
        fixture.succeeded(call(burst, fixture.request(), (2,)), plus(*PAIRS[:2]), "execution before a release")
        for token in tokens:
            checks.works(partial(burst.release_memory_resource, token), f"release of token {token}")
    fixture.fill(*PAIRS[1:3])
    fixture.succeeded(call(burst, fixture.request(), (2,)), plus(*PAIRS[1:3]), "execution after the last release")


@cases.case("release.below_minus_one", "NNHAL-BURST-015", since=Version.FL5)
def release_below_minus_one(context: CaseContext) -> None:
    """releaseMemoryResource of a token below -1 is rejected."""
    burst = configure_burst(burst_fixture(context).prepared_model)
    for token in (-2, -(2**63)):
        call_it = partial(burst.release_memory_resource, token)
        checks.raises_status(call_it, _INVALID, f"releaseMemoryResource of {token}")


@cases.case("times.deadline", "NNHAL-BURST-018", since=Version.FL5)
def deadline(context: CaseContext) -> None:
    """Without a deadline or with a far one the result comes; with one that has passed, it or MISSED_DEADLINE."""
    fixture = burst_fixture(context)
    burst = configure_burst(fixture.prepared_model)
    far = time.clock_gettime_ns(time.CLOCK_BOOTTIME) + 3600 * 10**9
    for name, with_config in _forms(context).items():
        with context.configuration(name):
            for limit in (-1, far, _LARGE):
                fixture.fill(*PAIRS[:2])
                execution = call(
                    burst, fixture.request(), (0,), ExecutionOptions(deadline=limit), with_config=with_config
                )
                fixture.succeeded(execution, plus(*PAIRS[:2]), f"execution with deadline {limit}")
            fixture.fill(*PAIRS[1:3])
            execution = call(burst, fixture.request(), (0,), ExecutionOptions(deadline=0), with_config=with_config)
            checks.status(execution.status, LATE, "execution after its deadline")
            if execution.status == ErrorStatus.NONE:
                fixture.succeeded(execution, plus(*PAIRS[1:3]), "execution that is late")


@cases.case("times.below_none", "NNHAL-BURST-018", since=Version.FL5)
def below_none(context: CaseContext) -> None:
    """A deadline or loop timeout below -1 is rejected, and a loop timeout above 15 seconds."""
    fixture = burst_fixture(context)
    burst = configure_burst(fixture.prepared_model)
    for name, with_config in _forms(context).items():
        with context.configuration(name):
            for limit in (-2, -(2**63)):
                execution = call(
                    burst, fixture.request(), (0,), ExecutionOptions(deadline=limit), with_config=with_config
                )
                checks.status(execution.status, _INVALID, f"execution with deadline {limit}")
            for timeout in (-2, MAXIMUM_LOOP_TIMEOUT_DURATION_NS + 1):
                execution = call(
                    burst, fixture.request(), (0,), ExecutionOptions(loop_timeout=timeout), with_config=with_config
                )
                checks.status(execution.status, _INVALID, f"execution with a loop timeout of {timeout} ns")


@cases.case("times.loop_timeout", "NNHAL-BURST-018", "NNHAL-CONTROLFLOW-015", since=Version.FL5)
def loop_timeout(context: CaseContext) -> None:
    """A loop that never ends is aborted after its millisecond, whatever timeout the burst had before; it goes on."""
    prepared_model = prepared_or_unsupported(context, LOOP)
    burst = configure_burst(prepared_model)
    for name, with_config in _forms(context).items():
        with context.configuration(name):
            ends, goes_on = Loop(context, 1), Loop(context, 1, step=0.0)
            for timeout in (_LONGER, NO_LOOP_TIMEOUT):
                options = ExecutionOptions(loop_timeout=timeout)
                execution = call(burst, ends.request, (0,), options, with_config=with_config)
                checks.status(execution.status, {ErrorStatus.NONE}, "execution of a loop of one round")
                ends.check()
                started, options = time.monotonic(), ExecutionOptions(loop_timeout=MILLISECOND)
                expect_aborted(call(burst, goes_on.request, (1,), options, with_config=with_config))
                expect_sooner_than_default(context, time.monotonic() - started)
            burst.release_memory_resource(0)
            burst.release_memory_resource(1)


@cases.case("device_memory.unknown_token", "NNHAL-BURST-018", since=Version.FL5)
def unknown_device_memory(context: CaseContext) -> None:
    """A pool that names device memory which nobody has allocated is rejected."""
    fixture = burst_fixture(context)
    burst = configure_burst(fixture.prepared_model)
    for token in (0, 100):
        request = replace(
            _in_three_pools(fixture), pools=(RequestMemoryPool(token=token), *fixture.request().pools * 2)
        )
        execution = call(burst, request, (NO_IDENTITY, 1, 2))
        checks.status(execution.status, _INVALID, f"execution with device memory {token}")


@cases.case("device_memory.input", "NNHAL-BURST-018", since=Version.FL5)
def device_memory_input(context: CaseContext) -> None:
    """Device memory can be an input of executions in a burst, beside shared memory with and without identity."""
    fixture = burst_fixture(context)
    burst, buffer = configure_burst(fixture.prepared_model), _allocated(context, fixture)
    request = _in_three_pools(fixture)
    place = replace(request.inputs[0], location=DataLocation(0), dimensions=())
    request = replace(
        request,
        inputs=(place, request.inputs[1]),
        pools=(RequestMemoryPool(token=buffer.token), *request.pools[1:]),
    )
    for turn, tokens in enumerate(((-1, 1, 2), (-1, 1, 2), (-1, -1, -1))):
        content = context.pool(addition.SIZE)
        content.write(0, fixture.chosen.packed(PAIRS[turn]))
        buffer.buffer.copy_from(content.memory, ())
        fixture.fill(PAIRS[3], PAIRS[1])
        execution = call(burst, request, tokens)
        fixture.succeeded(
            execution, plus(PAIRS[turn], PAIRS[1]), f"content {turn} of device memory, tokens {list(tokens)}"
        )


def _allocated(context: CaseContext, fixture: BurstFixture) -> DeviceBuffer:
    """Device memory for the first input. NotApplicable where the driver declines, which it may."""
    role = BufferRole(0, 0, 1.0)
    try:
        return context.device.allocate(BufferDesc((fixture.chosen.elements,)), (fixture.prepared_model,), (role,), ())
    except ServiceError as error:
        judge_declined(context, error)
        raise NotApplicable("the driver declines to allocate device memory") from None
