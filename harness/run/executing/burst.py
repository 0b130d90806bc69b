"""A burst of any version, and one execution through it: with the same answer as other executors give."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.executing.burst_channel import Channel
from npu_conformance.harness.run.executing.execution import (
    Execution,
    ExecutionOptions,
    Surroundings,
    answer_of,
    config_of,
)
from npu_conformance.specs.errors import DeadObject, InterfaceError, NotVisible
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.neuralnetworks.types import NO_IDENTITY, Request


class Burst:
    """A burst of the version that is tested: queues in HIDL, calls in AIDL. names: slots, or identifier tokens."""

    def __init__(self, context: Surroundings, prepared_model: hal.PreparedModel) -> None:
        """NotSupported where the device opens no burst: `configure.succeeds` says that it must."""
        self._channel: Channel | None = None
        self._calls: hal.Burst | None = None
        if context.version.is_aidl:
            self._calls = configure_burst(prepared_model)
        else:
            self._channel = Channel(context, prepared_model)

    def execute(
        self,
        request: Request,
        names: Sequence[int] | None = None,
        options: ExecutionOptions | None = None,
        *,
        with_config: bool = False,
    ) -> Execution:
        """Execute. names: of the pools, 0, 1, ... where not given. HIDL's packets say `measure` alone."""
        asked = options or ExecutionOptions()
        if self._channel is not None:
            return self._channel.execute(request, names, measure=asked.measure)
        assert self._calls is not None
        tokens = default_tokens(request) if names is None else tuple(names)
        return call(self._calls, request, tokens, asked, with_config=with_config)

    def release(self, name: int) -> None:
        """Let the driver forget a memory. Raises ServiceError."""
        if self._channel is not None:
            self._channel.burst_context.free_memory(name)
        else:
            assert self._calls is not None
            self._calls.release_memory_resource(name)


def open_burst(context: Surroundings, prepared_model: hal.PreparedModel) -> Burst | None:
    """A burst; None where the device opens none, or none beside those that it has."""
    try:
        return Burst(context, prepared_model)
    except NotSupported:
        return None


def configure_burst(prepared_model: hal.PreparedModel) -> hal.Burst:
    """AIDL's configureExecutionBurst. NotSupported where the device opens none."""
    try:
        return prepared_model.configure_execution_burst()
    except (DeadObject, NotVisible):
        raise
    except InterfaceError as error:
        raise NotSupported(f"the device opens no burst: {error}") from None


def default_tokens(request: Request) -> tuple[int, ...]:
    """Distinct tokens for shared memory, none for what the driver itself has allocated, as AOSP's VTS has them."""
    return tuple(NO_IDENTITY if pool.pool is None else number for number, pool in enumerate(request.pools))


def call(
    burst: hal.Burst,
    request: Request,
    tokens: tuple[int, ...],
    options: ExecutionOptions | None = None,
    *,
    with_config: bool = False,
) -> Execution:
    """AIDL's executeSynchronously of a burst; a failure is an answer here, not an exception."""
    asked = options or ExecutionOptions()
    if with_config:
        config = config_of(asked)
        return answer_of(lambda: burst.execute_synchronously_with_config(request, tokens, config, asked.deadline))
    times = (asked.measure, asked.deadline, asked.loop_timeout)
    return answer_of(lambda: burst.execute_synchronously(request, tokens, *times))
