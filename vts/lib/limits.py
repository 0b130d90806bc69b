"""Executions under several limits at once: a deadline, a duration, the timeout of loops; beside hints and timing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing import launching
from npu_conformance.harness.run.executing.burst import Burst, configure_burst, default_tokens
from npu_conformance.harness.run.executing.execution import Execution, answer_of, asynchronous, synchronous
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.hal import Execution as ReusableExecution
from npu_conformance.specs.neuralnetworks.hal import FencedExecutionResult, PreparedModel
from npu_conformance.specs.neuralnetworks.types import (
    ExecutionConfig,
    ExtensionNameAndPrefix,
    Request,
    TokenValuePair,
)
from npu_conformance.specs.versions import HIDL_LAST, Version

_PREFIX = 1
_NOBODY = ExtensionNameAndPrefix("com.npu_conformance.in_no_driver", _PREFIX)
_HINT = TokenValuePair(_PREFIX << 16, b"?")


class Limits(msgspec.Struct, frozen=True):
    """What limits an execution, in ns, -1 for none; and what it has beside that. hinted: a hint that nobody knows."""

    deadline: int = -1
    loop_timeout: int = -1
    duration: int = -1
    measure: bool = False
    hinted: bool = False


class Way(msgspec.Struct, frozen=True):
    """A way to execute under limits, and which of them it takes."""

    run: Callable[[Limits], Execution]
    takes: frozenset[str]

    def can(self, limits: Limits) -> bool:
        """True where it takes all that is not as usual."""
        usual = msgspec.structs.asdict(Limits())
        return {name for name, value in msgspec.structs.asdict(limits).items() if value != usual[name]} <= self.takes


_PLAIN = frozenset({"deadline", "loop_timeout", "measure"})
_FENCED, _HINTED = _PLAIN | {"duration"}, _PLAIN | {"hinted"}


def ways(context: CaseContext, prepared_model: PreparedModel, request: Request) -> Mapping[str, Way]:
    """The ways to execute a request under limits that the version has; objects that are made for it are kept."""
    made = _Made(context, prepared_model, request)
    found = {"synchronous": Way(made.synchronously, _PLAIN), "fenced": Way(made.fenced, _FENCED)}
    if context.version <= HIDL_LAST:
        return {**found, "asynchronous": Way(made.asynchronously, _PLAIN)}
    found["burst"] = Way(made.in_burst, _PLAIN)
    if context.version >= Version.FL8:
        found["synchronous_with_config"] = Way(made.synchronously_with_config, _HINTED)
        found["burst_with_config"] = Way(made.in_burst_with_config, _HINTED)
        found["fenced_with_config"] = Way(made.fenced_with_config, _FENCED | _HINTED)
        found["reusable"] = Way(made.again, _HINTED)
        found["reusable_fenced"] = Way(made.fenced_again, _FENCED | _HINTED)
    return found


class _Made:
    """What is executed, with the bursts and reusable executions that were made for it."""

    def __init__(self, context: CaseContext, prepared_model: PreparedModel, request: Request) -> None:
        self._context, self._prepared, self._request = context, prepared_model, request
        self._none = context.version.unavailable_time
        self._burst: Burst | None = None
        self._reusable: dict[ExecutionConfig, ReusableExecution] = {}

    def synchronously(self, limits: Limits) -> Execution:
        times = {"loop_timeout": limits.loop_timeout, "deadline": limits.deadline}
        return synchronous(self._prepared, self._request, measure=limits.measure, **times)

    def asynchronously(self, limits: Limits) -> Execution:
        times = {"loop_timeout": limits.loop_timeout, "deadline": limits.deadline}
        return asynchronous(self._context, self._prepared, self._request, measure=limits.measure, **times)

    def synchronously_with_config(self, limits: Limits) -> Execution:
        call = self._prepared.execute_synchronously_with_config
        return answer_of(lambda: call(self._request, _config(limits), limits.deadline))

    def in_burst(self, limits: Limits) -> Execution:
        self._burst = self._burst or Burst(self._context, self._prepared)
        return self._burst.execute(
            self._request, measure=limits.measure, deadline=limits.deadline, loop_timeout=limits.loop_timeout
        )

    def in_burst_with_config(self, limits: Limits) -> Execution:
        call, tokens = configure_burst(self._prepared).execute_synchronously_with_config, default_tokens(self._request)
        return answer_of(lambda: call(self._request, tokens, _config(limits), limits.deadline))

    def fenced(self, limits: Limits) -> Execution:
        times = (self._or_none(one) for one in (limits.deadline, limits.loop_timeout, limits.duration))
        return self._ended(limits, lambda: self._prepared.execute_fenced(self._request, (), limits.measure, *times))

    def fenced_with_config(self, limits: Limits) -> Execution:
        call = self._prepared.execute_fenced_with_config
        config = _config(limits)
        return self._ended(limits, lambda: call(self._request, (), config, limits.deadline, limits.duration))

    def again(self, limits: Limits) -> Execution:
        return answer_of(lambda: self._bound(limits).execute_synchronously(limits.deadline))

    def fenced_again(self, limits: Limits) -> Execution:
        return self._ended(limits, lambda: self._bound(limits).execute_fenced((), limits.deadline, limits.duration))

    def _bound(self, limits: Limits) -> ReusableExecution:
        config = _config(limits)
        if config not in self._reusable:
            self._reusable[config] = self._prepared.create_reusable_execution(self._request, config)
        return self._reusable[config]

    def _or_none(self, time_ns: int) -> int:
        """In HIDL's form, where that is meant."""
        return self._none if time_ns == -1 else time_ns

    def _ended(self, limits: Limits, call: Callable[[], FencedExecutionResult]) -> Execution:
        try:
            result = call()
        except ServiceError as error:
            return Execution(error.status, (), None)
        launched = launching.Launched(0, result.callback, result.sync_fence)
        return launching.execution_of(self._context, launched, measured=limits.measure)


def _config(limits: Limits) -> ExecutionConfig:
    hints = ((_HINT,), (_NOBODY,)) if limits.hinted else ((), ())
    return ExecutionConfig(limits.measure, limits.loop_timeout, *hints)
